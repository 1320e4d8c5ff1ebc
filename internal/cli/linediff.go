package cli

import "strings"

// edit is one line of a comparison: kept ' ', removed '-' or inserted '+'.
type edit struct {
	op   byte
	line string // with its newline, when it has one
}

// maxEdits bounds the search: beyond it the part that differs is shown as
// removed and inserted as a whole, which is true, but not the shortest.
const maxEdits = 1500

// splitLines keeps the newline with each line, so that joining gives the text back.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// diffLines answers edits that turn a into b: the lines that are kept or removed
// are a, those that are kept or inserted are b.
func diffLines(a, b []string) []edit {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out := make([]edit, 0, len(a)+len(b))
	out = appendAll(out, ' ', a[:head])
	out = append(out, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	return appendAll(out, ' ', a[len(a)-tail:])
}

func appendAll(out []edit, op byte, lines []string) []edit {
	for _, l := range lines {
		out = append(out, edit{op, l})
	}
	return out
}

// middle searches the fewest edits, one more in each round: reach[k] is how far
// into a the best path on diagonal k comes, where k is the place in a less the
// place in b. The rounds are kept to walk back.
func middle(a, b []string) []edit {
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
				return walkBack(a, b, rounds, d)
			}
		}
		rounds = append(rounds, append([]int32(nil), reach[limit+1-d:limit+2+d]...))
	}
	return appendAll(appendAll(nil, '-', a), '+', b)
}

// walkBack follows the rounds from the end; rounds[d][k+d] is diagonal k of round d.
func walkBack(a, b []string, rounds [][]int32, d int) []edit {
	var out []edit
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
			out = append(out, edit{' ', a[x]})
		}
		if from < k {
			x--
			out = append(out, edit{'-', a[x]})
		} else {
			y--
			out = append(out, edit{'+', b[y]})
		}
	}
	for x > 0 {
		x--
		out = append(out, edit{' ', a[x]})
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// hunk is a run of edits with a few kept lines around it. The places count from 1.
type hunk struct {
	before, after int
	edits         []edit
}

const around = 3

// hunks leaves out kept lines that are far from any change.
func hunks(edits []edit) []hunk {
	var out []hunk
	x, y := 1, 1
	start, end := 0, -1 // of the newest hunk; end lies behind its last change
	for i, e := range edits {
		if e.op != ' ' {
			if end < 0 || i-end > 2*around {
				start = max(i-around, 0)
				out = append(out, hunk{before: x - (i - start), after: y - (i - start)})
			}
			end = i + 1
			out[len(out)-1].edits = edits[start:min(end+around, len(edits))]
		}
		if e.op != '+' {
			x++
		}
		if e.op != '-' {
			y++
		}
	}
	return out
}
