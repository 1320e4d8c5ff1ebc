package mcp

import (
	"fmt"
	"slices"
	"strings"
)

// lineEdit is one line of a comparison: kept ' ', removed '-' or inserted '+'.
type lineEdit struct {
	op   byte
	line string
}

// splitLines keeps the newline with each line: a last line without one is different.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	return slices.DeleteFunc(lines, func(l string) bool { return l == "" })
}

// maxCompareDepth bounds the recursion: texts can be made so that each round finds a single
// line.
const maxCompareDepth = 48

// compareLines returns edits that turn a into b: kept and removed lines are a, kept and
// inserted ones are b. Lines that occur exactly once in both, in the same order, anchor the
// comparison; the parts between them are compared recursively. The rest is removed and
// inserted as a whole, which is correct but not always shortest.
func compareLines(a, b []string, depth int) []lineEdit {
	var out []lineEdit
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		out = append(out, lineEdit{' ', a[head]})
		head++
	}
	a, b = a[head:], b[head:]
	tail := 0
	for tail < len(a) && tail < len(b) && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	out = append(out, between(a[:len(a)-tail], b[:len(b)-tail], depth)...)
	return appendEdits(out, ' ', a[len(a)-tail:])
}

// between compares parts whose first and last lines differ.
func between(a, b []string, depth int) []lineEdit {
	var held []lineAnchor
	if depth < maxCompareDepth {
		held = findAnchors(a, b)
	}
	if len(held) == 0 {
		return appendEdits(appendEdits(nil, '-', a), '+', b)
	}
	var out []lineEdit
	x, y := 0, 0
	for _, h := range held {
		out = append(out, compareLines(a[x:h.x], b[y:h.y], depth+1)...)
		out = append(out, lineEdit{' ', a[h.x]})
		x, y = h.x+1, h.y+1
	}
	return append(out, compareLines(a[x:], b[y:], depth+1)...)
}

func appendEdits(out []lineEdit, op byte, lines []string) []lineEdit {
	for _, l := range lines {
		out = append(out, lineEdit{op, l})
	}
	return out
}

// lineAnchor is one line that both texts have, by its index in each.
type lineAnchor struct{ x, y int }

// findAnchors returns the longest sequence of unique common lines that increases in both
// texts.
func findAnchors(a, b []string) []lineAnchor {
	inB := uniqueLines(b)
	var all []lineAnchor
	for line, x := range uniqueLines(a) {
		if y, ok := inB[line]; ok {
			all = append(all, lineAnchor{x, y})
		}
	}
	slices.SortFunc(all, func(p, q lineAnchor) int { return p.x - q.x })
	var ends []int                // ends[n] is the spot with the lowest y that n others can lead to
	back := make([]int, len(all)) // the spot before each
	for i, s := range all {
		n, _ := slices.BinarySearchFunc(ends, s.y, func(e, y int) int { return all[e].y - y })
		if back[i] = -1; n > 0 {
			back[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	out := make([]lineAnchor, len(ends))
	for n, i := len(ends)-1, lastOf(ends); n >= 0; n, i = n-1, back[i] {
		out[n] = all[i]
	}
	return out
}

func lastOf(ends []int) int {
	if len(ends) == 0 {
		return -1
	}
	return ends[len(ends)-1]
}

// uniqueLines returns the lines that occur exactly once, with their indexes.
func uniqueLines(lines []string) map[string]int {
	at, more := make(map[string]int, len(lines)), map[string]bool{}
	for i, l := range lines {
		if _, ok := at[l]; ok {
			more[l] = true
		}
		at[l] = i
	}
	for l := range more {
		delete(at, l)
	}
	return at
}

const contextLines = 3 // kept lines beside a change

// formatHunks writes the edits as unified hunks, with few kept lines around each change.
// What exceeds most bytes is counted.
func formatHunks(edits []lineEdit, most int) (text string, left int) {
	var b strings.Builder
	x, y := 1, 1
	for i := 0; i < len(edits); {
		if edits[i].op == ' ' && !isNearChange(edits, i) {
			x, y, i = x+1, y+1, i+1
			continue
		}
		end := i
		for end < len(edits) && (edits[end].op != ' ' || isNearChange(edits, end)) {
			end++
		}
		part := edits[i:end]
		removed, inserted := countLines(part)
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", x, removed, y, inserted)
		for n, e := range part {
			line := string(e.op) + escapeLines(strings.TrimSuffix(e.line, "\n")) + "\n"
			if b.Len()+len(line) > most {
				return b.String(), countChanged(part[n:]) + countChanged(edits[end:])
			}
			b.WriteString(line)
		}
		x, y, i = x+removed, y+inserted, end
	}
	return b.String(), 0
}

func isNearChange(edits []lineEdit, i int) bool {
	return countChanged(edits[max(i-contextLines, 0):min(i+contextLines+1, len(edits))]) > 0
}

func countChanged(edits []lineEdit) int {
	n := 0
	for _, e := range edits {
		if e.op != ' ' {
			n++
		}
	}
	return n
}

// countLines returns how many lines of the two texts a part covers.
func countLines(part []lineEdit) (before, after int) {
	for _, e := range part {
		if e.op != '+' {
			before++
		}
		if e.op != '-' {
			after++
		}
	}
	return before, after
}
