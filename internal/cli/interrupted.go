package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// renderInterrupted is the banner of a restore that was cut off: what happened,
// that nothing is lost, the two ways out.
func renderInterrupted(l look, i *retake.Interruption) string {
	lines := []string{
		l.yellow("!") + " " + l.bold(fmt.Sprintf("%s was cut off: %d, at %s of %s, %s.", courseNoun(i.Course), i.Target,
			screen.Count(int64(i.Done)), number(int64(i.Total), "path", "paths"), l.ago(i.Since))),
		fmt.Sprintf("  Nothing is lost: moment %d is whole.", i.Safety),
		"  " + l.pairs([]string{"go on", "retake restore --finish", "go back", "retake restore --undo"}),
		l.dim("  Saves go on meanwhile."),
		"",
	}
	return strings.Join(lines, "\n") + "\n"
}

func courseNoun(c retake.Course) string {
	switch c {
	case retake.CourseUndo:
		return "An undo"
	case retake.CourseRedo:
		return "A redo"
	case retake.CourseAdopt:
		return "An adopt"
	case retake.CourseRestore, retake.CourseFinish, retake.CourseUnwind:
	}
	return "A restore"
}

// orWaiting gives an answer that went well the code of a restore that waits to be
// finished or taken back; the banner has said so.
func orWaiting(err error, ws retake.Workspace) error {
	if err != nil || ws.Interrupted == nil {
		return err
	}
	waits := &retake.Error{Kind: retake.Partly}
	return exitError{code: waits.Exit()}
}
