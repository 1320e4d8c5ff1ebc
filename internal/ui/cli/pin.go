package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type pinAnswer struct {
	V   int        `json:"v"`
	Pin retake.Pin `json:"pin"`
}

func newPinCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "pin REF NAME", Short: "Name a checkpoint and keep it", Args: argsBetween(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			p, err := s.Pin(cmd.Context(), ws.ID, args[0], args[1])
			if err != nil {
				return err
			}
			err = f.printAnswer(pinAnswer{1, p}, func(l term.Style) string {
				return fmt.Sprintf("%s Pinned %s as %s. It is kept as long as it is pinned.\n", l.Green(l.Glyphs.Yes), l.Bold(fmt.Sprint(p.Number)), l.Bold(termtext.Escape(p.Name)))
			})
			word := f.stderrStyle().ShellPath(p.Name)
			f.printHints("look", "retake show "+word, "unpin", "retake unpin "+word)
			return err
		},
	}
}
