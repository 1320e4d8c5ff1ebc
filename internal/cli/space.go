package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

type spaceAnswer struct {
	V          int                     `json:"v"`
	Store      retake.StoreState       `json:"store"`
	Workspaces []retake.WorkspaceState `json:"workspaces"`
}

type sweepAnswer struct {
	V int `json:"v"`
	retake.SweepReport
}

func (f *face) spaceCommand() *cobra.Command {
	var free bool
	cmd := &cobra.Command{
		Use: "space", Short: "the room that the store takes and has", Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			if free {
				return f.sweep(cmd.Context(), s)
			}
			return f.space(cmd.Context(), s)
		},
	}
	cmd.Flags().BoolVar(&free, "free", false, "give back what no moment needs")
	return cmd
}

func (f *face) sweep(ctx context.Context, s retake.Service) error {
	r, err := s.Sweep(ctx)
	if err != nil {
		return err
	}
	return f.emit(sweepAnswer{1, r}, func(l look) string {
		return fmt.Sprintf("%s Gave back %s in %s; the store takes %s, and took at most %s more meanwhile.\n", l.green(l.g.Yes),
			screen.Bytes(max(r.Before-r.After, 0)), screen.Took(r.Took), screen.Bytes(r.After), screen.Bytes(r.Peak))
	})
}

func (f *face) space(ctx context.Context, s retake.Service) error {
	all, err := s.Workspaces(ctx)
	if err != nil {
		return err
	}
	a := spaceAnswer{V: 1, Workspaces: []retake.WorkspaceState{}}
	a.Workspaces = append(a.Workspaces, all...)
	if len(all) > 0 { // without a workspace there may be no store
		if a.Store, err = s.Space(ctx); err != nil {
			return err
		}
	}
	err = f.emit(a, func(l look) string { return renderSpace(l, a) })
	f.hint("give back what no moment needs", "retake space --free")
	return err
}

func renderSpace(l look, a spaceAnswer) string {
	if len(a.Workspaces) == 0 {
		return firstRun(l)
	}
	var b strings.Builder
	if a.Store != (retake.StoreState{}) {
		fmt.Fprintf(&b, "%s\n\n", l.facts(l.bold(screen.Bytes(a.Store.Bytes)), "disk "+screen.Bytes(a.Store.Free)+" free", "floor "+screen.Bytes(a.Store.Floor)))
	}
	name := len("workspace")
	for _, w := range a.Workspaces {
		name = max(name, screen.Width(screen.Escape(w.Name)))
	}
	fmt.Fprintf(&b, "%s\n", l.dim(screen.Pad("workspace", name)+"  moments   its size"))
	for _, w := range a.Workspaces {
		size := l.g.Dash
		if w.Latest != nil {
			size = screen.Bytes(w.Latest.Bytes)
		}
		note := ""
		switch {
		case w.Ended != nil:
			note = "no longer protected"
		case w.Gone:
			note = "directory gone"
		}
		line := screen.Pad(screen.Escape(w.Name), name) + "  " + screen.PadLeft(screen.Count(w.Count), 7) + "  " + screen.PadLeft(size, 9) + "  " + l.dim(note)
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	return b.String()
}
