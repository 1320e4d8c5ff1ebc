package picture

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// RenderError says what happened, whether anything was changed, what to do.
func RenderError(l Look, e retake.Error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", l.Red(l.Glyphs.No), l.Bold(Sentence(screen.Escape(e.What))))
	if e.Err != nil && tellsCause(e.Kind) {
		label := "because:"
		for line := range strings.SplitSeq(e.Err.Error(), "\n") { // joined errors have a line each
			fmt.Fprintf(&b, "  %s %s\n", l.Dim(label), screen.Escape(line))
			label = "     and:"
		}
	}
	if e.Safe != "" {
		fmt.Fprintf(&b, "  %s\n", Sentence(screen.Escape(e.Safe)))
	}
	if e.Hint != "" {
		for line := range strings.SplitSeq(e.Hint, "\n") {
			fmt.Fprintf(&b, "  %s\n", l.HintLine(screen.Escape(line)))
		}
	}
	return b.String()
}

// tellsCause reports whether what lies below the error helps whoever reads it.
func tellsCause(k retake.ErrorKind) bool {
	return k == retake.Internal || k == retake.Away || k == retake.Damaged
}

// Sentence begins with a capital and ends with a stop. What is no plain word,
// such as a path, stays as it is.
func Sentence(s string) string {
	if s == "" {
		return s
	}
	first, _, _ := strings.Cut(s, " ")
	if strings.Trim(strings.TrimRight(first, ",:."), "abcdefghijklmnopqrstuvwxyz") == "" {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if strings.ContainsRune(".?:", rune(s[len(s)-1])) {
		return s
	}
	return s + "."
}

// HintLine dims the label of each "label: command", which stand apart by spaces.
func (l Look) HintLine(s string) string {
	items := strings.Split(s, "     ")
	for i, item := range items {
		if label, command, ok := strings.Cut(item, ": "); ok {
			items[i] = l.Dim(label+":") + " " + command
		}
	}
	return strings.Join(items, "     ")
}
