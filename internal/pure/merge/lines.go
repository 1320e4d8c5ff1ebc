package merge

import (
	"bytes"
	"math"
)

var newline = []byte{'\n'}

// text is a text in lines. Equal lines of all texts of one merge have equal names.
type text struct {
	bytes []byte
	ends  []int   // where line i ends is ends[i+1]; ends[0] is 0
	names []int32 // one for each line
}

// naming gives a short name to each different line.
type naming map[string]int32

func (n naming) split(b []byte) text {
	t := text{bytes: b, ends: []int{0}}
	for at := 0; at < len(b); {
		end := len(b)
		if i := bytes.IndexByte(b[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		name, ok := n[string(b[at:end])]
		if !ok {
			name = int32(len(n))
			n[string(b[at:end])] = name
		}
		t.names, t.ends = append(t.names, name), append(t.ends, end)
		at = end
	}
	return t
}

// side is one of the two changed texts, with what changed since the base.
type side struct {
	text
	list []change
	at   int // of the next change in list
	gap  int // lines that this side is ahead of the base, before that change
}

func (t text) since(base text) side {
	return side{text: t, list: changes(base.names, t.names)}
}

func (s *side) done() bool { return s.at == len(s.list) }

// next is the line of the base at which the next change begins.
func (s *side) next() int {
	if s.done() {
		return math.MaxInt
	}
	return s.list[s.at].from
}

// span is what a place of the base became on one side.
type span struct {
	from, to int // lines of the side
	changes  int
}

func (s span) still() bool { return s.changes == 0 }

// take passes the changes in a place of the base. No change may cross its bounds.
func (s *side) take(from, to int) span {
	got := span{from: from + s.gap}
	for !s.done() && s.list[s.at].from <= to {
		c := s.list[s.at]
		s.gap = c.sideTo - c.to
		s.at++
		got.changes++
	}
	got.to = to + s.gap
	return got
}
