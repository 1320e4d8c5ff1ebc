package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

type rebuildAnswer struct {
	V int `json:"v"`
	retake.RebuildReport
}

func newRebuildCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "rebuild", Short: "Rebuild the catalog from the store", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.openService(cmd.Context())
			if err != nil {
				return err
			}
			r, err := s.Rebuild(cmd.Context())
			if err != nil {
				return err
			}
			return f.printAnswer(rebuildAnswer{1, r}, func(l term.Style) string {
				return fmt.Sprintf("%s The catalog was made again from the store: %s, %s, %s, %s.\n", l.Green(l.Glyphs.Yes),
					term.CountNoun(r.Workspaces, "workspace", "workspaces"), term.CountCheckpoints(r.Checkpoints),
					term.CountNoun(r.Pins, "pin", "pins"), term.CountNoun(r.Tombstones, "tombstone", "tombstones"))
			})
		},
	}
}
