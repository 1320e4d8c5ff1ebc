package cli

import (
	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

func (f *face) redoCommand() *cobra.Command {
	c := &journey{face: f}
	cmd := &cobra.Command{
		Use: "redo", Short: "Reapply the last undone change", Args: between(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error { return c.along(cmd, args, retake.CourseRedo) },
	}
	c.flags(cmd)
	return cmd
}
