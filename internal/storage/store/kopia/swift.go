package kopia

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/retake-dev/retake"
)

// swiftDir reads a directory stream as it is written, by us and by stock Kopia: keys in
// their order, no space between them. It answers false for anything else, and reflection
// decides; where it answers, it answers the same: TestSwiftIsSlow holds it.
func swiftDir(b []byte) ([]retake.Entry, bool) {
	c := cursor{b: b}
	if !c.eat(streamHead) {
		return nil, false
	}
	out := make([]retake.Entry, 0, len(b)/shortEntry+1)
	dirs := 0 // they stand first
	for more := true; more; more = c.eat(",") {
		out = append(out, retake.Entry{})
		e := &out[len(out)-1]
		if !c.entry(e) {
			return nil, false
		}
		if e.Kind == retake.KindDir && dirs == len(out)-1 {
			dirs++
		}
	}
	var sum retake.Summary
	if !c.eat(summaryKey) || !c.summary(&sum) || !c.eat("}") {
		return nil, false
	}
	return merged(out, dirs), true
}

// shortEntry is about the least that an entry takes.
const shortEntry = 150

// merged puts two sorted runs in one order.
func merged(all []retake.Entry, n int) []retake.Entry {
	a, b := all[:n], all[n:]
	if !slices.IsSortedFunc(a, byName) || !slices.IsSortedFunc(b, byName) { // names that are not UTF-8 stand where their stand-in does
		slices.SortStableFunc(all, byName)
		return all
	}
	out := make([]retake.Entry, 0, len(all))
	for len(a) > 0 && len(b) > 0 {
		if byName(a[0], b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// cursor goes through a stream. Whatever answers false leaves it anywhere.
type cursor struct {
	b []byte
	i int
}

func (c *cursor) eat(text string) bool {
	if len(c.b)-c.i < len(text) || string(c.b[c.i:c.i+len(text)]) != text {
		return false
	}
	c.i += len(text)
	return true
}

func (c *cursor) entry(e *retake.Entry) bool {
	if !c.eat(`{"name":`) || !c.text(&e.Name) || !c.kind(e) || !c.mode(e) || !c.numbers(e) {
		return false
	}
	if !c.eat(`,"obj":`) || !c.text((*string)(&e.Object)) {
		return false
	}
	if c.eat(`,"summ":`) && !c.summary(&e.Sum) || c.eat(`,"retake":`) && !c.extension(e) {
		return false
	}
	return c.eat("}")
}

// numbers are those that an entry may have between its mode and its object.
func (c *cursor) numbers(e *retake.Entry) bool {
	var uid, gid int64
	if c.eat(`,"size":`) && !c.number(&e.Size) || c.eat(`,"mtime":`) && !c.time(&e.ModTime) {
		return false
	}
	if c.eat(`,"uid":`) && !c.number(&uid) || c.eat(`,"gid":`) && !c.number(&gid) {
		return false
	}
	e.UID, e.GID = uint32(uid), uint32(gid)
	return uid <= mostID && gid <= mostID
}

const mostID = 1<<32 - 1

func (c *cursor) kind(e *retake.Entry) bool {
	switch {
	case c.eat(`,"type":"f"`):
		e.Kind = retake.KindFile
	case c.eat(`,"type":"d"`):
		e.Kind = retake.KindDir
	case c.eat(`,"type":"s"`):
		e.Kind = retake.KindSymlink
	default:
		return false
	}
	return true
}

func (c *cursor) mode(e *retake.Entry) bool {
	if !c.eat(`,"mode":"0`) {
		return true
	}
	var m uint64
	start := c.i
	for ; c.i < len(c.b) && c.b[c.i]-'0' < 8; c.i++ {
		m = m<<3 | uint64(c.b[c.i]-'0')
	}
	e.Mode = ourMode(m)
	n := c.i - start
	return n > 0 && n <= 10 && c.eat(`"`) // ten digits of three bits are less than 32
}

// number reads one that is whole and not negative.
func (c *cursor) number(to *int64) bool {
	var v int64
	start := c.i
	for ; c.i < len(c.b) && c.b[c.i]-'0' < 10; c.i++ {
		v = v*10 + int64(c.b[c.i]-'0')
	}
	*to = v
	n := c.i - start
	return n == 1 || n > 1 && n <= 18 && c.b[start] != '0'
}

// text reads a string. One with an escape is left to encoding/json, and so is the whole
// stream when one is not UTF-8: it mends them.
func (c *cursor) text(to *string) bool {
	if !c.eat(`"`) {
		return false
	}
	start, plain := c.i, true
	for ; c.i < len(c.b) && c.b[c.i] != '"'; c.i++ {
		switch ch := c.b[c.i]; {
		case ch < 0x20:
			return false
		case ch == '\\':
			return c.escaped(start-1, to)
		case ch >= utf8.RuneSelf:
			plain = false
		}
	}
	text := c.b[start:c.i]
	*to = string(text)
	return c.eat(`"`) && (plain || utf8.Valid(text))
}

func (c *cursor) escaped(start int, to *string) bool {
	for ; c.i < len(c.b) && c.b[c.i] != '"'; c.i++ {
		if c.b[c.i] == '\\' {
			c.i++
		}
	}
	return c.eat(`"`) && utf8.Valid(c.b[start:c.i]) && json.Unmarshal(c.b[start:c.i], to) == nil
}

func (c *cursor) summary(s *retake.Summary) bool {
	return c.eat(`{"size":`) && c.number(&s.Bytes) && c.eat(`,"files":`) && c.number(&s.Files) && c.eat(`,"symlinks":`) && c.number(&s.Symlinks) &&
		c.eat(`,"dirs":`) && c.number(&s.Dirs) && c.eat(`,"maxTime":`) && c.time(&s.MaxTime) && c.eat(`,"numFailed":0}`)
}

// extension finds its end by the brackets; what is between is read by encoding/json.
func (c *cursor) extension(e *retake.Entry) bool {
	start, depth, quoted := c.i, 0, false
	for ; c.i < len(c.b); c.i++ {
		switch ch := c.b[c.i]; {
		case quoted && ch == '\\':
			c.i++
		case ch == '"':
			quoted = !quoted
		case !quoted && ch == '{':
			depth++
		case !quoted && ch == '}':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	if c.i >= len(c.b) {
		return false
	}
	c.i++
	var x *extension
	if json.Unmarshal(c.b[start:c.i], &x) != nil || x == nil {
		return false
	}
	x.apply(e)
	return true
}

// time reads one of UTC whose nanoseconds fit: from 1679 to 2261.
func (c *cursor) time(to *int64) bool {
	const form = `"0000-00-00T00:00:00`
	if len(c.b)-c.i < len(form)+len(`Z"`) {
		return false
	}
	t := c.b[c.i : c.i+len(form)]
	if t[0] != '"' || t[5] != '-' || t[8] != '-' || t[11] != 'T' || t[14] != ':' || t[17] != ':' {
		return false
	}
	p := [6]int{digits(t[1:5]), digits(t[6:8]), digits(t[9:11]), digits(t[12:14]), digits(t[15:17]), digits(t[18:20])}
	c.i += len(form)
	ns, ok := c.fraction()
	at := time.Date(p[0], time.Month(p[1]), p[2], p[3], p[4], p[5], ns, time.UTC)
	*to = at.UnixNano()
	// What the calendar does not have, such as a 31 June, becomes another time.
	same := p == [6]int{at.Year(), int(at.Month()), at.Day(), at.Hour(), at.Minute(), at.Second()}
	return ok && same && p[0] >= 1679 && p[0] <= 2261 && c.eat(`Z"`)
}

// fraction reads nanoseconds, if there are any.
func (c *cursor) fraction() (int, bool) {
	if !c.eat(".") {
		return 0, true
	}
	ns, n := 0, 0
	for ; c.i < len(c.b) && c.b[c.i]-'0' < 10; c.i++ {
		ns = ns*10 + int(c.b[c.i]-'0')
		n++
	}
	if n == 0 || n > 9 {
		return 0, false
	}
	for ; n < 9; n++ {
		ns *= 10
	}
	return ns, true
}

// digits answers a negative number when there is something else.
func digits(b []byte) int {
	v := 0
	for _, ch := range b {
		if ch-'0' > 9 {
			return -1
		}
		v = v*10 + int(ch-'0')
	}
	return v
}
