// Package merge brings two changes of one text together, by lines.
//
// It works on bytes in memory and touches nothing else: no files, no clock. It
// never writes marks of conflict: a text is merged as a whole, or not at all.
//
//	M1  A line ends after its newline; what ends a line is part of it, and so is a
//	    missing newline at the end. Bytes go through unchanged, in any encoding.
//	M2  Changes of the two sides that overlap or touch are a conflict, unless both
//	    are the same change.
//	M3  Who is yours and who is theirs changes the report, never the result.
//	M4  Time and memory are bounded by the limits of Text, whatever the lines hold.
package merge

import (
	"bytes"
	"slices"
)

// What is more than a person merges by lines is not tried.
const (
	maxBytes = 4 << 20
	maxLines = 1 << 18
)

// Report counts the places. A place that both sides changed in the same way needs
// nobody's hand and is counted nowhere.
type Report struct {
	Theirs    int // places that only theirs changed
	Yours     int // places that only yours changed
	Conflicts int
	First     int // first line, from 1, of the result that is yours; where yours took lines away, the one after; 0 for none
}

// Text reports whether b can be merged by lines: it holds no NUL, and is no longer
// than 4 MiB and 262,144 lines. The encoding does not matter.
func Text(b []byte) bool {
	return len(b) <= maxBytes && bytes.IndexByte(b, 0) < 0 && bytes.Count(b, newline) < maxLines
}

// Lines merges the change from base to theirs into yours. ok is false when both
// changed the same or touching lines differently, or when one of the three is no
// Text; then out is nil.
func Lines(base, yours, theirs []byte) (out []byte, rep Report, ok bool) {
	if !Text(base) || !Text(yours) || !Text(theirs) {
		return nil, Report{}, false
	}
	names := make(naming)
	b, y, t := names.split(base), names.split(yours), names.split(theirs)
	m := merger{base: b, yours: y.since(b), theirs: t.since(b)}
	m.run()
	if m.rep.Conflicts > 0 {
		m.rep.First = 0
		return nil, m.rep, false
	}
	return slices.Concat(m.out...), m.rep, true
}

// merger walks the base from its begin to its end. What it passed is in out.
type merger struct {
	base          text
	yours, theirs side
	at            int // line of the base
	lines         int // in out
	out           [][]byte
	rep           Report
}

func (m *merger) run() {
	for !m.yours.done() || !m.theirs.done() {
		from, to := m.place()
		m.put(m.base, m.at, from)
		y, t := m.yours.take(from, to), m.theirs.take(from, to)
		m.at = to
		switch {
		case t.still():
			m.mark()
			m.rep.Yours++
			m.put(m.yours.text, y.from, y.to)
		case y.still():
			m.rep.Theirs++
			m.put(m.theirs.text, t.from, t.to)
		case slices.Equal(m.yours.names[y.from:y.to], m.theirs.names[t.from:t.to]):
			m.put(m.yours.text, y.from, y.to)
		default:
			m.rep.Conflicts++
		}
	}
	m.put(m.base, m.at, len(m.base.names))
}

// place is the next range of the base that was changed. Changes that overlap or
// touch are one place.
func (m *merger) place() (from, to int) {
	from = min(m.yours.next(), m.theirs.next())
	to = from
	i, j := m.yours.at, m.theirs.at
	for {
		switch {
		case i < len(m.yours.list) && m.yours.list[i].from <= to:
			to = max(to, m.yours.list[i].to)
			i++
		case j < len(m.theirs.list) && m.theirs.list[j].from <= to:
			to = max(to, m.theirs.list[j].to)
			j++
		default:
			return from, to
		}
	}
}

func (m *merger) put(t text, from, to int) {
	m.out = append(m.out, t.bytes[t.ends[from]:t.ends[to]])
	m.lines += to - from
}

// mark remembers the first line of yours.
func (m *merger) mark() {
	if m.rep.First == 0 {
		m.rep.First = m.lines + 1
	}
}
