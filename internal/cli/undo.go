package cli

import (
	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

func (f *face) undoCommand() *cobra.Command {
	c := &journey{face: f}
	cmd := &cobra.Command{
		Use: "undo [REF] [-- PATH…]", Short: "take back one turn or change: the newest, or a named one",
		Args: beforePaths(0, 1),
		RunE: f.asPath("", func(cmd *cobra.Command, args []string) error { return c.along(cmd, args, retake.CourseUndo) }),
	}
	c.flags(cmd)
	return cmd
}

// along is undo and redo: a course through the workspace we are in.
func (j *journey) along(cmd *cobra.Command, args []string, course retake.Course) error {
	refs, typed := splitDash(cmd, args)
	if err := j.speak(cmd, refs, typed); err != nil {
		return err
	}
	s, ws, err := j.find(cmd.Context())
	if err != nil {
		return err
	}
	req := retake.PlanRequest{Workspace: ws.ID, Course: course}
	if len(refs) == 1 {
		req.Ref = refs[0]
	}
	if req.Paths, err = j.insideAll(ws, typed); err != nil {
		return err
	}
	return j.travel(cmd.Context(), s, req)
}
