// Package merge merges two changes of one text by lines.
//
// It works on bytes in memory and touches nothing else: no files, no clock. It
// never writes conflict markers: a text is merged as a whole, or not at all.
//
//	M1  A line ends after its newline; what ends a line is part of it, and so is a
//	    missing newline at the end. Bytes go through unchanged, in any encoding.
//	M2  Changes of the two sides that overlap or touch are a conflict, unless both
//	    are the same change.
//	M3  Swapping yours and theirs changes the report, never the result.
//	M4  Time and memory are bounded by the limits of IsText, whatever the lines contain.
package merge

import (
	"bytes"
	"slices"
)

// Larger texts are not merged by lines.
const (
	maxBytes = 4 << 20
	maxLines = 1 << 18
)

// Report counts the changed regions. A region that both sides changed in the same way is not
// counted.
type Report struct {
	Theirs    int // regions that only theirs changed
	Yours     int // regions that only yours changed
	Conflicts int
	FirstLine int // first line of the result, from 1, that is yours; the following one where yours removed lines; 0: none
}

// IsText reports whether b can be merged by lines: it contains no NUL, and is at most 4 MiB
// and 262,144 lines long. The encoding does not matter.
func IsText(b []byte) bool {
	return len(b) <= maxBytes && bytes.IndexByte(b, 0) < 0 && bytes.Count(b, newline) < maxLines
}

// Lines merges the change from base to theirs into yours. ok is false if both changed the same
// or touching lines differently, or if one of the three is not IsText; then out is nil.
func Lines(base, yours, theirs []byte) (out []byte, rep Report, ok bool) {
	if !IsText(base) || !IsText(yours) || !IsText(theirs) {
		return nil, Report{}, false
	}
	names := make(lineInterner)
	b, y, t := names.splitLines(base), names.splitLines(yours), names.splitLines(theirs)
	m := merger{base: b, yours: y.diffFrom(b), theirs: t.diffFrom(b)}
	m.run()
	if m.report.Conflicts > 0 {
		m.report.FirstLine = 0
		return nil, m.report, false
	}
	return slices.Concat(m.out...), m.report, true
}

// merger walks through the base. out is the result for what it has passed.
type merger struct {
	base          lineText
	yours, theirs mergeSide
	at            int // line of the base
	lines         int // in out
	out           [][]byte
	report        Report
}

// run merges region by region, and copies the unchanged lines between them.
func (m *merger) run() {
	for !m.yours.isDone() || !m.theirs.isDone() {
		from, to := m.nextRegion()
		m.appendLines(m.base, m.at, from)
		y, t := m.yours.consumeRange(from, to), m.theirs.consumeRange(from, to)
		m.at = to
		switch {
		case t.isUnchanged():
			m.markFirstLine()
			m.report.Yours++
			m.appendLines(m.yours.lineText, y.from, y.to)
		case y.isUnchanged():
			m.report.Theirs++
			m.appendLines(m.theirs.lineText, t.from, t.to)
		case slices.Equal(m.yours.lineIDs[y.from:y.to], m.theirs.lineIDs[t.from:t.to]):
			m.appendLines(m.yours.lineText, y.from, y.to)
		default:
			m.report.Conflicts++
		}
	}
	m.appendLines(m.base, m.at, len(m.base.lineIDs))
}

// nextRegion returns the next changed range of the base. Changes that overlap or touch are one
// region.
func (m *merger) nextRegion() (from, to int) {
	from = min(m.yours.nextLine(), m.theirs.nextLine())
	to = from
	i, j := m.yours.index, m.theirs.index
	for {
		switch {
		case i < len(m.yours.changes) && m.yours.changes[i].from <= to:
			to = max(to, m.yours.changes[i].to)
			i++
		case j < len(m.theirs.changes) && m.theirs.changes[j].from <= to:
			to = max(to, m.theirs.changes[j].to)
			j++
		default:
			return from, to
		}
	}
}

func (m *merger) appendLines(t lineText, from, to int) {
	m.out = append(m.out, t.bytes[t.ends[from]:t.ends[to]])
	m.lines += to - from
}

// markFirstLine records the first line of yours.
func (m *merger) markFirstLine() {
	if m.report.FirstLine == 0 {
		m.report.FirstLine = m.lines + 1
	}
}
