package picture

import (
	"fmt"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// RenderFork tells where a fork grew, and from what.
func RenderFork(l Look, res retake.ForkResult, took time.Duration) string {
	var b strings.Builder
	o := res.Origin
	text, _ := l.Titled(o, l.Goals)
	what := fmt.Sprintf("Forked %d", o.Number)
	right := screen.Took(took)
	room := l.Width - screen.Width(l.Glyphs.Yes) - 1 - screen.Width(what) - screen.Width(right) - 4
	about := l.Glyphs.Cut(l.Clock(o.Time)+"  "+text, max(room, 0))
	width := screen.Width(l.Glyphs.Yes) + 1 + screen.Width(what) + 2 + screen.Width(about)
	fmt.Fprintf(&b, "%s\n\n", l.Ends(l.Green(l.Glyphs.Yes)+" "+l.Bold(what)+"  "+about, l.Dim(right), width, screen.Width(right)))
	field := func(name, text string) { fmt.Fprintf(&b, "  %s%s\n", l.Dim(screen.Pad(name, 11)), text) }
	field("fork", l.Bold(screen.Escape(res.Workspace.Name)))
	field("where", l.Path(res.Workspace.Root))
	shared, wrote := "", ""
	if res.Cloned > 0 {
		shared = screen.Count(res.Cloned) + " share their room"
	}
	if res.Copied > 0 {
		wrote = screen.Count(res.Copied) + " written"
	}
	field("files", l.Facts(Files(res.Checkpoint.Files), shared, wrote))
	b.WriteString(GapLines(l, res.Checkpoint.Coverage.Gaps, strings.Repeat(" ", 13)))
	return b.String()
}
