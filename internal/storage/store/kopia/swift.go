package kopia

import (
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/retake-dev/retake"
)

// decodeDirFast decodes a directory stream exactly as we and stock Kopia write it: keys in
// their order, no space between them. For anything else it returns false, and encoding/json
// decides. TestSwiftIsSlow checks that both agree.
func decodeDirFast(b []byte) ([]retake.Entry, bool) {
	c := streamCursor{b: b}
	if !c.skipLiteral(streamHead) {
		return nil, false
	}
	out := make([]retake.Entry, 0, len(b)/minEntryBytes+1)
	dirs := 0 // they come first
	for more := true; more; more = c.skipLiteral(",") {
		out = append(out, retake.Entry{})
		e := &out[len(out)-1]
		if !c.parseEntry(e) {
			return nil, false
		}
		if e.Kind == retake.KindDir && dirs == len(out)-1 {
			dirs++
		}
	}
	var sum retake.Summary
	if !c.skipLiteral(summaryKey) || !c.parseSummary(&sum) || !c.skipLiteral("}") {
		return nil, false
	}
	return mergeRuns(out, dirs), true
}

// minEntryBytes is about the least that an entry takes.
const minEntryBytes = 150

// mergeRuns merges two sorted runs.
func mergeRuns(all []retake.Entry, n int) []retake.Entry {
	a, b := all[:n], all[n:]
	if !slices.IsSortedFunc(a, compareNames) || !slices.IsSortedFunc(b, compareNames) { // names that are not UTF-8 are sorted by their stored name
		slices.SortStableFunc(all, compareNames)
		return all
	}
	out := make([]retake.Entry, 0, len(all))
	for len(a) > 0 && len(b) > 0 {
		if compareNames(a[0], b[0]) <= 0 {
			out, a = append(out, a[0]), a[1:]
		} else {
			out, b = append(out, b[0]), b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// streamCursor parses a stream. After a method returned false its position is undefined.
type streamCursor struct {
	b []byte
	i int
}

func (c *streamCursor) skipLiteral(text string) bool {
	if len(c.b)-c.i < len(text) || string(c.b[c.i:c.i+len(text)]) != text {
		return false
	}
	c.i += len(text)
	return true
}

func (c *streamCursor) parseEntry(e *retake.Entry) bool {
	if !c.skipLiteral(`{"name":`) || !c.parseString(&e.Name) || !c.parseKind(e) || !c.parseMode(e) || !c.parseNumbers(e) {
		return false
	}
	if !c.skipLiteral(`,"obj":`) || !c.parseString((*string)(&e.Object)) {
		return false
	}
	if c.skipLiteral(`,"summ":`) && !c.parseSummary(&e.Sum) || c.skipLiteral(`,"retake":`) && !c.parseExtension(e) {
		return false
	}
	return c.skipLiteral("}")
}

// parseNumbers parses the numbers that may follow the mode of an entry.
func (c *streamCursor) parseNumbers(e *retake.Entry) bool {
	var uid, gid int64
	if c.skipLiteral(`,"size":`) && !c.parseNumber(&e.Size) || c.skipLiteral(`,"mtime":`) && !c.parseTime(&e.ModTime) {
		return false
	}
	if c.skipLiteral(`,"uid":`) && !c.parseNumber(&uid) || c.skipLiteral(`,"gid":`) && !c.parseNumber(&gid) {
		return false
	}
	e.UID, e.GID = uint32(uid), uint32(gid)
	return uid <= maxID && gid <= maxID
}

const maxID = 1<<32 - 1

func (c *streamCursor) parseKind(e *retake.Entry) bool {
	switch {
	case c.skipLiteral(`,"type":"f"`):
		e.Kind = retake.KindFile
	case c.skipLiteral(`,"type":"d"`):
		e.Kind = retake.KindDir
	case c.skipLiteral(`,"type":"s"`):
		e.Kind = retake.KindSymlink
	default:
		return false
	}
	return true
}

func (c *streamCursor) parseMode(e *retake.Entry) bool {
	if !c.skipLiteral(`,"mode":"0`) {
		return true
	}
	var m uint64
	start := c.i
	for ; c.i < len(c.b) && c.b[c.i]-'0' < 8; c.i++ {
		m = m<<3 | uint64(c.b[c.i]-'0')
	}
	e.Mode = fromStockMode(m)
	n := c.i - start
	return n > 0 && n <= 10 && c.skipLiteral(`"`) // ten digits of three bits are less than 32
}

// parseNumber parses a non-negative integer.
func (c *streamCursor) parseNumber(to *int64) bool {
	var v int64
	start := c.i
	for ; c.i < len(c.b) && c.b[c.i]-'0' < 10; c.i++ {
		v = v*10 + int64(c.b[c.i]-'0')
	}
	*to = v
	n := c.i - start
	return n == 1 || n > 1 && n <= 18 && c.b[start] != '0'
}

// parseString parses a string. A string with an escape is left to encoding/json, and so is the
// whole stream if one is not UTF-8, which encoding/json repairs.
func (c *streamCursor) parseString(to *string) bool {
	if !c.skipLiteral(`"`) {
		return false
	}
	start, plain := c.i, true
	for ; c.i < len(c.b) && c.b[c.i] != '"'; c.i++ {
		switch ch := c.b[c.i]; {
		case ch < 0x20:
			return false
		case ch == '\\':
			return c.parseEscaped(start-1, to)
		case ch >= utf8.RuneSelf:
			plain = false
		}
	}
	text := c.b[start:c.i]
	*to = string(text)
	return c.skipLiteral(`"`) && (plain || utf8.Valid(text))
}

func (c *streamCursor) parseEscaped(start int, to *string) bool {
	for ; c.i < len(c.b) && c.b[c.i] != '"'; c.i++ {
		if c.b[c.i] == '\\' {
			c.i++
		}
	}
	return c.skipLiteral(`"`) && utf8.Valid(c.b[start:c.i]) && json.Unmarshal(c.b[start:c.i], to) == nil
}

func (c *streamCursor) parseSummary(s *retake.Summary) bool {
	return c.skipLiteral(`{"size":`) && c.parseNumber(&s.Bytes) && c.skipLiteral(`,"files":`) && c.parseNumber(&s.Files) && c.skipLiteral(`,"symlinks":`) && c.parseNumber(&s.Symlinks) &&
		c.skipLiteral(`,"dirs":`) && c.parseNumber(&s.Dirs) && c.skipLiteral(`,"maxTime":`) && c.parseTime(&s.MaxTime) && c.skipLiteral(`,"numFailed":0}`)
}

// parseExtension finds the end of the extension by its brackets and leaves the rest to
// encoding/json.
func (c *streamCursor) parseExtension(e *retake.Entry) bool {
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
	var x *entryExtension
	if json.Unmarshal(c.b[start:c.i], &x) != nil || x == nil {
		return false
	}
	x.applyTo(e)
	return true
}

// parseTime parses a UTC time whose nanoseconds fit: from 1679 to 2261.
func (c *streamCursor) parseTime(to *int64) bool {
	const form = `"0000-00-00T00:00:00`
	if len(c.b)-c.i < len(form)+len(`Z"`) {
		return false
	}
	t := c.b[c.i : c.i+len(form)]
	if t[0] != '"' || t[5] != '-' || t[8] != '-' || t[11] != 'T' || t[14] != ':' || t[17] != ':' {
		return false
	}
	p := [6]int{parseDigits(t[1:5]), parseDigits(t[6:8]), parseDigits(t[9:11]), parseDigits(t[12:14]), parseDigits(t[15:17]), parseDigits(t[18:20])}
	c.i += len(form)
	ns, ok := c.parseFraction()
	at := time.Date(p[0], time.Month(p[1]), p[2], p[3], p[4], p[5], ns, time.UTC)
	*to = at.UnixNano()
	// What the calendar does not have, such as a 31 June, becomes another time.
	same := p == [6]int{at.Year(), int(at.Month()), at.Day(), at.Hour(), at.Minute(), at.Second()}
	return ok && same && p[0] >= 1679 && p[0] <= 2261 && c.skipLiteral(`Z"`)
}

// parseFraction parses the nanoseconds, if there are any.
func (c *streamCursor) parseFraction() (int, bool) {
	if !c.skipLiteral(".") {
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

// parseDigits returns a negative number if b has anything but digits.
func parseDigits(b []byte) int {
	v := 0
	for _, ch := range b {
		if ch-'0' > 9 {
			return -1
		}
		v = v*10 + int(ch-'0')
	}
	return v
}
