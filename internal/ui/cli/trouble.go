package cli

import (
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

const nothingChanged = "Nothing was changed."

// errLeft is the answer "no" to a question of ours.
var errCancelled = &retake.Error{Kind: retake.Denied, What: "Cancelled.", Safe: nothingChanged}

// reportedError is an error whose report is already on Out.
type reportedError struct{ error }

func (t reportedError) Unwrap() error { return t.error }

// exitError ends a command with a code that belongs to no kind: that of another
// program, or of a check. All that there is to say is in say, or was said.
type exitError struct {
	code   int
	report *retake.Error // nil: nothing
}

func (e exitError) Error() string {
	if e.report != nil {
		return e.report.Error()
	}
	return fmt.Sprintf("end with %d", e.code)
}

// failedExit is the code of a check that failed.
const failedCheckExit = 7

// usageError is a mistake in what was typed.
func usageError(hint, format string, args ...any) error {
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf(format, args...), Safe: nothingChanged, Hint: hint}
}

// printError shows an error and answers the exit code.
func (f *commandLine) printError(err error) int {
	var end exitError
	if errors.As(err, &end) {
		if end.report != nil {
			f.printError(end.report)
		}
		return end.code
	}
	e := *retake.AsError(err)
	// What was done in part was changed, whatever the rest says.
	if e.Safe == "" && e.Kind != retake.Partly {
		e.Safe = nothingChanged
	}
	var report reportedError
	switch {
	case f.json && errors.As(err, &report):
	case f.json:
		if err := f.writeJSON(errorAnswer{V: 1, Error: e}); err != nil {
			fmt.Fprintln(f.Err, termtext.Escape(err.Error()))
		}
	case errors.Is(err, errCancelled):
		fmt.Fprintln(f.Err, "Cancelled. "+nothingChanged)
	default:
		l := f.stderrStyle()
		if !f.ErrTTY { // a program that reads it wants whole lines
			l.Width = 0
		}
		fmt.Fprint(f.Err, term.RenderError(l, e))
	}
	if code := e.Exit(); code != 0 {
		return code
	}
	return 1
}

type errorAnswer struct {
	V     int          `json:"v"`
	Error retake.Error `json:"error"`
}
