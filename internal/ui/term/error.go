package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// RenderError renders what happened, whether anything was changed, and what to do.
func RenderError(l Style, e retake.Error) string {
	var b strings.Builder
	for i, line := range wrapSentence(l, AsSentence(termtext.Escape(shortenHome(l, e.What)))) {
		sign := l.Red(l.Glyphs.No)
		if i > 0 {
			sign = strings.Repeat(" ", termtext.Width(l.Glyphs.No))
		}
		fmt.Fprintf(&b, "%s %s\n", sign, l.Bold(line))
	}
	if e.Err != nil && showsCause(e.Kind) {
		label := "because:"
		for line := range strings.SplitSeq(e.Err.Error(), "\n") { // joined errors have a line each
			fmt.Fprintf(&b, "  %s %s\n", l.Dim(label), termtext.Escape(line))
			label = "     and:"
		}
	}
	if e.Safe != "" {
		for _, line := range wrapSentence(l, AsSentence(termtext.Escape(shortenHome(l, e.Safe)))) {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	for _, line := range l.Hints(e.Hint) {
		fmt.Fprintf(&b, "  %s\n", line)
	}
	return b.String()
}

// errorIndent is what the signs of an error take of a line.
const errorIndent = 2

// wrapSentence is a sentence in lines that fit. Without a width nothing is broken: programs
// that read errors search for whole sentences.
func wrapSentence(l Style, text string) []string {
	if l.Width <= 0 {
		return []string{text}
	}
	return WrapLine(text, max(l.Width-errorIndent, 20))
}

// Hints are the hints of an error: a label and a command on each line, the commands below
// each other. A command is never broken, because people copy it; a list of words is.
func (l Style) Hints(text string) []string {
	if text == "" {
		return nil
	}
	hints := strings.Split(text, "\n")
	wide, room := 0, max(l.Width-errorIndent, 20)
	for i, h := range hints {
		hints[i] = termtext.Escape(h)
		label, _, _ := cutLabel(hints[i])
		wide = max(wide, termtext.Width(label))
	}
	for _, h := range hints {
		label, command, ok := cutLabel(h)
		need := hintGap + termtext.Width(command)
		if ok && l.Width > 0 && wide+need > room && termtext.Width(label)+need <= room {
			wide = 0 // what would not fit in a column stands beside its label
		}
	}
	var out []string
	for _, h := range hints {
		label, command, ok := cutLabel(h)
		if !ok {
			out = append(out, wrapSentence(l, AsSentence(h))...)
			continue
		}
		label = termtext.Pad(Capitalize(label), wide) + strings.Repeat(" ", hintGap)
		out = append(out, hintList(l, label, command, room)...)
	}
	return out
}

// hintGap is how many spaces stand between a label and its command.
const hintGap = 2

// cutLabel cuts "label: command" apart; the colon stays with the label.
func cutLabel(hint string) (label, command string, ok bool) {
	label, command, ok = strings.Cut(hint, ": ")
	if !ok {
		return "", hint, false
	}
	return label + ":", command, true
}

// hintList breaks the words of one hint, if they are a list that does not fit. They go on
// below where they began.
func hintList(l Style, label, words string, room int) []string {
	indent := termtext.Width(label)
	if l.Width <= 0 || indent+termtext.Width(words) <= room || !strings.Contains(words, ", ") {
		return []string{l.Dim(label) + words}
	}
	lines := Wrap(words, max(room-indent, 20))
	for i := range lines {
		if i == 0 {
			lines[i] = l.Dim(label) + lines[i]
			continue
		}
		lines[i] = strings.Repeat(" ", indent) + lines[i]
	}
	return lines
}

// shortenHome replaces the home directory with ~ where it starts a path in a sentence. Hints
// are left alone: what is typed may be in quotes, where a shell does not expand it.
func shortenHome(l Style, text string) string {
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

// showsCause reports whether the underlying error helps the user.
func showsCause(k retake.ErrorKind) bool {
	return k == retake.Internal || k == retake.Away || k == retake.Damaged
}

// AsSentence capitalizes s and ends it with a period. A first word that is not plain, such as
// a path, is left as it is.
func AsSentence(s string) string {
	if s == "" {
		return s
	}
	s = Capitalize(s)
	if strings.ContainsRune(".?:", rune(s[len(s)-1])) {
		return s
	}
	return s + "."
}

// Capitalize capitalizes the first word, if it is a plain one.
func Capitalize(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if first == "" || first == "retake" || strings.Trim(strings.TrimRight(first, ",:."), "abcdefghijklmnopqrstuvwxyz'") != "" || first[0] == '\'' {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
