package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

type adoptCmd struct {
	restoreFlow
	check string
}

func newAdoptCommand(f *commandLine) *cobra.Command {
	c := &adoptCmd{restoreFlow: restoreFlow{commandLine: f}}
	cmd := &cobra.Command{Use: "adopt FORK", Short: "Merge a fork's changes into this workspace", Args: argsBetween(1, 1), RunE: c.run}
	c.addFlags(cmd)
	cmd.Flags().StringVar(&c.check, "if", "", "only if `CMD` succeeds in the fork")
	return cmd
}

func (c *adoptCmd) run(cmd *cobra.Command, args []string) error {
	ctx := cmd.Context()
	if err := c.rememberCommand(cmd, args, nil); err != nil {
		return err
	}
	s, ws, err := c.locateWorkspace(ctx)
	if err != nil {
		return err
	}
	fork, err := c.findFork(ctx, s, ws, args[0])
	if err != nil {
		return err
	}
	if c.check != "" && !c.planOnly {
		if err := c.checkFork(ctx, fork); err != nil {
			return err
		}
	}
	return c.planAndApply(ctx, s, retake.PlanRequest{Workspace: ws.ID, Course: retake.CourseAdopt, Fork: fork.ID})
}

// findFork finds a fork of ws by its name, its directory or its id.
func (c *adoptCmd) findFork(ctx context.Context, s retake.Service, ws retake.Workspace, typed string) (retake.Workspace, error) {
	all, err := s.Forks(ctx, ws.ID)
	if err != nil {
		return retake.Workspace{}, err
	}
	dir := resolveSymlinks(c.fromWorkingDir(typed))
	var found []retake.Workspace
	for _, w := range all {
		if string(w.ID) == typed || w.Root == dir {
			return w.Workspace, nil
		}
		if w.Name == typed && w.Ended == nil {
			found = append(found, w.Workspace)
		}
	}
	switch len(found) {
	case 0:
		return retake.Workspace{}, &retake.Error{
			Kind: retake.NotFound, What: fmt.Sprintf("there is no fork %s of %s", typed, ws.Name), Safe: nothingChanged,
			Hint: "list forks: retake forks\ncreate one: retake fork latest",
		}
	case 1:
		return found[0], nil
	}
	return retake.Workspace{}, usageError("with its directory: retake adopt "+c.stderrStyle().ShellPath(found[0].Root), "%s forks are called %s.", termtext.Count(int64(len(found))), typed)
}

// checkFailed is the kind of a check that failed, beside those of the service.
const checkFailed retake.ErrorKind = "failed"

// checkFork runs the check in the fork.
func (c *adoptCmd) checkFork(ctx context.Context, fork retake.Workspace) error {
	if c.Run == nil {
		return errNoPrograms
	}
	code, err := c.Run(ctx, Command{Args: []string{"sh", "-c", c.check}, Dir: fork.Root, ToStderr: true})
	if err != nil {
		return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("`%s` could not be run: %v", c.check, err), Safe: nothingChanged}
	}
	if code == 0 {
		return nil
	}
	return exitError{code: failedCheckExit, report: &retake.Error{
		Kind: checkFailed, What: fmt.Sprintf("`%s` ended with %d in the fork %s", c.check, code, fork.Name), Safe: nothingChanged,
		Hint: "look there: cd " + c.stderrStyle().ShellPath(fork.Root) + "\nskip the check: retake adopt " + c.stderrStyle().ShellPath(fork.Name),
	}}
}

var errNoPrograms = &retake.Error{Kind: retake.Invalid, What: "programs cannot be run here", Safe: nothingChanged}
