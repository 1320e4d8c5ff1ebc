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

// locateLostWorkspace finds the workspace to restore: the current one, or the one that was
// here before its directory was deleted or replaced.
func (f *commandLine) locateLostWorkspace(ctx context.Context) (retake.Service, retake.Workspace, error) {
	s, ws, err := f.locateWorkspace(ctx)
	if err == nil || s == nil || f.isOtherWorkspace() || !retake.IsKind(err, retake.NotFound) {
		return s, ws, err
	}
	all, lerr := s.Workspaces(ctx)
	if lerr != nil {
		return s, ws, err
	}
	if lost, ok := retake.LostAt(all, resolveExisting(f.workingDir())); ok {
		return s, lost.Workspace, nil
	}
	return s, ws, err
}

// resolveExisting resolves the links in the part of path that exists.
func resolveExisting(path string) string {
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

// askLostWorkspace asks what to do where the directory of a workspace was deleted or replaced.
// It reports whether init has nothing left to do.
func (c *initCmd) askLostWorkspace(cmd *cobra.Command, s retake.Service, root string, req *retake.InitRequest) (bool, error) {
	ctx := cmd.Context()
	all, err := s.Workspaces(ctx)
	if err != nil {
		return false, err
	}
	lost, ok := retake.LostAt(all, root)
	if !ok || lost.Root != root {
		return false, nil
	}
	fmt.Fprint(c.Err, renderLostWorkspace(c.stderrStyle(), lost))
	text, err := c.askLine(ctx, "Which one?  [b/c/n] ")
	if err != nil {
		return false, err
	}
	switch text {
	case "b":
		return true, c.restoreLost(cmd, s, lost.Workspace, all)
	case "c":
		req.Mark = retake.MarkContinue
		return false, nil
	case "n":
		req.Mark = retake.MarkNew
		return false, nil
	}
	return true, errCancelled
}

// renderLostWorkspace says what was here, and what can be done about it.
func renderLostWorkspace(l term.Style, w retake.WorkspaceState) string {
	newest := ""
	if w.Latest != nil {
		newest = fmt.Sprintf(", the newest %s", l.Ago(w.Latest.Time))
	}
	head := fmt.Sprintf("The workspace %s was here, and its directory was deleted or replaced.", l.Bold(termtext.Escape(w.Name)))
	kept := fmt.Sprintf("It has %s%s.", term.CountNoun(w.Count, "checkpoint", "checkpoints"), newest)
	return fmt.Sprintf("%s\n%s\n\n  %s  bring its files back\n  %s  continue its history with what is here now\n  %s  start a new history\n\n",
		head, l.Dim(kept), l.Bold("b"), l.Bold("c"), l.Bold("n"))
}

// restoreLost restores the newest checkpoint, as the command would.
func (c *initCmd) restoreLost(cmd *cobra.Command, s retake.Service, ws retake.Workspace, all []retake.WorkspaceState) error {
	j := &restoreFlow{commandLine: c.commandLine}
	j.typedCommand.words = []string{"retake", "restore", "latest", "--workspace", ws.NameAmong(all)}
	return j.planAndApply(cmd.Context(), s, retake.PlanRequest{Workspace: ws.ID, Course: retake.CourseRestore, Ref: "latest"})
}
