package term

import (
	"fmt"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// RenderFork renders where a fork was made, and from what.
func RenderFork(l Style, res retake.ForkResult, took time.Duration) string {
	var b strings.Builder
	o := res.Origin
	text, _ := l.CheckpointTitle(o, l.Titles)
	what := fmt.Sprintf("Forked %d", o.Number)
	right := termtext.Duration(took)
	room := l.Width - termtext.Width(l.Glyphs.Yes) - 1 - termtext.Width(what) - termtext.Width(right) - 4
	about := l.Glyphs.Cut(l.ShortTime(o.Time)+"  "+text, max(room, 0))
	width := termtext.Width(l.Glyphs.Yes) + 1 + termtext.Width(what) + 2 + termtext.Width(about)
	fmt.Fprintf(&b, "%s\n\n", l.AlignEnds(l.Green(l.Glyphs.Yes)+" "+l.Bold(what)+"  "+about, l.Dim(right), width, termtext.Width(right)))
	field := func(name, text string) { fmt.Fprintf(&b, "  %s%s\n", l.Dim(termtext.Pad(name, 11)), text) }
	field("fork", l.Bold(termtext.Escape(res.Workspace.Name)))
	field("where", l.DisplayPath(res.Workspace.Root))
	shared, wrote := "", ""
	if res.Cloned > 0 {
		shared = termtext.Count(res.Cloned) + " share their room"
	}
	if res.Copied > 0 {
		wrote = termtext.Count(res.Copied) + " written"
	}
	field("files", l.JoinFacts(CountFiles(res.Checkpoint.Files), shared, wrote))
	b.WriteString(GapLines(l, res.Checkpoint.Coverage.Gaps, strings.Repeat(" ", 13)))
	return b.String()
}
