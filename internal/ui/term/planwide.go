package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

const minNoticeWidth = 46

// drawWideSections draws the files to the left, and what asks and what follows to the
// right.
func drawWideSections(l Style, p *retake.Plan, v retake.PlanView, files, talk []planSection, lines int) string {
	talk = append(talk, afterSection(p, v))
	right := min(max(l.Width*2/5, minNoticeWidth), 80)
	left := l.Width - right - 4
	a := drawColumn(l, files, left, lines)
	b := drawColumn(l, talk, right, lines)
	bar := l.Dim(l.Glyphs.Bar)
	var out strings.Builder
	out.WriteString("\n")
	for i := range max(len(a), len(b)) {
		line := drawnLine{}
		if i < len(a) {
			line = a[i]
		}
		text := line.text + strings.Repeat(" ", max(left-line.width, 0)) + " " + bar
		if i < len(b) && b[i].width > 0 {
			text += "  " + b[i].text
		}
		out.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	out.WriteString("\n") // a question stands apart
	return out.String()
}

// drawnLine is a line with its width, which colors would hide.
type drawnLine struct {
	text  string
	width int
}

// drawColumn draws sections below each other, with a blank line between them where
// there is room.
func drawColumn(l Style, parts []planSection, width, lines int) []drawnLine {
	need := len(parts) - 1
	for _, s := range parts {
		need += min(s.most, s.least+2)
	}
	apart := need <= lines
	if apart {
		lines -= len(parts) - 1
	}
	rows := allotLines(parts, lines)
	c := fitSectionColumns(parts, rows)
	var out []drawnLine
	for i, s := range parts {
		if i > 0 && apart {
			out = append(out, drawnLine{})
		}
		for line := range strings.Lines(drawSection(l, s, c, width, rows[i])) {
			line = strings.TrimSuffix(line, "\n")
			out = append(out, drawnLine{line, l.ShownWidth(line)})
		}
	}
	return out
}

// afterSection returns the section about the checkpoints there will be.
func afterSection(p *retake.Plan, v retake.PlanView) planSection {
	now := "everything you have now"
	if p.Safety.There {
		now += ", there already"
	}
	if p.Lost != nil && p.Safety.There {
		now = "the last known state"
	}
	rows := [][2]string{
		{fmt.Sprint(p.Safety.Number), now},
		{fmt.Sprint(p.Safety.Number + 1), "this " + string(p.Course)},
		{"retake " + string(v.Safety.Course), fmt.Sprintf("from %d to %d again", p.Safety.Number+1, p.Safety.Number)},
	}
	switch {
	case v.Idle:
		rows = [][2]string{{"nothing", "no checkpoint is added"}}
	case p.Lost != nil && p.Safety.There: // to take it back would delete everything again
		rows = rows[:2]
	case p.Course == retake.CourseFinish:
		rows[1][1] = "this restore"
	case p.Course == retake.CourseUnwind:
		rows[1][1] = "as before the restore"
		rows = rows[:2]
	}
	return planSection{
		word: "AFTERWARDS", least: len(rows), most: len(rows),
		draw: func(l Style, g sectionGrid, _ int) []string {
			var out []string
			for _, r := range rows {
				out = append(out, termtext.Pad(r[0], classColumns)+l.Dim(l.Glyphs.Cut(r[1], g.width-classColumns)))
			}
			return out
		},
	}
}
