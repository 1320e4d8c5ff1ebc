package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

type restoreCmd struct {
	restoreFlow
	finish, undo bool
	to           string // a directory for files from outside of the workspace
}

func newRestoreCommand(f *commandLine) *cobra.Command {
	c := &restoreCmd{restoreFlow: restoreFlow{commandLine: f}}
	cmd := &cobra.Command{
		Use: "restore REF [-- PATH…]", Short: "Go back to a checkpoint; current files are saved",
		Args: argsBeforePaths(0, 1), RunE: withPathHint(f, "latest", c.run),
	}
	c.addFlags(cmd)
	cmd.Flags().StringVar(&c.to, "to", "", "write files that were saved from outside the project to this `DIRECTORY`")
	cmd.Flags().BoolVar(&c.finish, "finish", false, "finish an interrupted restore")
	cmd.Flags().BoolVar(&c.undo, "undo", false, "roll back an interrupted restore")
	return cmd
}

// argsBeforePaths accepts low to high arguments before "--", and any number of paths after it.
func argsBeforePaths(low, high int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		refs, _ := splitAtDash(cmd, args)
		return argsBetween(low, high)(cmd, refs)
	}
}

// splitAtDash splits the arguments at "--".
func splitAtDash(cmd *cobra.Command, args []string) (before, behind []string) {
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		return args[:at], args[at:]
	}
	return args, nil
}

func (c *restoreCmd) run(cmd *cobra.Command, args []string) error {
	refs, typed := splitAtDash(cmd, args)
	req := retake.PlanRequest{Course: retake.CourseRestore}
	switch {
	case c.finish && c.undo:
		return usageError(helpHint(cmd), "It is --finish or --undo, not both.")
	case (c.finish || c.undo) && len(args) > 0:
		return usageError(helpHint(cmd), "An interrupted restore is finished or rolled back as a whole. Don't name a checkpoint or paths.")
	case c.finish:
		req.Course = retake.CourseFinish
	case c.undo:
		req.Course = retake.CourseUnwind
	case len(refs) == 0:
		return usageError("list checkpoints: retake log\nundo the last change: retake undo", "Which checkpoint? Usage: %s.", usageLine(cmd))
	default:
		req.Ref = refs[0]
	}
	if err := c.rememberCommand(cmd, refs, typed); err != nil {
		return err
	}
	s, ws, err := c.locateLostWorkspace(cmd.Context()) // the plan itself tells of what was cut off
	if err != nil {
		return err
	}
	req.Workspace = ws.ID
	if req.Paths, err = c.restoredPaths(ws, typed); err != nil {
		return err
	}
	if req.To = c.to; c.to != "" && !filepath.IsAbs(c.to) {
		req.To = filepath.Join(resolveSymlinks(c.workingDir()), c.to)
	}
	return c.planAndApply(cmd.Context(), s, req)
}

// restoredPaths converts paths as workspacePaths does. If all of them are outside of the workspace
// they stay absolute: the checkpoint may have saved them before a command destroyed them.
func (c *restoreCmd) restoredPaths(ws retake.Workspace, typed []string) ([]string, error) {
	var outside []string
	for _, t := range typed {
		if _, err := c.workspacePath(ws, t); err != nil {
			full := t
			if !filepath.IsAbs(t) {
				full = filepath.Join(resolveSymlinks(c.workingDir()), t)
			}
			outside = append(outside, resolveExisting(filepath.Clean(full)))
		}
	}
	switch {
	case len(outside) == 0 && c.to != "":
		return nil, usageError("retake help restore", "--to is for files outside the project. For all files of a checkpoint, see: retake help fork")
	case len(outside) > 0 && len(outside) == len(typed):
		return outside, nil
	}
	return c.workspacePaths(ws, typed)
}

// rememberCommand stores the command as typed, for the hints that repeat it.
func (j *restoreFlow) rememberCommand(cmd *cobra.Command, refs, paths []string) error {
	if j.planOnly && j.digest != "" {
		return usageError(helpHint(cmd), "It is --plan or --digest, not both.")
	}
	l := j.stderrStyle()
	j.typedCommand.words = append(j.typedCommand.words, "retake", cmd.Name())
	for _, r := range refs {
		j.typedCommand.words = append(j.typedCommand.words, l.ShellPath(r))
	}
	for _, name := range []string{"finish", "undo", "git", "edits", "all"} {
		if fl := cmd.Flags().Lookup(name); fl != nil && fl.Changed {
			j.typedCommand.words = append(j.typedCommand.words, "--"+name)
		}
	}
	for _, name := range []string{"if", "workspace", "directory", "to"} {
		if fl := cmd.Flags().Lookup(name); fl != nil && fl.Changed {
			j.typedCommand.words = append(j.typedCommand.words, "--"+name, l.ShellPath(fl.Value.String()))
		}
	}
	if fl := cmd.Flags().Lookup("session"); fl != nil && fl.Changed {
		j.typedCommand.words = append(j.typedCommand.words, "--session="+l.ShellPath(fl.Value.String()))
	}
	for _, p := range paths {
		j.typedCommand.paths = append(j.typedCommand.paths, l.ShellPath(p))
	}
	return nil
}
