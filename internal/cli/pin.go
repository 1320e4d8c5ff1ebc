package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/picture"
	"github.com/retake-dev/retake/internal/screen"
)

type pinAnswer struct {
	V   int        `json:"v"`
	Pin retake.Pin `json:"pin"`
}

func (f *face) pinCommand() *cobra.Command {
	return &cobra.Command{
		Use: "pin REF NAME", Short: "keep a moment on purpose, under a name", Args: between(2, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, ws, err := f.here(cmd.Context())
			if err != nil {
				return err
			}
			p, err := s.Pin(cmd.Context(), ws.ID, args[0], args[1])
			if err != nil {
				return err
			}
			return f.emit(pinAnswer{1, p}, func(l picture.Look) string {
				return fmt.Sprintf("%s %s is %s. It is kept until it is unpinned.\n", l.Green(l.Glyphs.Yes), l.Bold(fmt.Sprint(p.Number)), l.Bold(screen.Escape(p.Name)))
			})
		},
	}
}
