package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type deinitAnswer struct {
	V         int              `json:"v"`
	Workspace retake.Workspace `json:"workspace"`
}

func newDeinitCommand(f *commandLine) *cobra.Command {
	var purge bool
	cmd := &cobra.Command{
		Use: "deinit [NAME]", Short: "Stop protecting a directory; its history is kept", Args: argsBetween(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, ws, err := f.workspaceFromArgs(ctx, args)
			if err != nil {
				return err
			}
			if purge {
				return eraseWorkspace(ctx, f, s, ws)
			}
			if !f.yes && f.canAsk() {
				ok, err := f.askYesNo(ctx, fmt.Sprintf("End the protection of %s, %s?", termtext.Escape(ws.Name), f.stderrStyle().DisplayPath(ws.Root)))
				if err != nil {
					return err
				}
				if !ok {
					return errCancelled
				}
			}
			if ws, err = s.Deinit(ctx, ws.ID); err != nil {
				return err
			}
			return f.printAnswer(deinitAnswer{1, ws}, func(l term.Style) string {
				return fmt.Sprintf("%s %s is not protected any more. Its history stays.\n", l.Green(l.Glyphs.Yes), l.Bold(termtext.Escape(ws.Name)))
			})
		},
	}
	cmd.Flags().BoolVar(&purge, "purge", false, "also erase the whole history; this can't be undone")
	return cmd
}

// eraseWorkspace removes a workspace's history for good, after a word from a person.
func eraseWorkspace(ctx context.Context, f *commandLine, s retake.Service, ws retake.Workspace) error {
	if !f.yes {
		if !f.canAsk() {
			return &retake.Error{Kind: retake.Denied, What: "erasing a history cannot be undone and needs your confirmation", Safe: nothingChanged, Hint: "go ahead: " + f.retypedCommand("--yes")}
		}
		ok, err := f.askYesNo(ctx, fmt.Sprintf("Erase the whole history of %s, %s? This cannot be undone.", termtext.Escape(ws.Name), f.stderrStyle().DisplayPath(ws.Root)))
		if err != nil {
			return err
		}
		if !ok {
			return errCancelled
		}
	}
	rep, err := s.Erase(ctx, ws.ID)
	if err != nil {
		return err
	}
	return f.printAnswer(purgeAnswer{1, rep}, func(l term.Style) string {
		text := fmt.Sprintf("%s The history of %s is erased: %s. Its files were not touched.\n", l.Green(l.Glyphs.Yes), l.Bold(termtext.Escape(ws.Name)), term.CountCheckpoints(rep.Plan.Checkpoints))
		for _, left := range rep.Left {
			text += fmt.Sprintf("%s Not removed: %s\n", l.Yellow("!"), termtext.Escape(left))
		}
		return text
	})
}

// workspaceFromArgs finds a workspace by name or id, which also finds one whose directory
// is gone; without a name it is the one we are in.
func (f *commandLine) workspaceFromArgs(ctx context.Context, args []string) (retake.Service, retake.Workspace, error) {
	if len(args) == 0 {
		return f.currentWorkspace(ctx)
	}
	s, err := f.openService(ctx)
	if err != nil {
		return nil, retake.Workspace{}, err
	}
	all, err := s.Workspaces(ctx)
	if err != nil {
		return nil, retake.Workspace{}, err
	}
	named := slices.DeleteFunc(all, func(w retake.WorkspaceState) bool { return w.Name != args[0] && string(w.ID) != args[0] })
	if slices.ContainsFunc(named, func(w retake.WorkspaceState) bool { return w.Ended == nil }) { // an ended one is meant when no other has the name
		named = slices.DeleteFunc(named, func(w retake.WorkspaceState) bool { return w.Ended != nil })
	}
	var found []retake.Workspace
	var ids []string
	for _, w := range named {
		found = append(found, w.Workspace)
		ids = append(ids, fmt.Sprintf("%s %s %s", w.ID, map[bool]string{false: "at", true: "gone, was at"}[w.Gone], w.Root))
	}
	switch len(found) {
	case 0:
		return nil, retake.Workspace{}, &retake.Error{Kind: retake.NotFound, What: "there is no workspace " + args[0], Safe: nothingChanged, Hint: "list workspaces: retake workspaces"}
	case 1:
		return s, found[0], nil
	}
	return nil, retake.Workspace{}, usageError("name one by its id: "+strings.Join(ids, ", "), "%s workspaces are called %s.", termtext.Count(int64(len(found))), args[0])
}
