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

func (f *face) deinitCommand() *cobra.Command {
	var purge bool
	cmd := &cobra.Command{
		Use: "deinit [NAME]", Short: "Stop protecting a directory; its history is kept", Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, ws, err := f.chosen(ctx, args)
			if err != nil {
				return err
			}
			if purge {
				return f.erase(ctx, s, ws)
			}
			if !f.yes && f.canAsk() {
				ok, err := f.ask(ctx, fmt.Sprintf("End the protection of %s, %s?", termtext.Escape(ws.Name), f.talk().Path(ws.Root)))
				if err != nil {
					return err
				}
				if !ok {
					return errLeft
				}
			}
			if ws, err = s.Deinit(ctx, ws.ID); err != nil {
				return err
			}
			return f.emit(deinitAnswer{1, ws}, func(l term.Look) string {
				return fmt.Sprintf("%s %s is not protected any more. Its history stays.\n", l.Green(l.Glyphs.Yes), l.Bold(termtext.Escape(ws.Name)))
			})
		},
	}
	cmd.Flags().BoolVar(&purge, "purge", false, "also erase the whole history; this can't be undone")
	return cmd
}

// erase removes a workspace's history for good, after a word from a person.
func (f *face) erase(ctx context.Context, s retake.Service, ws retake.Workspace) error {
	if !f.yes {
		if !f.canAsk() {
			return &retake.Error{Kind: retake.Denied, What: "erasing a history cannot be undone and needs your confirmation", Safe: nothingChanged, Hint: "go ahead: " + f.retyped("--yes")}
		}
		ok, err := f.ask(ctx, fmt.Sprintf("Erase the whole history of %s, %s? This cannot be undone.", termtext.Escape(ws.Name), f.talk().Path(ws.Root)))
		if err != nil {
			return err
		}
		if !ok {
			return errLeft
		}
	}
	rep, err := s.Erase(ctx, ws.ID)
	if err != nil {
		return err
	}
	return f.emit(purgeAnswer{1, rep}, func(l term.Look) string {
		text := fmt.Sprintf("%s The history of %s is erased: %s. Its files were not touched.\n", l.Green(l.Glyphs.Yes), l.Bold(termtext.Escape(ws.Name)), term.Checkpoints(rep.Plan.Checkpoints))
		for _, left := range rep.Left {
			text += fmt.Sprintf("%s Not removed: %s\n", l.Yellow("!"), termtext.Escape(left))
		}
		return text
	})
}

// chosen finds a workspace by name or id, which also finds one whose directory
// is gone; without a name it is the one we are in.
func (f *face) chosen(ctx context.Context, args []string) (retake.Service, retake.Workspace, error) {
	if len(args) == 0 {
		return f.here(ctx)
	}
	s, err := f.open(ctx)
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
	return nil, retake.Workspace{}, usage("name one by its id: "+strings.Join(ids, ", "), "%s workspaces are called %s.", termtext.Count(int64(len(found))), args[0])
}
