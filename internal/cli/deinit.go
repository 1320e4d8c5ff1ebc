package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/picture"
	"github.com/retake-dev/retake/internal/screen"
)

type deinitAnswer struct {
	V         int              `json:"v"`
	Workspace retake.Workspace `json:"workspace"`
}

func (f *face) deinitCommand() *cobra.Command {
	return &cobra.Command{
		Use: "deinit [NAME]", Short: "end the protection; the history stays", Args: between(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, ws, err := f.chosen(ctx, args)
			if err != nil {
				return err
			}
			if !f.yes && f.canAsk() {
				ok, err := f.ask(ctx, fmt.Sprintf("End the protection of %s, %s?", screen.Escape(ws.Name), f.talk().Path(ws.Root)))
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
			return f.emit(deinitAnswer{1, ws}, func(l picture.Look) string {
				return fmt.Sprintf("%s %s is not protected any more. Its history stays.\n", l.Green(l.Glyphs.Yes), l.Bold(screen.Escape(ws.Name)))
			})
		},
	}
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
	var found []retake.Workspace
	var ids []string
	for _, w := range all {
		if w.Ended == nil && (w.Name == args[0] || string(w.ID) == args[0]) {
			found = append(found, w.Workspace)
			ids = append(ids, fmt.Sprintf("%s %s %s", w.ID, map[bool]string{false: "at", true: "gone, was at"}[w.Gone], w.Root))
		}
	}
	switch len(found) {
	case 0:
		return nil, retake.Workspace{}, &retake.Error{Kind: retake.NotFound, What: "there is no workspace " + args[0], Safe: nothingChanged, Hint: "all: retake workspaces"}
	case 1:
		return s, found[0], nil
	}
	return nil, retake.Workspace{}, usage("name one by its id: "+strings.Join(ids, ", "), "%s workspaces are called %s.", screen.Count(int64(len(found))), args[0])
}
