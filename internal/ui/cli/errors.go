package cli

import (
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

const nothingChanged = "Nothing was changed."

// errCancelled is returned when the user says no to a question.
var errCancelled = &retake.Error{Kind: retake.Denied, What: "Cancelled.", Safe: nothingChanged}

// reportedError is an error whose report was already written to Out, so it is not printed
// again in JSON.
type reportedError struct{ error }

func (t reportedError) Unwrap() error { return t.error }

// exitError ends a command with an exit code that no error kind has: that of another program,
// or of a failed check. The report, if there is one, is printed first.
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

// failedCheckExit is the exit code of a check that failed.
const failedCheckExit = 7

// usageError returns the error of a mistake in the arguments.
func usageError(hint, format string, args ...any) error {
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf(format, args...), Safe: nothingChanged, Hint: hint}
}

// printError prints err, as JSON or text, and returns the exit code.
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
