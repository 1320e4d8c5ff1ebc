package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// From this many columns on, flags, who and facts have columns of their own.
const WideFrom = 120

const (
	filesColumns  = 6
	leadColumns   = 10
	verifyColumns = 8
	verifyMost    = 12 // of a narrow timeline
)

// RenderTimeline draws a timeline, newest on top.
func RenderTimeline(l Style, v retake.TimelineView) string {
	head := timelineHead(l, v)
	if v.Shown == 0 {
		return head + "\nNo checkpoint is in this part of the timeline.\n"
	}
	rows := make([]row, len(v.Rows))
	for i := range v.Rows {
		rows[i] = timelineRow(l, &v.Rows[i])
	}
	c := fitColumns(l, rows, v.Lanes, v.Checked)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", head, l.Dim(c.head()))
	for _, r := range rows {
		b.WriteString(drawRow(l, c, r))
		b.WriteString(effectRows(l, c, r))
	}
	return b.String()
}

// unprotectedHead is the head of a timeline to which nothing can be added now.
func unprotectedHead(l Style, name, root string, u retake.Unprotected) string {
	first := fmt.Sprintf("%s  %s\n", l.Bold(name), l.Dim(root))
	return first + l.HangingIndent(l.Red(l.Glyphs.No+" not protected: ")+termtext.Escape(u.Why), termtext.Width(l.Glyphs.No)+1) + "\n"
}

// timelineHead is the answer first: which checkpoint is good, and since when all is protected.
func timelineHead(l Style, v retake.TimelineView) string {
	name, root := termtext.Escape(v.Workspace.Name), l.DisplayPath(v.Workspace.Root)
	good := ""
	switch {
	case v.Good != nil:
		good = l.Green(l.Glyphs.Yes) + " last good " + l.Bold(fmt.Sprint(v.Good.Number))
		if l.Width >= WideFrom {
			good += " " + l.Dim(l.ShortTime(v.Good.Time))
		}
	case v.Checked:
		good = l.Dim("no good yet")
	}
	if u := v.Workspace.Unprotected; u != nil {
		return unprotectedHead(l, name, root, *u)
	}
	rest := "protected since " + l.ShortTime(v.Workspace.Created)
	if l.Width >= WideFrom {
		if v.Protection != "" {
			rest += ", " + termtext.Escape(v.Protection)
		}
		rest = l.JoinFacts(rest, CountCheckpoints(v.Total))
	}
	right := l.Dim(rest)
	if good != "" {
		right = good + l.Dim(l.Separator()+rest)
	}
	width := termtext.Width(name) + 2 + termtext.Width(root)
	if width+2+l.ShownWidth(right) > l.Width {
		return fmt.Sprintf("%s  %s\n%s\n", l.Bold(name), l.Dim(root), right)
	}
	return l.AlignEnds(l.Bold(name)+"  "+l.Dim(root), right, width, l.ShownWidth(right)) + "\n"
}
