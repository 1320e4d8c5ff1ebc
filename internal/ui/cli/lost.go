package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// findLost finds the workspace to restore: the one we are in, or the one that was here
// before its directory was deleted or replaced.
func (f *face) findLost(ctx context.Context) (retake.Service, retake.Workspace, error) {
	s, ws, err := f.find(ctx)
	if err == nil || s == nil || f.apart() || !retake.IsKind(err, retake.NotFound) {
		return s, ws, err
	}
	all, lerr := s.Workspaces(ctx)
	if lerr != nil {
		return s, ws, err
	}
	if lost, ok := retake.LostAt(all, reachable(f.workdir())); ok {
		return s, lost.Workspace, nil
	}
	return s, ws, err
}

// reachable is a path without links, as far as there is something.
func reachable(path string) string {
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// offerLost asks what is meant where a workspace was whose directory was deleted or
// replaced. It reports whether init is done with that.
func (c *initCmd) offerLost(cmd *cobra.Command, s retake.Service, root string, req *retake.InitRequest) (bool, error) {
	ctx := cmd.Context()
	all, err := s.Workspaces(ctx)
	if err != nil {
		return false, err
	}
	lost, ok := retake.LostAt(all, root)
	if !ok || lost.Root != root {
		return false, nil
	}
	fmt.Fprint(c.Err, renderLost(c.talk(), lost))
	text, err := c.reply(ctx, "Which one?  [b/c/n] ")
	if err != nil {
		return false, err
	}
	switch text {
	case "b":
		return true, c.bringBack(cmd, s, lost.Workspace, all)
	case "c":
		req.Mark = retake.MarkContinue
		return false, nil
	case "n":
		req.Mark = retake.MarkNew
		return false, nil
	}
	return true, errLeft
}

// renderLost says what was here, and what can be done about it.
func renderLost(l term.Look, w retake.WorkspaceState) string {
	newest := ""
	if w.Latest != nil {
		newest = fmt.Sprintf(", the newest %s", l.Ago(w.Latest.Time))
	}
	head := fmt.Sprintf("The workspace %s was here, and its directory was deleted or replaced.", l.Bold(termtext.Escape(w.Name)))
	kept := fmt.Sprintf("It has %s%s.", term.Number(w.Count, "checkpoint", "checkpoints"), newest)
	return fmt.Sprintf("%s\n%s\n\n  %s  bring its files back\n  %s  continue its history with what is here now\n  %s  start a new history\n\n",
		head, l.Dim(kept), l.Bold("b"), l.Bold("c"), l.Bold("n"))
}

// bringBack restores the newest checkpoint, as the command would.
func (c *initCmd) bringBack(cmd *cobra.Command, s retake.Service, ws retake.Workspace, all []retake.WorkspaceState) error {
	j := &journey{face: c.face}
	j.typed.words = []string{"retake", "restore", "latest", "--workspace", ws.NameAmong(all)}
	return j.travel(cmd.Context(), s, retake.PlanRequest{Workspace: ws.ID, Course: retake.CourseRestore, Ref: "latest"})
}
