package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

type unpinAnswer struct {
	V        int    `json:"v"`
	Unpinned string `json:"unpinned"`
}

func newUnpinCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "unpin NAME", Short: "Remove a name; the checkpoint is kept", Args: argsBetween(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, ws, err := f.currentWorkspace(cmd.Context())
			if err != nil {
				return err
			}
			if err := s.Unpin(cmd.Context(), ws.ID, args[0]); err != nil {
				return err
			}
			return f.printAnswer(unpinAnswer{1, args[0]}, func(l term.Style) string {
				return fmt.Sprintf("%s The pin %s is gone. The checkpoint stays.\n", l.Green(l.Glyphs.Yes), termtext.Escape(args[0]))
			})
		},
	}
}
