package term

import (
	"strings"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// RenderHits has a row for each checkpoint, and where the words stand in it.
func RenderHits(l Style, hits []retake.Hit, words []string) string {
	var b strings.Builder
	for _, lines := range HitLines(l, hits, words) {
		b.WriteString(strings.Join(lines, "\n") + "\n")
	}
	return b.String()
}

// HitLines are the lines of each hit: one, or two when where the words stand has no room
// beside the checkpoint.
func HitLines(l Style, hits []retake.Hit, words []string) [][]string {
	num, when, where := 2, 5, 0
	for _, h := range hits {
		num, when = max(num, len(CheckpointNumber(h.Checkpoint.Number))), max(when, termtext.Width(l.ShortTime(h.Checkpoint.Time)))
		if h.Where != "intent" {
			where = max(where, termtext.Width(termtext.Escape(h.Where)))
		}
	}
	indent := num + 2 + when + 2
	wide := l.Width >= WideFrom
	title := l.Width - indent
	if wide {
		title = min((l.Width-indent)*2/5, 64)
	}
	out := make([][]string, len(hits))
	for i, h := range hits {
		text, _ := l.CheckpointTitle(h.Checkpoint, l.Titles)
		inTitle := h.Where == "intent" && h.Checkpoint.Intent != ""
		line := l.Bold(termtext.PadLeft(CheckpointNumber(h.Checkpoint.Number), num)) + "  " + l.Dim(termtext.Pad(l.ShortTime(h.Checkpoint.Time), when)) + "  "
		shown := excerpt(l, text, words, title)
		line += markWords(l, shown, words)
		if !inTitle && wide {
			line += strings.Repeat(" ", max(title-termtext.Width(shown), 0)) + "  " + hitExcerpt(l, h, words, where, l.Width-indent-title-2)
		}
		out[i] = []string{strings.TrimRight(line, " ")}
		if !inTitle && !wide {
			out[i] = append(out[i], strings.TrimRight(strings.Repeat(" ", indent)+hitExcerpt(l, h, words, where, l.Width-indent), " "))
		}
	}
	return out
}

// hitExcerpt returns where the words were found, with the text around them.
func hitExcerpt(l Style, h retake.Hit, words []string, where, room int) string {
	text := termtext.Escape(strings.Join(strings.Fields(h.Text), " "))
	return l.Dim(termtext.Pad(termtext.Escape(h.Where), where)) + "  " + markWords(l, excerpt(l, text, words, room-where-2), words)
}

// excerpt is the part of escaped text around the first of the words, with signs where
// it was cut.
func excerpt(l Style, text string, words []string, room int) string {
	if termtext.Width(text) <= room || room <= 0 {
		return l.Glyphs.Cut(text, room)
	}
	at, _ := indexWord(text, words)
	if at < 0 || termtext.Width(text[:at]) < room*2/3 {
		return l.Glyphs.Cut(text, room)
	}
	lead := room / 3 // what stands before the word says what it is about
	start := at
	for start > 0 && termtext.Width(text[start:at]) < lead {
		_, size := utf8.DecodeLastRuneInString(text[:start])
		start -= size
	}
	if i := strings.IndexByte(text[start:at], ' '); i >= 0 { // a whole word
		start += i + 1
	}
	return l.Glyphs.More + l.Glyphs.Cut(text[start:], room-termtext.Width(l.Glyphs.More))
}

// markWords sets the words in bold.
func markWords(l Style, text string, words []string) string {
	var b strings.Builder
	for {
		at, n := indexWord(text, words)
		if at < 0 {
			return b.String() + text
		}
		b.WriteString(text[:at] + l.Bold(text[at:at+n]))
		text = text[at+n:]
	}
}

// indexWord returns the position and length of the first of the words in text, ignoring case.
func indexWord(text string, words []string) (at, length int) {
	for i := range text {
		for _, w := range words {
			w = termtext.Escape(w)
			if end := i + len(w); w != "" && end <= len(text) && strings.EqualFold(text[i:end], w) {
				return i, len(w)
			}
		}
	}
	return -1, 0
}
