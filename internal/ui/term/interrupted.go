package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// RenderInterrupted is the banner of a restore that was cut off: what happened,
// that nothing is lost, the two ways out.
func RenderInterrupted(l Style, i *retake.Interruption) string {
	lines := []string{
		l.Yellow("!") + " " + l.Bold(fmt.Sprintf("%s was interrupted %s, after %s of %s.", interruptedText(i), l.Ago(i.Since),
			termtext.Count(int64(i.Done)), CountNoun(int64(i.Total), "file", "files"))),
		fmt.Sprintf("  Nothing is lost: checkpoint %d has everything from before.", i.Safety),
	}
	for _, line := range l.Hints("finish it: retake restore --finish\nroll it back: retake restore --undo") {
		lines = append(lines, "  "+line)
	}
	lines = append(lines, l.Dim("  Retake still saves new checkpoints."), "")
	return strings.Join(lines, "\n") + "\n"
}

func interruptedText(i *retake.Interruption) string {
	switch i.Course {
	case retake.CourseUndo:
		return fmt.Sprintf("The undo of %d", i.Target)
	case retake.CourseRedo:
		return fmt.Sprintf("The redo of %d", i.Target)
	case retake.CourseAdopt:
		return "The adoption of a fork"
	case retake.CourseRestore, retake.CourseFinish, retake.CourseUnwind:
	}
	return fmt.Sprintf("The restore to checkpoint %d", i.Target)
}
