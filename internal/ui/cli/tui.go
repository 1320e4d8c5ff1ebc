package cli

import (
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

// Screen is a workspace that fills the terminal until somebody leaves.
type Screen struct {
	Service        retake.Service
	Workspace      retake.Workspace
	ASCII          bool
	Color          bool
	ProposeForkDir func() string             // the place that is proposed for a fork
	ResolveDir     func(typed string) string // where a typed place is; nil: a server finds it by a name
}

func newTUICommand(f *commandLine) *cobra.Command {
	return markNeedsEngine(&cobra.Command{
		Use: "tui", Short: "Browse the timeline full screen", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !f.InTTY || !f.OutTTY || f.json || f.noInput {
				return usageError("print text: retake log\nprint JSON: retake log --json", "The full-screen view needs a terminal.")
			}
			s, ws, err := f.locateWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			l := f.stdoutStyle()
			x := Screen{Service: s, Workspace: ws, ASCII: l.ASCII, Color: bool(l.Paint)}
			if f.isRemote() {
				x.ProposeForkDir = func() string { return ws.Name + "-fork" }
			} else {
				x.ProposeForkDir = func() string { return freeForkDir(ws.Root) }
				x.ResolveDir = f.resolvePlace
			}
			return f.Screen(cmd.Context(), x)
		},
	})
}

// resolvePlace is a directory as a person types it where no shell reads it.
func (f *commandLine) resolvePlace(dir string) string {
	if rest, ok := strings.CutPrefix(dir, "~/"); ok && f.Home != "" {
		return filepath.Join(f.Home, rest)
	}
	return f.fromWorkingDir(dir)
}
