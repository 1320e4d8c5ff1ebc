package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

type rebuildAnswer struct {
	V int `json:"v"`
	retake.RebuildReport
}

func (f *face) rebuildCommand() *cobra.Command {
	return &cobra.Command{
		Use: "rebuild", Short: "make the catalog again from the store alone", Args: between(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.open(cmd.Context())
			if err != nil {
				return err
			}
			r, err := s.Rebuild(cmd.Context())
			if err != nil {
				return err
			}
			return f.emit(rebuildAnswer{1, r}, func(l look) string {
				return fmt.Sprintf("%s The catalog was made again from the store: %s, %s, %s, %s.\n", l.green(l.g.Yes),
					number(r.Workspaces, "workspace", "workspaces"), moments(r.Checkpoints),
					number(r.Pins, "pin", "pins"), number(r.Tombstones, "tombstone", "tombstones"))
			})
		},
	}
}
