package merge

import (
	"bytes"
	"math"
)

var newline = []byte{'\n'}

// lineText is a text in lines. Equal lines of all texts of one merge have equal ids.
type lineText struct {
	bytes   []byte
	ends    []int   // where line i ends is ends[i+1]; ends[0] is 0
	lineIDs []int32 // one for each line
}

// lineInterner assigns an id to each distinct line.
type lineInterner map[string]int32

func (n lineInterner) splitLines(b []byte) lineText {
	t := lineText{bytes: b, ends: []int{0}}
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
		t.lineIDs, t.ends = append(t.lineIDs, name), append(t.ends, end)
		at = end
	}
	return t
}

// mergeSide is one of the two changed texts, with its changes since the base.
type mergeSide struct {
	lineText
	changes    []change
	index      int // of the next change
	lineOffset int // line of this side minus line of the base, before that change
}

func (t lineText) diffFrom(base lineText) mergeSide {
	return mergeSide{lineText: t, changes: findChanges(base.lineIDs, t.lineIDs)}
}

func (s *mergeSide) isDone() bool { return s.index == len(s.changes) }

// nextLine returns the line of the base at which the next change begins.
func (s *mergeSide) nextLine() int {
	if s.isDone() {
		return math.MaxInt
	}
	return s.changes[s.index].from
}

// sideRange is what a region of the base became on one side.
type sideRange struct {
	from, to int // lines of the side
	changes  int
}

func (s sideRange) isUnchanged() bool { return s.changes == 0 }

// consumeRange passes the changes in a region of the base. No change may cross its bounds.
func (s *mergeSide) consumeRange(from, to int) sideRange {
	got := sideRange{from: from + s.lineOffset}
	for !s.isDone() && s.changes[s.index].from <= to {
		c := s.changes[s.index]
		s.lineOffset = c.sideTo - c.to
		s.index++
		got.changes++
	}
	got.to = to + s.lineOffset
	return got
}
