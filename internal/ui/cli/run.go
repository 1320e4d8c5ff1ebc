package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake"
)

func newRunCommand(f *commandLine) *cobra.Command {
	return &cobra.Command{
		Use: "run [MESSAGE] -- CMD…", Short: "Run a command with a checkpoint before and after it", Args: programArgs(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			before, program := splitAtDash(cmd, args)
			return runBetweenSaves(cmd.Context(), f, strings.Join(before, ""), program)
		},
	}
}

// programArgs wants a program behind "--", and low to high words before it.
func programArgs(low, high int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		before, program := splitAtDash(cmd, args)
		if len(program) == 0 {
			return usageError(helpHint(cmd), "Which program? Usage: %s.", usageLine(cmd))
		}
		return argsBetween(low, high)(cmd, before)
	}
}

// checkCanRun returns an error if programs cannot be run here.
func checkCanRun(f *commandLine) error {
	if f.json {
		return usageError("", "The output belongs to the program, so there is no room for --json.")
	}
	if f.Run == nil {
		return errNoPrograms
	}
	return nil
}

// runBetweenSaves saves, runs the program and saves again. Without the first checkpoint the
// program is not run.
func runBetweenSaves(ctx context.Context, f *commandLine, intent string, program []string) error {
	if err := checkCanRun(f); err != nil {
		return err
	}
	s, ws, err := f.currentWorkspace(ctx)
	if err != nil {
		return err
	}
	line := "`" + strings.Join(program, " ") + "`"
	req := retake.SaveRequest{Workspace: ws.ID, Trigger: retake.TriggerManual, IfChanged: true, Intent: "before " + line}
	was, err := s.Save(ctx, req)
	if err != nil {
		return programError(continuedByDaemon(f, err), program)
	}
	f.printWarnings(was.Warnings)
	code, err := f.Run(ctx, Command{Args: program, Dir: f.workingDir()})
	if err != nil {
		return cannotRunError(program, err)
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
		f.printError(err)
		return exitError{code: code}
	}
	f.printWarnings(is.Warnings)
	printRunCheckpoints(f, was.Checkpoint, is)
	if code != 0 {
		return exitError{code: code}
	}
	return nil
}

// printRunCheckpoints prints which checkpoints were taken before and after the program.
func printRunCheckpoints(f *commandLine, was retake.Checkpoint, is retake.SaveResult) {
	if !f.ErrTTY {
		return
	}
	l := f.stderrStyle()
	text := "no file changed"
	if is.Recorded {
		text = fmt.Sprintf("after it %d", is.Checkpoint.Number)
	}
	fmt.Fprintf(f.Err, "\n%s\n", l.JoinFacts(fmt.Sprintf("before it %d", was.Number), text, countFacts(l, changesOfRun(is))))
	if is.Recorded {
		f.printHints("what it did", fmt.Sprintf("retake show %d", is.Checkpoint.Number), "take it back", "retake undo")
	}
}

func changesOfRun(is retake.SaveResult) retake.Counts {
	if !is.Recorded {
		return retake.Counts{}
	}
	return is.Checkpoint.Changed
}

func programError(err error, program []string) error {
	e := *retake.AsError(err)
	e.Safe = strings.TrimSpace(e.Safe + " " + "`" + program[0] + "` was not run.")
	return &e
}

func cannotRunError(program []string, err error) error {
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("`%s` could not be run: %v", program[0], err), Safe: nothingChanged}
}
