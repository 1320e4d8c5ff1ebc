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

func (f *face) deletionsCommand() *cobra.Command {
	return f.group("deletions", "Request, list and cancel deletions on a server", f.deletionsList(), f.deletionsAsk(), f.deletionsCancel())
}

func (f *face) deletionsList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List deletion requests and their state", Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.server()
			if err != nil {
				return err
			}
			all, err := s.Deletions(cmd.Context())
			if err != nil {
				return err
			}
			names := workspaceNames(cmd.Context(), s)
			return f.emit(deletionsAnswer{1, given(all)}, func(l term.Look) string { return renderDeletions(l, all, names) })
		},
	}
}

func renderDeletions(l term.Look, all []retake.Deletion, names map[retake.WorkspaceID]string) string {
	if len(all) == 0 {
		return "Nobody asked for a deletion.\n"
	}
	var rows []tableRow
	for i := range all {
		d := &all[i]
		r := tableRow{sign: l.Yellow(l.Glyphs.Wait), quiet: d.State == retake.DeletionCanceled}
		state := "goes " + soonText(l, d.Due)
		switch d.State {
		case retake.DeletionWaiting:
		case retake.DeletionDone:
			r.sign, state = l.Green(l.Glyphs.Yes), "gone"
			if d.Done != nil {
				state = "gone " + l.Clock(*d.Done)
			}
		case retake.DeletionRefused:
			r.sign, state = l.Red(l.Glyphs.No), "refused"
		case retake.DeletionCanceled:
			r.sign, state = l.Glyphs.Ring, "taken back"
		default:
			state = termtext.Escape(string(d.State))
		}
		if d.Note != "" {
			r.notes = append(r.notes, l.Words(d.Note))
		}
		r.cells = []string{shortID(l, d.ID), l.Clock(d.Asked), nameOf(names, d.Workspace), term.Checkpoints(int64(len(d.Checkpoints))), state, l.Words(d.Why)}
		rows = append(rows, r)
	}
	return drawTable(l, []string{"id", "asked", "workspace", "what", "", "why"}, 5, rows)
}

func (f *face) deletionsAsk() *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use: "ask REF…", Short: "Request that checkpoints are deleted after the grace period", Args: between(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if strings.TrimSpace(why) == "" {
				return usage("retake deletions ask "+strings.Join(args, " ")+" --why TEXT", "Why? The audit log keeps the reason.")
			}
			ctx := cmd.Context()
			s, err := f.server()
			if err != nil {
				return err
			}
			_, ws, err := f.here(ctx)
			if err != nil {
				return err
			}
			refs, err := f.agreeToDelete(ctx, s, ws, args)
			if err != nil {
				return err
			}
			d, err := s.RequestDeletion(ctx, retake.DeletionRequest{Workspace: ws.ID, Refs: refs, Why: why})
			if err != nil {
				return err
			}
			err = f.emit(deletionAnswer{1, d}, func(l term.Look) string {
				of := " of " + l.Bold(termtext.Escape(ws.Name)) + " "
				return fmt.Sprintf("%s %s\n  Until then the request can be cancelled.  %s\n", l.Green(l.Glyphs.Yes),
					verbed(len(d.Checkpoints), of+"goes "+soonText(l, d.Due), of+"go "+soonText(l, d.Due)), l.Dim(subjectText(l, d.ID)))
			})
			f.hint("take it back", "retake deletions cancel "+shortID(f.talk(), d.ID))
			return err
		},
	}
	cmd.Flags().StringVar(&why, "why", "", "the reason, in `WORDS` (needed)")
	return cmd
}

// agreeToDelete resolves the refs, so that what is asked about is what goes.
func (f *face) agreeToDelete(ctx context.Context, s retake.Service, ws retake.Workspace, args []string) ([]string, error) {
	var ids, names []string
	for _, a := range args {
		c, err := s.Find(ctx, ws.ID, a)
		if err != nil {
			return nil, err
		}
		text, _ := f.talk().Titled(c, endNames(ctx, s, ws, &c))
		ids = append(ids, string(c.ID))
		names = append(names, fmt.Sprintf("  %d  %s  %s", c.Number, f.talk().Clock(c.Time), text))
	}
	if !f.yes && f.canAsk() {
		fmt.Fprintln(f.Err, strings.Join(names, "\n"))
	}
	return ids, f.sure(ctx, "what is deleted does not come back when the grace is over", fmt.Sprintf("Ask for the deletion of %s of %s?", term.Checkpoints(int64(len(ids))), ws.Name),
		"retake deletions ask "+strings.Join(args, " ")+" --why TEXT")
}

func (f *face) deletionsCancel() *cobra.Command {
	return &cobra.Command{
		Use: "cancel ID", Short: "Cancel a deletion request", Args: between(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, err := f.server()
			if err != nil {
				return err
			}
			all, err := s.Deletions(ctx)
			if err != nil {
				return err
			}
			d, err := pick(all, func(d retake.Deletion) string { return d.ID }, "request", args[0], "retake deletions list")
			if err != nil {
				return err
			}
			if d, err = s.CancelDeletion(ctx, d.ID); err != nil {
				return err
			}
			return f.emit(deletionAnswer{1, d}, func(l term.Look) string {
				return fmt.Sprintf("%s The request is cancelled. %s\n", l.Green(l.Glyphs.Yes), verbed(len(d.Checkpoints), " stays", " stay"))
			})
		},
	}
}

// verbed says what becomes of some checkpoints.
func verbed(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return term.Checkpoints(int64(n)) + many + "."
}
