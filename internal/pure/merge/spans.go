package merge

import "bytes"

// spanSteps bounds the exact comparison of one pair of texts: a display is worth less time
// than a merge.
const spanSteps = 1 << 24

// Span is a range of lines, counted from 0, that was removed from one text, and the range that
// was added in its place. One of the two may be empty; between two spans there is at least one
// equal line.
type Span struct{ Before, Removed, After, Added int }

// Spans returns the differences from before to after, in order. It accepts any bytes. Texts
// that are not IsText, or too different for the time limit, have fewer and longer spans, which
// still lead to after.
func Spans(before, after []byte) []Span {
	if bytes.Equal(before, after) {
		return nil
	}
	head := commonPrefixSize(before, after)
	skipped := bytes.Count(before[:head], newline)
	before, after = before[head:], after[head:]
	tail := commonSuffixSize(before, after)
	before, after = before[:len(before)-tail], after[:len(after)-tail]
	var list []change
	if len(before) > 0 && len(after) > 0 && isWithinLimits(before) && isWithinLimits(after) {
		names := make(lineInterner)
		list = diffBounded(spanSteps, names.splitLines(before).lineIDs, names.splitLines(after).lineIDs)
	} else {
		list = []change{{0, countLines(before), 0, countLines(after)}}
	}
	out := make([]Span, len(list))
	for i, c := range list {
		out[i] = Span{skipped + c.from, c.to - c.from, skipped + c.sideFrom, c.sideTo - c.sideFrom}
	}
	return out
}

// Revert undoes some of the spans from before to after: it returns after with the lines of
// before in their place. It returns false if the spans overlap, are not in order or do not
// fit.
func Revert(before, after []byte, spans []Span) ([]byte, bool) {
	if !IsText(before) || !IsText(after) {
		return nil, false
	}
	names := make(lineInterner)
	b, a := names.splitLines(before), names.splitLines(after)
	var out []byte
	at := 0 // line of after
	put := func(t lineText, from, to int) {
		if n := len(out); from < to && n > 0 && out[n-1] != '\n' { // it was the last line and needs a newline now
			out = append(out, '\n')
		}
		out = append(out, t.bytes[t.ends[from]:t.ends[to]]...)
	}
	for _, s := range spans {
		if s.Removed < 0 || s.Added < 0 || s.Before < 0 || s.After < at || s.Removed > len(b.lineIDs)-s.Before || s.Added > len(a.lineIDs)-s.After {
			return nil, false
		}
		put(a, at, s.After)
		put(b, s.Before, s.Before+s.Removed)
		at = s.After + s.Added
	}
	put(a, at, len(a.lineIDs))
	return out, true
}

func isWithinLimits(b []byte) bool { return len(b) <= maxBytes && bytes.Count(b, newline) < maxLines }

func countLines(b []byte) int {
	n := bytes.Count(b, newline)
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

// commonPrefixSize returns the size of the whole lines that both begin with.
func commonPrefixSize(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return bytes.LastIndexByte(a[:n], '\n') + 1
}

// commonSuffixSize returns the size of the whole lines that both end with. A line is whole if
// it is at the start of the text or follows a newline, in both.
func commonSuffixSize(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[len(a)-1-n] == b[len(b)-1-n] {
		n++
	}
	if n == len(a) && n == len(b) {
		return n
	}
	tail := a[len(a)-n:]
	whole := func(t []byte) bool { return n == len(t) || t[len(t)-1-n] == '\n' }
	if whole(a) && whole(b) {
		return n
	}
	i := bytes.IndexByte(tail, '\n')
	if i < 0 {
		return 0
	}
	return n - i - 1
}
