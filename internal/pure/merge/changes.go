package merge

import "znkr.io/diff"

// change is a range of lines of the base and its replacement on one side. Between two changes
// of a side there is at least one equal line.
type change struct {
	from, to         int // lines of the base
	sideFrom, sideTo int
}

// Work is counted in steps of a few nanoseconds. The exact comparison of two texts with
// n lines together needs about n*n steps, and stops being exact
// if n is more than exactLines.
const (
	maxSteps   = 1 << 27
	exactLines = 1 << 13
)

func estimateSteps(base, side int) int { return (base + side) * min(base+side, exactLines) }

// findChanges compares as exactly as the steps allow, and normalizes the result.
func findChanges(base, side []int32) []change {
	return normalizeChanges(diffBounded(maxSteps, base, side), base, side)
}

// diffBounded compares exactly as long as there are steps left. Texts that are too long for
// that are first split at the lines that occur once in each; a part that is still too long
// becomes one change.
func diffBounded(left int, base, side []int32) []change {
	if estimateSteps(len(base), len(side)) <= left {
		return diffLines(base, side)
	}
	var list []change
	for _, c := range diffLines(base, side, diff.Fast()) {
		n := estimateSteps(c.to-c.from, c.sideTo-c.sideFrom)
		if n > left {
			list = append(list, c)
			continue
		}
		left -= n
		for _, d := range diffLines(base[c.from:c.to], side[c.sideFrom:c.sideTo]) {
			list = append(list, change{c.from + d.from, c.from + d.to, c.sideFrom + d.sideFrom, c.sideFrom + d.sideTo})
		}
	}
	return list
}

func diffLines(base, side []int32, how ...diff.Option) []change {
	hunks := diff.Hunks(base, side, append(how, diff.Context(0))...)
	list := make([]change, len(hunks))
	for i, h := range hunks {
		list[i] = change{h.PosX, h.EndX, h.PosY, h.EndY}
	}
	return list
}

// normalizeChanges gives each change a unique place where several would be equivalent. Lines
// that were only added, or only removed, are shifted down over equal lines to the next change,
// or otherwise up to the one before, if they reach it: a replacement at one place is more
// likely than an insertion and a deletion next to each other. Changes that touch are joined.
func normalizeChanges(list []change, base, side []int32) []change {
	var out []change
	for i, c := range list {
		end, next := len(base), i+1 < len(list)
		if next {
			end = list[i+1].from
		}
		moved := c.shiftDown(base, side, end)
		if n := len(out); n > 0 && (!next || moved.to < end) {
			if last, up := out[n-1], c.shiftUp(base, side, out[n-1].to); up.from == last.to {
				moved = change{last.from, up.to, last.sideFrom, up.sideTo}.shiftDown(base, side, end)
				out = out[:n-1]
			}
		}
		if next && moved.to == end {
			list[i+1].from, list[i+1].sideFrom = moved.from, moved.sideFrom
			continue
		}
		out = append(out, moved)
	}
	return out
}

// shiftDown moves c down over equal lines, not beyond line end of the base.
func (c change) shiftDown(base, side []int32, end int) change {
	grew, shrank := c.from == c.to, c.sideFrom == c.sideTo
	for c.to < end && (grew && side[c.sideFrom] == side[c.sideTo] || shrank && base[c.from] == base[c.to]) {
		c.from, c.to, c.sideFrom, c.sideTo = c.from+1, c.to+1, c.sideFrom+1, c.sideTo+1
	}
	return c
}

// shiftUp moves c up over equal lines, not above line end of the base.
func (c change) shiftUp(base, side []int32, end int) change {
	grew, shrank := c.from == c.to, c.sideFrom == c.sideTo
	for c.from > end && (grew && side[c.sideFrom-1] == side[c.sideTo-1] || shrank && base[c.from-1] == base[c.to-1]) {
		c.from, c.to, c.sideFrom, c.sideTo = c.from-1, c.to-1, c.sideFrom-1, c.sideTo-1
	}
	return c
}
