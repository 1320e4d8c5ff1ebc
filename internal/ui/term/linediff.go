package term

import (
	"strings"

	"github.com/retake-dev/retake"
)

// Edit is one line of a comparison: kept ' ', removed '-' or inserted '+'.
type Edit struct {
	Op   byte
	Line string // with its newline, when it has one
}

// maxEdits bounds the search: beyond it the part that differs is shown as
// removed and inserted as a whole, which is true, but not the shortest.
const maxEdits = 1500

// SplitLines keeps the newline with each line, so that joining gives the text back.
func SplitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// DiffLines returns the edits that turn a into b.
func DiffLines(a, b []string) []Edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := make([]Edit, 0, len(a)+len(b))
	out = appendEdits(out, ' ', a[:head])
	out = append(out, shortestEdits(a[head:len(a)-tail], b[head:len(b)-tail])...)
	return appendEdits(out, ' ', a[len(a)-tail:])
}

func appendEdits(out []Edit, op byte, lines []string) []Edit {
	for _, l := range lines {
		out = append(out, Edit{op, l})
	}
	return out
}

// shortestEdits searches the fewest edits, one more in each round: reach[k] is how far
// into a the best path on diagonal k comes, where k is the place in a less the
// place in b. The rounds are kept to walk back.
func shortestEdits(a, b []string) []Edit {
	limit := min(len(a)+len(b), maxEdits)
	reach := make([]int32, 2*limit+3)
	at := func(k int) *int32 { return &reach[k+limit+1] }
	var rounds [][]int32
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			x := int(*at(k + 1))
			if d > 0 && k != -d && (k == d || *at(k - 1) >= *at(k + 1)) {
				x = int(*at(k - 1)) + 1
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			*at(k) = int32(x)
			if x >= len(a) && x-k >= len(b) {
				return traceEdits(a, b, rounds, d)
			}
		}
		rounds = append(rounds, append([]int32(nil), reach[limit+1-d:limit+2+d]...))
	}
	return appendEdits(appendEdits(nil, '-', a), '+', b)
}

// traceEdits follows the rounds from the end; rounds[d][k+d] is diagonal k of round d.
func traceEdits(a, b []string, rounds [][]int32, d int) []Edit {
	var out []Edit
	x, y := len(a), len(b)
	for ; d > 0; d-- {
		before := rounds[d-1]
		at := func(k int) int {
			if i := k + d - 1; i >= 0 && i < len(before) {
				return int(before[i])
			}
			return -1
		}
		k := x - y
		from := k + 1
		if k != -d && (k == d || at(k-1) >= at(k+1)) {
			from = k - 1
		}
		px := at(from)
		py := px - from
		for x > px && y > py {
			x, y = x-1, y-1
			out = append(out, Edit{' ', a[x]})
		}
		if from < k {
			x--
			out = append(out, Edit{'-', a[x]})
		} else {
			y--
			out = append(out, Edit{'+', b[y]})
		}
	}
	for x > 0 {
		x--
		out = append(out, Edit{' ', a[x]})
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// hunk is a run of edits with a few kept lines around it. The places count from 1.
type hunk struct {
	before, after int
	edits         []Edit
}

// asHunk says where a hunk is on both sides.
func (h hunk) asHunk() retake.Hunk {
	n := countLines(h.edits)
	return retake.Hunk{OldStart: h.before, OldLines: len(h.edits) - int(n.Plus), NewStart: h.after, NewLines: len(h.edits) - int(n.Minus)}
}

const contextLines = 3

// splitHunks leaves out kept lines that are far from any change.
func splitHunks(edits []Edit) []hunk {
	var out []hunk
	x, y := 1, 1
	start, end := 0, -1 // of the newest hunk; end lies behind its last change
	for i, e := range edits {
		if e.Op != ' ' {
			if end < 0 || i-end > 2*contextLines {
				start = max(i-contextLines, 0)
				out = append(out, hunk{before: x - (i - start), after: y - (i - start)})
			}
			end = i + 1
			out[len(out)-1].edits = edits[start:min(end+contextLines, len(edits))]
		}
		if e.Op != '+' {
			x++
		}
		if e.Op != '-' {
			y++
		}
	}
	return out
}
