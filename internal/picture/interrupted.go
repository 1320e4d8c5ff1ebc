package picture

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// RenderInterrupted is the banner of a restore that was cut off: what happened,
// that nothing is lost, the two ways out.
func RenderInterrupted(l Look, i *retake.Interruption) string {
	lines := []string{
		l.Yellow("!") + " " + l.Bold(fmt.Sprintf("%s was interrupted: %d, at %s of %s, %s.", courseNoun(i.Course), i.Target,
			screen.Count(int64(i.Done)), Number(int64(i.Total), "path", "paths"), l.Ago(i.Since))),
		fmt.Sprintf("  Nothing is lost: checkpoint %d has everything from before.", i.Safety),
		"  " + l.Pairs([]string{"finish it", "retake restore --finish", "roll it back", "retake restore --undo"}),
		l.Dim("  Retake still saves new checkpoints."),
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
