package cli

import (
	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

func newRedoCommand(f *commandLine) *cobra.Command {
	c := &restoreFlow{commandLine: f}
	cmd := &cobra.Command{
		Use: "redo", Short: "Reapply the last undone change", Args: argsBetween(0, 0),
		RunE: func(cmd *cobra.Command, args []string) error { return c.runCourse(cmd, args, retake.CourseRedo) },
	}
	c.addFlags(cmd)
	cmd.Flags().BoolVar(&c.here, "here", false, "only in this workspace, if the turn worked in others, too")
	return cmd
}
