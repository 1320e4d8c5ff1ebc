package cli

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/picture"
	"github.com/retake-dev/retake/internal/screen"
)

type workspacesAnswer struct {
	V          int                     `json:"v"`
	Workspaces []retake.WorkspaceState `json:"workspaces"`
}

func (f *face) workspacesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "workspaces", Short: "all workspaces, the most recently used first", Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			all, err := s.Workspaces(cmd.Context())
			if err != nil {
				return err
			}
			return f.listWorkspaces(cmd.Context(), s, all, func(l picture.Look) string {
				if len(all) == 0 {
					return firstRun(l)
				}
				return renderWorkspaces(l, all)
			})
		},
	}
}

func (f *face) listWorkspaces(ctx context.Context, s retake.Service, all []retake.WorkspaceState, draw func(picture.Look) string) error {
	if all == nil {
		all = []retake.WorkspaceState{}
	}
	if err := f.emitTitled(newestNames(ctx, s, all), workspacesAnswer{1, all}, draw); err != nil {
		return err
	}
	for _, w := range all {
		if !w.Gone && w.Ended == nil {
			f.hint("go there", "cd "+f.talk().Word(w.Root)+" && retake", "protect this one", "retake init")
			return nil
		}
	}
	return nil
}

// newestNames are the names that the titles of the newest moments need.
func newestNames(ctx context.Context, s retake.Service, all []retake.WorkspaceState) picture.Goals {
	out := picture.Goals{}
	for _, w := range all {
		if w.Ended == nil && !w.Gone && w.Latest != nil && w.Latest.Return != nil {
			maps.Copy(out, endNames(ctx, s, w.Workspace, w.Latest))
		}
	}
	return out
}

func renderWorkspaces(l picture.Look, all []retake.WorkspaceState) string {
	name, num, ago := len("workspace"), 3, 0
	for _, w := range all {
		name = max(name, screen.Width(screen.Escape(w.Name)))
		if w.Latest != nil {
			num = max(num, len(fmt.Sprint(w.Latest.Number)))
			ago = max(ago, len(l.Ago(w.Latest.Time)))
		}
	}
	name = min(name, 24)
	title := max(l.Width-(3+name+2+num+2+ago+2)-2, 20)
	rows := max(title/2, 20)
	var b strings.Builder
	head := "   " + screen.Pad("workspace", name) + "  " + screen.Pad("last moment", num+2+ago+2+rows) + "  where"
	fmt.Fprintf(&b, "%s\n", l.Dim(head))
	for _, w := range all {
		number, when := l.Glyphs.Dash, ""
		if w.Latest != nil {
			number, when = fmt.Sprint(w.Latest.Number), l.Ago(w.Latest.Time)
		}
		line := screen.Pad(l.Glyphs.Cut(screen.Escape(w.Name), name), name) + "  " + screen.PadLeft(number, num) + "  " +
			screen.Pad(when, ago) + "  " + screen.Pad(l.Glyphs.Cut(lastWords(l, w), rows), rows) + "  " + l.Path(w.Root)
		if w.Gone || w.Ended != nil {
			fmt.Fprintf(&b, "%s\n", l.Dim(l.Glyphs.Ring+"  "+line))
		} else {
			fmt.Fprintf(&b, "%s  %s\n", l.Green(l.Glyphs.Point), line)
		}
	}
	return b.String()
}

// lastWords is the newest intent, unless something about the workspace itself
// matters more.
func lastWords(l picture.Look, w retake.WorkspaceState) string {
	switch {
	case w.Ended != nil:
		return "no longer protected"
	case w.Gone:
		return "its directory is gone"
	case w.Latest == nil:
		return "no moment yet"
	}
	text, _ := l.Titled(*w.Latest, l.Goals)
	return text
}
