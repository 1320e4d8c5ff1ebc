package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

func newAtCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "at REF -- CMD…", Short: "Run a command on an earlier checkpoint, in a temporary fork", Args: programArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			refs, program := splitAtDash(cmd, args)
			return runAt(cmd.Context(), f, refs[0], program)
		},
	}
}

func runAt(ctx context.Context, f *commandLine, ref string, program []string) error {
	if err := checkCanRun(f); err != nil {
		return err
	}
	s, ws, err := f.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	code := 0
	err = newThrowawayFork(f, s, ws).useAt(ctx, ref, func(c Command) error {
		c.Args = program
		var err error
		code, err = f.Run(ctx, c)
		if errors.Is(err, ErrOtherPath) {
			fmt.Fprintf(f.Err, "%s %s\n", f.stderrStyle().Yellow("!"), termtext.Escape(err.Error()))
			return nil
		}
		if err != nil {
			return cannotRunError(program, err)
		}
		return nil
	})
	if err == nil && code != 0 {
		return exitError{code: code}
	}
	return err
}

// throwawayFork makes forks that are removed after use.
type throwawayFork struct {
	*commandLine
	s          retake.Service
	ws         retake.Workspace
	bar        *progressLine
	onWarnings func([]retake.Warning)
}

func newThrowawayFork(f *commandLine, s retake.Service, ws retake.Workspace) throwawayFork {
	return throwawayFork{commandLine: f, s: s, ws: ws, bar: f.newProgressLine("fork"), onWarnings: f.printWarnings}
}

// useAt makes a fork of a checkpoint, calls use, and removes the fork. Programs run with the
// fork bound over the workspace, so that absolute paths mean the fork.
func (t throwawayFork) useAt(ctx context.Context, ref string, use func(Command) error) error {
	if t.NewScratchDir == nil {
		return errNoPrograms
	}
	dir, remove, err := t.NewScratchDir()
	if err != nil {
		return &retake.Error{Kind: retake.Internal, What: "there is no directory for a throw-away fork", Safe: nothingChanged, Err: err}
	}
	err = t.useIn(ctx, dir, ref, use)
	if gone := remove(); gone != nil {
		t.onWarnings([]retake.Warning{{Code: "scratch", Text: "remove throw-away fork: " + gone.Error()}})
	}
	return err
}

func (t throwawayFork) useIn(ctx context.Context, dir, ref string, use func(Command) error) error {
	res, err := t.s.Fork(ctx, retake.ForkRequest{Workspace: t.ws.ID, Ref: ref, Dir: dir, Throwaway: true, Progress: t.bar.callback()})
	t.bar.clear()
	if err != nil {
		return err
	}
	t.onWarnings(res.Warnings)
	below, err := t.workspacePath(t.ws, t.workingDir())
	if err != nil || isMissingDir(filepath.Join(dir, below)) { // it was not there at that checkpoint
		below = ""
	}
	return use(Command{Dir: dir, Subdir: below, BindOver: t.ws.Root})
}
