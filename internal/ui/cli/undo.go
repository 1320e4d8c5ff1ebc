package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

func (f *face) undoCommand() *cobra.Command {
	c := &journey{face: f}
	cmd := &cobra.Command{
		Use: "undo [REF] [-- PATH…]", Short: "Undo the last turn or save; later edits are kept",
		Args: beforePaths(0, 1),
		RunE: f.asPath("", func(cmd *cobra.Command, args []string) error { return c.along(cmd, args, retake.CourseUndo) }),
	}
	c.flags(cmd)
	cmd.Flags().BoolVar(&c.edits, "edits", false, "discard unsaved edits instead of the last recorded change")
	cmd.Flags().StringVar(&c.session, "session", "", "undo all turns of a session: the last one, or by `AGENT` or start of its ID")
	cmd.Flags().Lookup("session").NoOptDefVal = "last"
	cmd.Flags().BoolVar(&c.all, "all", false, "undo everything, not only below this directory")
	return cmd
}

// along is undo and redo: a course through the workspace we are in.
func (j *journey) along(cmd *cobra.Command, args []string, course retake.Course) error {
	refs, typed := splitDash(cmd, args)
	if (j.edits || j.session != "") && len(refs) > 0 || j.edits && j.session != "" {
		return usage(helpHint(cmd), "Name a checkpoint, or use --edits or --session: one of them.")
	}
	if err := j.speak(cmd, refs, typed); err != nil {
		return err
	}
	s, ws, err := j.find(cmd.Context())
	if err != nil {
		return err
	}
	req := retake.PlanRequest{Workspace: ws.ID, Course: course, Edits: j.edits, Session: j.session}
	if len(refs) == 1 {
		req.Ref = refs[0]
	}
	if course == retake.CourseUndo && len(typed) == 0 && !j.all && !j.apart() {
		typed = []string{"."} // a sub-directory is a scope; the root is everything
	}
	if req.Paths, err = j.insideAll(ws, typed); err != nil {
		return err
	}
	j.scoped = len(req.Paths) > 0 && len(args) == len(refs)
	err = j.travel(cmd.Context(), s, req)
	if j.scoped && retake.IsKind(err, retake.NotFound) {
		e := *retake.AsError(err)
		e.What, e.Hint = fmt.Sprintf("%s below %s/", e.What, req.Paths[0]), "undo everywhere: "+j.typed.with("--all")+"\n"+e.Hint
		return &e
	}
	return err
}
