package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

// Screen is a workspace that fills the terminal until somebody leaves.
type Screen struct {
	Service   retake.Service
	Workspace retake.Workspace
	ASCII     bool
	Color     bool
	ForkTo    func() string             // the place that is proposed for a fork
	At        func(typed string) string // where a typed place is; nil: a server finds it by a name
}

func (f *face) tuiCommand() *cobra.Command {
	return &cobra.Command{
		Use: "tui", Short: "Browse the timeline full screen", Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !f.InTTY || !f.OutTTY || f.json || f.noInput {
				return usage("print text: retake log\nprint JSON: retake log --json", "The full-screen view needs a terminal.")
			}
			s, ws, err := f.find(cmd.Context())
			if err != nil {
				return err
			}
			l := f.out()
			x := Screen{Service: s, Workspace: ws, ASCII: l.ASCII, Color: bool(l.Paint)}
			if f.far() {
				x.ForkTo = func() string { return ws.Name + "-fork" }
			} else {
				x.ForkTo = func() string { return freeSibling(ws.Root) }
				x.At = f.typedPlace
			}
			return f.Screen(cmd.Context(), x)
		},
	}
}

// typedPlace is a directory as a person types it where no shell reads it.
func (f *face) typedPlace(dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok && f.Home != "" {
		return filepath.Join(f.Home, rest)
	}
	return f.below(dir)
}
