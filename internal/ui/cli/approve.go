package cli

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type approveAnswer struct {
	V      int           `json:"v"`
	Effect retake.Effect `json:"effect"`
}

func newApproveCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "approve ID", Short: "Let a call that a policy stopped run once", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.approve(cmd, args[0]) },
	}
}

// approve asks a person. There is no flag for it, because an agent would use it.
func (f *commandLine) approve(cmd *cobra.Command, id string) error {
	ctx := cmd.Context()
	s, ws, err := f.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	all, err := s.Effects(ctx, ws.ID, "")
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(e retake.Effect) bool { return e.ID == id && e.Outcome == retake.OutcomeStopped })
	if at < 0 {
		return &retake.Error{Kind: retake.NotFound, What: "no stopped call has the ID " + id, Safe: nothingChanged, Hint: "list external actions: retake effects"}
	}
	if !f.canAsk() {
		return errNeedsTerminal("approve a call")
	}
	stopped := all[at]
	fmt.Fprintf(f.Err, "%s, stopped at %s:\n  %s\n", termtext.Escape(stopped.Agent), f.stderrStyle().ShortTime(stopped.Time), termtext.Escape(stopped.Text))
	ok, err := f.askYesNo(ctx, "Let it run once?")
	if err != nil {
		return err
	}
	if !ok {
		return errCancelled
	}
	e, err := s.Approve(ctx, retake.ApproveRequest{Workspace: ws.ID, ID: id, Asker: os.Getpid()})
	if err != nil {
		return err
	}
	return f.printAnswer(approveAnswer{1, e}, func(l term.Style) string {
		return fmt.Sprintf("%s Approved once, for an hour. Ask the agent to try again.\n", l.Green(l.Glyphs.Yes))
	})
}

// errNeedsTerminal refuses what only a person decides.
func errNeedsTerminal(what string) error {
	return &retake.Error{Kind: retake.Denied, What: "only a person can " + what + ", in a terminal", Safe: nothingChanged}
}
