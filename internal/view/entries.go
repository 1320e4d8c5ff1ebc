package view

import (
	"slices"

	"github.com/retake-dev/retake"
)

// entry is one row before it is made: a checkpoint, a run of quiet ones, replaced ones, or a
// fork.
type entry struct {
	checkpoints []retake.Checkpoint // newest first; one, or a run
	fork        *Fork
	more        int                // forks that are not shown one by one
	origin      *retake.Checkpoint // of these forks
	replaced    bool               // checkpoints that a restore left behind, and the forks of them, folded
	parent      int                // as in graphRow
}

// Fork is a fork as a lane of its origin.
type Fork struct {
	retake.WorkspaceState
	Finding retake.Finding
	Adopted []retake.CheckpointID // checkpoints of the origin that took it in
}

// entries returns the rows before they are made, with their places in the graph.
func (in *Input) entries(titles Titles) ([]entry, []graphCell) {
	open := make(map[string]bool, len(in.Open))
	for _, key := range in.Open {
		open[key] = true
	}
	es := in.singleEntries()
	if !in.Flat {
		es = in.foldQuiet(open)
	}
	if in.Tree {
		setParents(es, titles)
		es = insertForks(es, in.Forks)
	} else {
		for i := range es {
			es[i].parent = i + 1
		}
		es[len(es)-1].parent = -1
	}
	rows, tip := graphRows(es)
	cells := layoutGraph(rows, tip)
	if in.FoldReplaced && in.Tree {
		es = foldReplaced(es, cells, open)
		rows, tip = graphRows(es)
		cells = layoutGraph(rows, tip)
	}
	return es, cells
}

// singleEntries returns one entry for each checkpoint.
func (in *Input) singleEntries() []entry {
	out := make([]entry, 0, len(in.Checkpoints))
	for i := range in.Checkpoints {
		out = append(out, entry{checkpoints: in.Checkpoints[i : i+1], parent: -1})
	}
	return out
}

// setParents sets the parent of each entry. A parent that is not shown is taken to be the
// checkpoint right before, unless it is known to be an older one.
func setParents(es []entry, titles Titles) {
	at := map[retake.CheckpointID]int{}
	for i, e := range es {
		at[e.checkpoints[0].ID] = i
	}
	for i := range es {
		c := &es[i].checkpoints[len(es[i].checkpoints)-1]
		row, shown := at[c.Parent]
		switch {
		case shown && row > i:
			es[i].parent = row
		case i == len(es)-1 && (c.Parent == "" || c.Trigger == retake.TriggerFork):
			es[i].parent = -1
		case grewFromTarget(c) && titles.has(c.Parent):
			es[i].parent = len(es)
		default:
			es[i].parent = i + 1
		}
	}
}

// grewFromTarget reports whether the parent of a checkpoint is the one it was restored to.
func grewFromTarget(c *retake.Checkpoint) bool { return c.Return != nil && c.Return.Target == c.Parent }

// MaxForksShown is how many forks of one checkpoint have a row.
const MaxForksShown = MaxLanes - 1

// compareForks sorts adopted forks first, then the newest.
func compareForks(a, b Fork) int {
	if x, y := len(a.Adopted) > 0, len(b.Adopted) > 0; x != y {
		if x {
			return -1
		}
		return 1
	}
	return b.Latest.Time.Compare(a.Latest.Time)
}

// ForksOf returns the forks of checkpoints that are shown: those that are alive, and those that
// were adopted.
func ForksOf(all []retake.WorkspaceState, shown []retake.Checkpoint, adopted map[retake.WorkspaceID][]retake.CheckpointID) []Fork {
	there := make(map[retake.CheckpointID]bool, len(shown))
	for i := range shown {
		there[shown[i].ID] = true
	}
	var out []Fork
	for _, f := range all {
		if f.Origin != nil && there[f.Origin.Checkpoint] && f.Latest != nil && (!f.Gone && f.Ended == nil || adopted[f.ID] != nil) {
			out = append(out, Fork{WorkspaceState: f, Adopted: adopted[f.ID]})
		}
	}
	slices.SortStableFunc(out, compareForks)
	return out
}

// insertForks inserts the rows of forks above the checkpoints they started from.
func insertForks(es []entry, forks []Fork) []entry {
	if len(forks) == 0 {
		return es
	}
	by := map[retake.CheckpointID][]Fork{}
	for _, f := range forks {
		if f.Origin != nil && f.Latest != nil {
			by[f.Origin.Checkpoint] = append(by[f.Origin.Checkpoint], f)
		}
	}
	place := make([]int, len(es)+1) // where an entry is after the rows are put in
	out := make([]entry, 0, len(es)+len(forks))
	for i, e := range es {
		mine := by[e.checkpoints[0].ID]
		slices.SortStableFunc(mine, compareForks)
		shown := mine[:min(len(mine), MaxForksShown)]
		if more := len(mine) - len(shown); more > 0 {
			out = append(out, entry{more: more, origin: &e.checkpoints[0], parent: -i - 2})
		}
		for k := range shown {
			out = append(out, entry{fork: &shown[k], parent: -i - 2})
		}
		place[i] = len(out)
		out = append(out, e)
	}
	place[len(es)] = len(out)
	for i := range out {
		switch p := out[i].parent; {
		case p < -1:
			out[i].parent = place[-p-2]
		case p >= 0:
			out[i].parent = place[p]
		}
	}
	return out
}

// graphRows returns the entries as the graph needs them, and the row of the newest checkpoint.
func graphRows(es []entry) (out []graphRow, tip int) {
	out = make([]graphRow, 0, len(es))
	at := map[retake.CheckpointID]int{}
	tip = -1
	for i, e := range es {
		if e.checkpoints != nil {
			at[e.checkpoints[0].ID] = i
			if tip < 0 {
				tip = i
			}
		}
	}
	for i, e := range es {
		t := graphRow{parent: e.parent, adoptedAt: -1, fork: e.checkpoints == nil}
		if e.fork != nil {
			for _, id := range e.fork.Adopted {
				if row, ok := at[id]; ok && row < i {
					t.adoptedAt = row
				}
			}
		}
		out = append(out, t)
	}
	return out, tip
}
