package view

import "github.com/retake-dev/retake"

// foldReplaced folds each run of replaced entries into one, placed on the line that was not
// replaced, unless that saves no row. Forks of replaced checkpoints are folded with them and
// counted.
func foldReplaced(es []entry, cells []graphCell, open map[string]bool) []entry {
	gone := foldableRuns(es, cells, open)
	place := make([]int, len(es)+1)
	var out []entry
	var aside []bool // it was left, and not folded
	for i, e := range es {
		if !gone[i] {
			place[i] = len(out)
			out, aside = append(out, e), append(aside, cells[i].replaced)
			continue
		}
		if i == 0 || !gone[i-1] {
			out, aside = append(out, entry{replaced: true}), append(aside, false)
		}
		at := len(out) - 1
		place[i] = at
		out[at].checkpoints = append(out[at].checkpoints, e.checkpoints...)
		switch {
		case e.fork != nil:
			out[at].more++
		case e.checkpoints == nil:
			out[at].more += e.more
		}
	}
	place[len(es)] = len(out)
	for i := range out {
		if p := out[i].parent; p >= 0 && !out[i].replaced {
			out[i].parent = place[p]
		}
	}
	placeFolds(out, aside)
	return out
}

// foldableRuns reports for each entry whether it is folded.
func foldableRuns(es []entry, cells []graphCell, open map[string]bool) []bool {
	gone := make([]bool, len(es))
	for i := len(es) - 1; i >= 0; i-- { // what a fork grew from is further down
		p := es[i].parent
		gone[i] = cells[i].replaced || es[i].checkpoints == nil && p >= 0 && p < len(es) && gone[p]
	}
	for i := 0; i < len(es); {
		end, lines := i, 0
		for ; end < len(es) && gone[end]; end++ {
			lines++
			if cs := es[end].checkpoints; len(cs) > 0 {
				lines += len(cs[0].Effects)
			}
		}
		if lines == 1 || end > i && open[foldKey(retake.RowReplaced, es[end-1].checkpoints)] {
			clear(gone[i:end])
		}
		i = max(end, i+1)
	}
	return gone
}

// placeFolds puts each fold between the two checkpoints of the main line that it lies between.
func placeFolds(es []entry, aside []bool) {
	line := -1 // the last entry of the main line
	for i := range es {
		switch e := &es[i]; {
		case e.replaced && line >= 0:
			e.parent, es[line].parent = es[line].parent, i
			line = i
		case e.replaced:
			e.parent = i + 1
			line = i
		case e.checkpoints != nil && !aside[i]:
			line = i
		}
	}
}
