package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type deletionsAnswer struct {
	V         int               `json:"v"`
	Deletions []retake.Deletion `json:"deletions"`
}

type deletionAnswer struct {
	V        int             `json:"v"`
	Deletion retake.Deletion `json:"deletion"`
}

func newDeletionsCommand(f *commandLine) *cobra.Command {
	return newParentCommand(f, "deletions", "Request, list and cancel deletions on a server", newDeletionsListCommand(f), newDeletionsAskCommand(f), newDeletionsCancelCommand(f))
}

func newDeletionsListCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List deletion requests and their state", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.openServer()
			if err != nil {
				return err
			}
			all, err := s.Deletions(cmd.Context())
			if err != nil {
				return err
			}
			names := workspaceNames(cmd.Context(), s)
			return f.printAnswer(deletionsAnswer{1, nonNil(all)}, func(l term.Style) string { return renderDeletions(l, all, names) })
		},
	}
}

func renderDeletions(l term.Style, all []retake.Deletion, names map[retake.WorkspaceID]string) string {
	if len(all) == 0 {
		return "Nobody asked for a deletion.\n"
	}
	var rows []tableRow
	for i := range all {
		d := &all[i]
		r := tableRow{sign: l.Yellow(l.Glyphs.Wait), over: d.State == retake.DeletionCanceled}
		state := "goes " + timeAheadText(l, d.Due)
		switch d.State {
		case retake.DeletionWaiting:
		case retake.DeletionDone:
			r.sign, state = l.Green(l.Glyphs.Yes), "gone"
			if d.Done != nil {
				state = "gone " + l.ShortTime(*d.Done)
			}
		case retake.DeletionRefused:
			r.sign, state = l.Red(l.Glyphs.No), "refused"
		case retake.DeletionCanceled:
			r.sign, state = l.Glyphs.Ring, "taken back"
		default:
			state = termtext.Escape(string(d.State))
		}
		if d.Note != "" {
			r.notes = append(r.notes, l.EscapeText(d.Note))
		}
		r.cells = []string{shortID(l, d.ID), l.ShortTime(d.Asked), workspaceName(names, d.Workspace), term.CountCheckpoints(int64(len(d.Checkpoints))), state, l.EscapeText(d.Why)}
		rows = append(rows, r)
	}
	return drawTable(l, []string{"id", "asked", "workspace", "what", "", "why"}, 5, rows)
}

func newDeletionsAskCommand(f *commandLine) *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use: "ask REF…", Short: "Request that checkpoints are deleted after the grace period", Args: argsBetween(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(why) == "" {
				return usageError("retake deletions ask "+strings.Join(args, " ")+" --why TEXT", "Why? The audit log keeps the reason.")
			}
			ctx := cmd.Context()
			s, err := f.openServer()
			if err != nil {
				return err
			}
			_, ws, err := f.currentWorkspace(ctx)
			if err != nil {
				return err
			}
			refs, err := confirmDeletion(ctx, f, s, ws, args)
			if err != nil {
				return err
			}
			d, err := s.RequestDeletion(ctx, retake.DeletionRequest{Workspace: ws.ID, Refs: refs, Why: why})
			if err != nil {
				return err
			}
			err = f.printAnswer(deletionAnswer{1, d}, func(l term.Style) string {
				of := " of " + l.Bold(termtext.Escape(ws.Name)) + " "
				return fmt.Sprintf("%s %s\n  Until then the request can be cancelled.  %s\n", l.Green(l.Glyphs.Yes),
					checkpointsText(len(d.Checkpoints), of+"goes "+timeAheadText(l, d.Due), of+"go "+timeAheadText(l, d.Due)), l.Dim(subjectText(l, d.ID)))
			})
			f.printHints("take it back", "retake deletions cancel "+shortID(f.stderrStyle(), d.ID))
			return err
		},
	}
	cmd.Flags().StringVar(&why, "why", "", "the reason, in `WORDS` (needed)")
	return cmd
}

// confirmDeletion resolves the refs, so that what is asked about is what goes.
func confirmDeletion(ctx context.Context, f *commandLine, s retake.Service, ws retake.Workspace, args []string) ([]string, error) {
	var ids, names []string
	for _, a := range args {
		c, err := s.Find(ctx, ws.ID, a)
		if err != nil {
			return nil, err
		}
		text, _ := f.stderrStyle().CheckpointTitle(c, endTitles(ctx, s, ws, &c))
		ids = append(ids, string(c.ID))
		names = append(names, fmt.Sprintf("  %d  %s  %s", c.Number, f.stderrStyle().ShortTime(c.Time), text))
	}
	if !f.yes && f.canAsk() {
		fmt.Fprintln(f.Err, strings.Join(names, "\n"))
	}
	return ids, f.confirm(ctx, "what is deleted does not come back when the grace is over", fmt.Sprintf("Ask for the deletion of %s of %s?", term.CountCheckpoints(int64(len(ids))), ws.Name),
		"retake deletions ask "+strings.Join(args, " ")+" --why TEXT")
}

func newDeletionsCancelCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "cancel ID", Short: "Cancel a deletion request", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, err := f.openServer()
			if err != nil {
				return err
			}
			all, err := s.Deletions(ctx)
			if err != nil {
				return err
			}
			d, err := findByID(all, func(d retake.Deletion) string { return d.ID }, "request", args[0], "retake deletions list")
			if err != nil {
				return err
			}
			if d, err = s.CancelDeletion(ctx, d.ID); err != nil {
				return err
			}
			return f.printAnswer(deletionAnswer{1, d}, func(l term.Style) string {
				return fmt.Sprintf("%s The request is cancelled. %s\n", l.Green(l.Glyphs.Yes), checkpointsText(len(d.Checkpoints), " stays", " stay"))
			})
		},
	}
}

// checkpointsText says what becomes of some checkpoints.
func checkpointsText(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return term.CountCheckpoints(int64(n)) + many + "."
}
