package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

func newUndoCommand(f *commandLine) *cobra.Command {
	c := &restoreFlow{commandLine: f}
	cmd := &cobra.Command{
		Use: "undo [REF] [-- PATH…]", Short: "Undo the last turn or save; later edits are kept",
		Args: argsBeforePaths(0, 1),
		RunE: withPathHint(f, "", func(cmd *cobra.Command, args []string) error { return c.runCourse(cmd, args, retake.CourseUndo) }),
	}
	c.addFlags(cmd)
	cmd.Flags().BoolVar(&c.discardEdits, "edits", false, "discard unsaved edits instead of the last recorded change")
	cmd.Flags().StringVar(&c.session, "session", "", "undo all turns of a session: the last one, or by `AGENT` or start of its ID")
	cmd.Flags().Lookup("session").NoOptDefVal = "last"
	cmd.Flags().BoolVar(&c.here, "here", false, "only in this workspace, if the turn worked in others, too")
	cmd.Flags().BoolVar(&c.all, "all", false, "undo everything, not only below this directory")
	return cmd
}

// runCourse runs undo or redo in the current workspace.
func (j *restoreFlow) runCourse(cmd *cobra.Command, args []string, course retake.Course) error {
	refs, typed := splitAtDash(cmd, args)
	if (j.discardEdits || j.session != "") && len(refs) > 0 || j.discardEdits && j.session != "" {
		return usageError(helpHint(cmd), "Name a checkpoint, or use --edits or --session: one of them.")
	}
	if err := j.rememberCommand(cmd, refs, typed); err != nil {
		return err
	}
	s, ws, err := j.locateWorkspace(cmd.Context())
	if err != nil {
		return err
	}
	req := retake.PlanRequest{Workspace: ws.ID, Course: course, Edits: j.discardEdits, Session: j.session}
	if len(refs) == 1 {
		req.Ref = refs[0]
	}
	if course == retake.CourseUndo && len(typed) == 0 && !j.all && !j.isOtherWorkspace() {
		typed = []string{"."} // a sub-directory is a scope; the root is everything
	}
	if req.Paths, err = j.workspacePaths(ws, typed); err != nil {
		return err
	}
	req.Spread = !j.here
	j.limitedToDir = len(req.Paths) > 0 && len(args) == len(refs)
	err = j.planAndApply(cmd.Context(), s, req)
	if j.limitedToDir && retake.IsKind(err, retake.NotFound) {
		e := *retake.AsError(err)
		e.What, e.Hint = fmt.Sprintf("%s below %s/", e.What, req.Paths[0]), "undo everywhere: "+j.typedCommand.withFlags("--all")+"\n"+e.Hint
		return &e
	}
	return err
}
