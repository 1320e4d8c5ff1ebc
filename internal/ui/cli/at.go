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

func (f *face) atCommand() *cobra.Command {
	return &cobra.Command{
		Use: "at REF -- CMD…", Short: "Run a command on an earlier checkpoint, in a temporary fork", Args: programArgs(1, 1),
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
	s, ws, err := f.here(ctx)
	if err != nil {
		return err
	}
	code := 0
	err = f.throwaway(s, ws).at(ctx, ref, func(c Command) error {
		c.Args = program
		var err error
		code, err = f.Run(ctx, c)
		if errors.Is(err, ErrElsewhere) {
			fmt.Fprintf(f.Err, "%s %s\n", f.talk().Yellow("!"), termtext.Escape(err.Error()))
			return nil
		}
		if err != nil {
			return cannotRun(program, err)
		}
		return nil
	})
	if err == nil && code != 0 {
		return exitError{code: code}
	}
	return err
}

// throwaway grows forks that nobody keeps.
type throwaway struct {
	*face
	s    retake.Service
	ws   retake.Workspace
	bar  *progress
	warn func([]retake.Warning)
}

func (f *face) throwaway(s retake.Service, ws retake.Workspace) throwaway {
	return throwaway{face: f, s: s, ws: ws, bar: f.progress("fork"), warn: f.warn}
}

// at grows a fork of a checkpoint, lets use run programs in it with the fork in the place
// of the workspace, so that absolute paths mean the fork, and removes it.
func (t throwaway) at(ctx context.Context, ref string, use func(Command) error) error {
	if t.Scratch == nil {
		return noPrograms
	}
	dir, remove, err := t.Scratch()
	if err != nil {
		return &retake.Error{Kind: retake.Internal, What: "there is no directory for a throw-away fork", Safe: nothingChanged, Err: err}
	}
	err = t.in(ctx, dir, ref, use)
	if gone := remove(); gone != nil {
		t.warn([]retake.Warning{{Code: "scratch", Text: "remove throw-away fork: " + gone.Error()}})
	}
	return err
}

func (t throwaway) in(ctx context.Context, dir, ref string, use func(Command) error) error {
	res, err := t.s.Fork(ctx, retake.ForkRequest{Workspace: t.ws.ID, Ref: ref, Dir: dir, Throwaway: true, Progress: t.bar.tell()})
	t.bar.done()
	if err != nil {
		return err
	}
	t.warn(res.Warnings)
	below, err := t.inside(t.ws, t.workdir())
	if err != nil || missing(filepath.Join(dir, below)) { // it was not there at that checkpoint
		below = ""
	}
	return use(Command{Dir: dir, Below: below, Over: t.ws.Root})
}
