package cli

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

// bareCmd is `retake` without a command: the timeline inside a workspace, the list of
// workspaces elsewhere.
type bareCmd struct{ *commandLine }

func (c *bareCmd) run(cmd *cobra.Command, _ []string) error {
	ctx := cmd.Context()
	s, ws, nowhere := c.currentWorkspace(ctx)
	if nowhere == nil {
		return (&logCmd{commandLine: c.commandLine}).printTimeline(ctx, s, ws)
	}
	// A directory that is not there is a mistake, not a place outside.
	if s == nil || !retake.IsKind(nowhere, retake.NotFound) || isMissingDir(c.workingDir()) {
		return nowhere
	}
	all, err := s.Workspaces(ctx)
	if err != nil {
		return err
	}
	if len(all) == 0 && c.HasMark != nil && c.HasMark(resolveSymlinks(c.workingDir())) {
		return nowhere // it was protected, and its history is not here
	}
	return listWorkspaces(ctx, c.commandLine, s, all, func(l term.Style) string {
		if len(all) == 0 {
			return renderFirstRun(l)
		}
		return l.DisplayPath(c.workingDir()) + " is not in a protected workspace. These are:\n\n" + renderWorkspaces(l, all)
	})
}

func isMissingDir(dir string) bool {
	_, err := filepath.EvalSymlinks(dir)
	return errors.Is(err, fs.ErrNotExist)
}

// renderFirstRun renders what a user sees before anything is protected.
func renderFirstRun(l term.Style) string {
	return strings.Join([]string{
		"No directory is protected yet.",
		"",
		"Retake saves your whole project after every turn of an AI agent. It shows what",
		"really changed, and any turn can be undone without losing anything.",
		"",
		"  " + l.Bold("cd your-project && retake init") + "     start protecting this directory",
		"  " + l.Bold("retake demo") + "                        a sample project with a history, to try",
		"",
		"Your files were not touched. No account, no network: everything stays here.",
		"",
	}, "\n")
}
