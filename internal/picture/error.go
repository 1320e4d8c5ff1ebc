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
	for i, line := range l.inLines(Sentence(screen.Escape(l.homely(e.What)))) {
		sign := l.Red(l.Glyphs.No)
		if i > 0 {
			sign = strings.Repeat(" ", screen.Width(l.Glyphs.No))
		}
		fmt.Fprintf(&b, "%s %s\n", sign, l.Bold(line))
	}
	if e.Err != nil && tellsCause(e.Kind) {
		label := "because:"
		for line := range strings.SplitSeq(e.Err.Error(), "\n") { // joined errors have a line each
			fmt.Fprintf(&b, "  %s %s\n", l.Dim(label), screen.Escape(line))
			label = "     and:"
		}
	}
	if e.Safe != "" {
		for _, line := range l.inLines(Sentence(screen.Escape(l.homely(e.Safe)))) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	if e.Hint != "" {
		for line := range strings.SplitSeq(e.Hint, "\n") {
			for _, part := range l.hintLines(screen.Escape(line)) {
				fmt.Fprintf(&b, "  %s\n", part)
			}
		}
	}
	return b.String()
}

// errorIndent is what the signs of an error take of a line.
const errorIndent = 2

// inLines is a sentence in lines that fit. Without a width nothing is broken: programs
// that read errors search for whole sentences.
func (l Look) inLines(text string) []string {
	if l.Width <= 0 {
		return []string{text}
	}
	return Wrapped(text, max(l.Width-errorIndent, 20))
}

// hintLines puts as many "label: command" beside each other as fit. A command is never
// broken, because people copy it; a list of words is.
func (l Look) hintLines(s string) []string {
	room := l.Width - errorIndent
	if l.Width <= 0 || screen.Width(s) <= room {
		return []string{l.HintLine(s)}
	}
	var out []string
	line := ""
	for item := range strings.SplitSeq(s, hintGap) {
		if line != "" && screen.Width(line)+len(hintGap)+screen.Width(item) <= room {
			line += hintGap + item
			continue
		}
		if line != "" {
			out = append(out, l.hintList(line, room)...)
		}
		line = item
	}
	return append(out, l.hintList(line, room)...)
}

// hintList breaks the words of one hint, if they are a list that does not fit. They go on
// below where they began.
func (l Look) hintList(item string, room int) []string {
	label, words, _ := strings.Cut(item, ": ")
	if screen.Width(item) <= room || !strings.Contains(words, ", ") {
		return []string{l.HintLine(item)}
	}
	indent := screen.Width(label) + 2
	lines := Wrap(words, max(room-indent, 20))
	for i := range lines {
		if i == 0 {
			lines[i] = l.HintLine(label + ": " + lines[i])
			continue
		}
		lines[i] = strings.Repeat(" ", indent) + lines[i]
	}
	return lines
}

// homely writes the home of the user as ~ where it begins a path in a sentence, as every
// other place does. Hints stay as they are: what is typed may stand in quotes.
func (l Look) homely(text string) string {
	if l.Home == "" || l.Home == "/" {
		return text
	}
	words := strings.Split(text, " ")
	for i, w := range words {
		if rest, ok := strings.CutPrefix(w, l.Home+"/"); ok {
			words[i] = "~/" + rest
		}
	}
	return strings.Join(words, " ")
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

// hintGap stands between two hints on one line.
const hintGap = "     "

// HintLine dims the label of each "label: command", which stand apart by spaces.
func (l Look) HintLine(s string) string {
	items := strings.Split(s, hintGap)
	for i, item := range items {
		if label, command, ok := strings.Cut(item, ": "); ok {
			items[i] = l.Dim(label+":") + " " + command
		}
	}
	return strings.Join(items, hintGap)
}
