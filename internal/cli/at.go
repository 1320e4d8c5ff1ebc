package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

func (f *face) atCommand() *cobra.Command {
	return &cobra.Command{
		Use: "at REF -- CMD…", Short: "run a program at a moment, in a throw-away fork; its exit code is ours", Args: programArgs(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			refs, program := splitDash(cmd, args)
			return f.runAt(cmd.Context(), refs[0], program)
		},
	}
}

func (f *face) runAt(ctx context.Context, ref string, program []string) error {
	if err := f.runnable(); err != nil {
		return err
	}
	if f.Scratch == nil {
		return noPrograms
	}
	s, ws, err := f.here(ctx)
	if err != nil {
		return err
	}
	dir, remove, err := f.Scratch()
	if err != nil {
		return &retake.Error{Kind: retake.Internal, What: "there is no directory for a throw-away fork", Safe: nothingChanged, Err: err}
	}
	code, err := f.inFork(ctx, s, ws, retake.ForkRequest{Workspace: ws.ID, Ref: ref, Dir: dir, Throwaway: true}, program)
	if gone := remove(); gone != nil {
		fmt.Fprintf(f.Err, "%s %s\n", f.talk().yellow("!"), screen.Escape("remove throw-away fork: "+gone.Error()))
	}
	if err == nil && code != 0 {
		return exitError{code: code}
	}
	return err
}

// inFork grows the fork and runs the program with it in the place of the
// workspace, so that absolute paths mean the fork.
func (f *face) inFork(ctx context.Context, s retake.Service, ws retake.Workspace, req retake.ForkRequest, program []string) (int, error) {
	bar := f.progress("fork")
	req.Progress = bar.tell()
	res, err := s.Fork(ctx, req)
	bar.done()
	if err != nil {
		return 0, err
	}
	f.warn(res.Warnings)
	below, err := f.inside(ws, f.workdir())
	if err != nil || missing(filepath.Join(req.Dir, below)) { // it was not there at that moment
		below = ""
	}
	code, err := f.Run(ctx, Command{Args: program, Dir: req.Dir, Below: below, Over: ws.Root})
	if errors.Is(err, ErrElsewhere) {
		fmt.Fprintf(f.Err, "%s %s\n", f.talk().yellow("!"), screen.Escape(err.Error()))
		return code, nil
	}
	if err != nil {
		return 0, cannotRun(program, err)
	}
	return code, nil
}
