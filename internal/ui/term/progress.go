package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// BarColumns is how long a bar is.
const BarColumns = 28

// RenderProgress is one line about how far something is.
func RenderProgress(l Style, word string, at retake.Progress) string {
	line := "  " + l.Yellow(l.Glyphs.Wait) + " " + l.Bold(termtext.Pad(word, 13))
	counts := CountFiles(at.Files) + "   " + termtext.Bytes(at.Bytes)
	if at.Total <= 0 {
		return line + counts
	}
	if at.Bytes == 0 { // what is counted are steps
		counts = termtext.Count(at.Files) + " of " + termtext.Count(at.Total)
	}
	share := min(float64(at.Files)/float64(at.Total), 1)
	full := int(share * BarColumns)
	bar := l.Green(strings.Repeat(l.Glyphs.Fill, full)) + l.Dim(strings.Repeat(l.BarRest(), BarColumns-full))
	return line + fmt.Sprintf("%s %3d %%   %s", bar, int(share*100), counts) // 100 only at the end
}

// BarRest is the empty part of a bar, which must differ without color too.
func (l Style) BarRest() string {
	if l.ASCII {
		return "."
	}
	return "─"
}
