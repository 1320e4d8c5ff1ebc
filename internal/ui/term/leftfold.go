package term

// timelineEntries returns the rows of a timeline before they are drawn, with their places in
// the graph.
func (v TimelineView) timelineEntries(folded bool) ([]timelineEntry, []graphCell) {
	us := foldQuiet(v.Timeline, v.Forks)
	if v.Tree {
		setParents(us, v.Titles)
		us = insertForks(us, v.Forks)
	} else {
		for i := range us {
			us[i].parent = i + 1
		}
		us[len(us)-1].parent = -1
	}
	ts, tip := graphRows(us)
	spots := layoutGraph(ts, tip)
	if folded && v.Tree {
		us = foldAbandoned(us, spots)
		ts, tip = graphRows(us)
		spots = layoutGraph(ts, tip)
	}
	return us, spots
}

// foldAbandoned folds each run of abandoned entries into one, placed on the line that was not
// abandoned, unless that saves no row. Forks of abandoned checkpoints are folded with them and
// counted.
func foldAbandoned(us []timelineEntry, spots []graphCell) []timelineEntry {
	gone := foldableRuns(us, spots)
	place := make([]int, len(us)+1)
	var out []timelineEntry
	var aside []bool // it was left, and not folded
	for i, u := range us {
		if !gone[i] {
			place[i] = len(out)
			out, aside = append(out, u), append(aside, spots[i].abandoned)
			continue
		}
		if i == 0 || !gone[i-1] {
			out, aside = append(out, timelineEntry{abandoned: true}), append(aside, false)
		}
		at := len(out) - 1
		place[i] = at
		out[at].checkpoints = append(out[at].checkpoints[:len(out[at].checkpoints):len(out[at].checkpoints)], u.checkpoints...)
		switch {
		case u.fork != nil:
			out[at].more++
		case u.checkpoints == nil:
			out[at].more += u.more
		}
	}
	place[len(us)] = len(out)
	for i := range out {
		if p := out[i].parent; p >= 0 && !out[i].abandoned {
			out[i].parent = place[p]
		}
	}
	placeFolds(out, aside)
	return out
}

// foldableRuns reports for each entry whether it is folded.
func foldableRuns(us []timelineEntry, spots []graphCell) []bool {
	gone := make([]bool, len(us))
	for i := len(us) - 1; i >= 0; i-- { // what a fork grew from is further down
		p := us[i].parent
		gone[i] = spots[i].abandoned || us[i].checkpoints == nil && p >= 0 && p < len(us) && gone[p]
	}
	for i := 0; i < len(us); {
		end, lines := i, 0
		for ; end < len(us) && gone[end]; end++ {
			lines++
			for _, c := range us[end].checkpoints[:min(len(us[end].checkpoints), 1)] {
				lines += len(c.Effects)
			}
		}
		if lines == 1 {
			gone[i] = false
		}
		i = max(end, i+1)
	}
	return gone
}

// placeFolds puts each fold between the two checkpoints of the main line that it lies between.
func placeFolds(us []timelineEntry, aside []bool) {
	line := -1 // the last entry of the main line
	for i := range us {
		switch u := &us[i]; {
		case u.abandoned && line >= 0:
			u.parent, us[line].parent = us[line].parent, i
			line = i
		case u.abandoned:
			u.parent = i + 1
			line = i
		case u.checkpoints != nil && !aside[i]:
			line = i
		}
	}
}
