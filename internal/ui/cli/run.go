package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

func (f *face) runCommand() *cobra.Command {
	return &cobra.Command{
		Use: "run [MESSAGE] -- CMD…", Short: "Run a command with a checkpoint before and after it", Args: programArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, program := splitDash(cmd, args)
			return f.around(cmd.Context(), strings.Join(before, ""), program)
		},
	}
}

// programArgs wants a program behind "--", and low to high words before it.
func programArgs(low, high int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		before, program := splitDash(cmd, args)
		if len(program) == 0 {
			return usage(helpHint(cmd), "Which program? Usage: %s.", useLine(cmd))
		}
		return between(low, high)(cmd, before)
	}
}

// runnable says why no program can be run.
func (f *face) runnable() error {
	if f.json {
		return usage("", "The output belongs to the program, so there is no room for --json.")
	}
	if f.Run == nil {
		return noPrograms
	}
	return nil
}

// around saves, runs the program and saves again. Without the first checkpoint the
// program is not run.
func (f *face) around(ctx context.Context, intent string, program []string) error {
	if err := f.runnable(); err != nil {
		return err
	}
	s, ws, err := f.here(ctx)
	if err != nil {
		return err
	}
	line := "`" + strings.Join(program, " ") + "`"
	req := retake.SaveRequest{Workspace: ws.ID, Trigger: retake.TriggerManual, IfChanged: true, Intent: "before " + line}
	was, err := s.Save(ctx, req)
	if err != nil {
		return notRun(f.carriedOn(err), program)
	}
	f.warn(was.Warnings)
	code, err := f.Run(ctx, Command{Args: program, Dir: f.workdir()})
	if err != nil {
		return cannotRun(program, err)
	}
	req.Intent = "after " + line
	if intent != "" {
		req.Intent = intent
	}
	// Who stopped the program still wants to know what it left.
	is, err := s.Save(context.WithoutCancel(ctx), req)
	if err != nil {
		if code == 0 {
			return err
		}
		f.trouble(err)
		return exitError{code: code}
	}
	f.warn(is.Warnings)
	f.ran(was.Checkpoint, is)
	if code != 0 {
		return exitError{code: code}
	}
	return nil
}

// ran tells a person which checkpoints stand around the program.
func (f *face) ran(was retake.Checkpoint, is retake.SaveResult) {
	if !f.ErrTTY {
		return
	}
	l := f.talk()
	text := "no file changed"
	if is.Recorded {
		text = fmt.Sprintf("after it %d", is.Checkpoint.Number)
	}
	fmt.Fprintf(f.Err, "\n%s\n", l.Facts(fmt.Sprintf("before it %d", was.Number), text, changedFacts(l, changedBy(is))))
	if is.Recorded {
		f.hint("what it did", fmt.Sprintf("retake show %d", is.Checkpoint.Number), "take it back", "retake undo")
	}
}

func changedBy(is retake.SaveResult) retake.Counts {
	if !is.Recorded {
		return retake.Counts{}
	}
	return is.Checkpoint.Changed
}

func notRun(err error, program []string) error {
	e := *retake.AsError(err)
	e.Safe = strings.TrimSpace(e.Safe + " " + "`" + program[0] + "` was not run.")
	return &e
}

func cannotRun(program []string, err error) error {
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("`%s` could not be run: %v", program[0], err), Safe: nothingChanged}
}
