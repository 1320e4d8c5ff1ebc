package term

// rungs are the rows of a timeline before they are drawn, with their places in the graph.
func (v View) rungs(folded bool) ([]rung, []spot) {
	us := foldQuiet(v.Timeline, v.Forks)
	if v.Tree {
		grown(us, v.Goals)
		us = withForks(us, v.Forks)
	} else {
		for i := range us {
			us[i].parent = i + 1
		}
		us[len(us)-1].parent = -1
	}
	ts, tip := twigs(us)
	spots := layout(ts, tip)
	if folded && v.Tree {
		us = foldLeft(us, spots)
		ts, tip = twigs(us)
		spots = layout(ts, tip)
	}
	return us, spots
}

// foldLeft puts each run of rungs that were left behind into one, on the line of those
// that were not, unless that saves no line. Forks that grew from what was left go with it,
// and are counted.
func foldLeft(us []rung, spots []spot) []rung {
	gone := goneRuns(us, spots)
	place := make([]int, len(us)+1)
	var out []rung
	var aside []bool // it was left, and not folded
	for i, u := range us {
		if !gone[i] {
			place[i] = len(out)
			out, aside = append(out, u), append(aside, spots[i].left)
			continue
		}
		if i == 0 || !gone[i-1] {
			out, aside = append(out, rung{left: true}), append(aside, false)
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
		if p := out[i].parent; p >= 0 && !out[i].left {
			out[i].parent = place[p]
		}
	}
	thread(out, aside)
	return out
}

// goneRuns tells which rungs are folded.
func goneRuns(us []rung, spots []spot) []bool {
	gone := make([]bool, len(us))
	for i := len(us) - 1; i >= 0; i-- { // what a fork grew from is further down
		p := us[i].parent
		gone[i] = spots[i].left || us[i].checkpoints == nil && p >= 0 && p < len(us) && gone[p]
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

// thread puts each fold between the two checkpoints of the line that it lies between.
func thread(us []rung, aside []bool) {
	line := -1 // the last rung of the line that the files stand on
	for i := range us {
		switch u := &us[i]; {
		case u.left && line >= 0:
			u.parent, us[line].parent = us[line].parent, i
			line = i
		case u.left:
			u.parent = i + 1
			line = i
		case u.checkpoints != nil && !aside[i]:
			line = i
		}
	}
}
