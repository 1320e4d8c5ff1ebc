package cli

import "github.com/retake-dev/retake"

// View is a picture, with fields that tests can see.
type View struct {
	retake.Timeline
	Newest int64
	Goals  map[retake.CheckpointID]string
	Forks  []ForkLine
	Tree   bool
	Now    *retake.Counts
	Level  string
}

// ForkLine is a forkLine.
type ForkLine struct {
	State   retake.WorkspaceState
	Finding retake.Finding
	Adopted []retake.CheckpointID
}

// RenderView draws a timeline with everything.
func RenderView(l Look, v View) string {
	w := picture{Timeline: v.Timeline, newest: v.Newest, goals: goals{}, tree: v.Tree, now: v.Now, level: v.Level}
	for _, c := range v.Checkpoints {
		w.goals[c.ID] = numeral(c.Number)
	}
	for id, name := range v.Goals {
		w.goals[id] = name
	}
	for _, f := range v.Forks {
		w.forks = append(w.forks, forkLine{WorkspaceState: f.State, finding: f.Finding, adopted: f.Adopted})
	}
	return renderTimeline(l, w)
}

// Card is a card, with all that is read for it.
type Card struct {
	Checkpoint    retake.Checkpoint
	Pins          []retake.Pin
	Story         retake.Story
	Verifications []retake.Verification
	Others        []retake.Verification
	Finding       retake.Finding
	State         *retake.State
}

// RenderCard draws a moment as `show` does.
func RenderCard(l Look, c Card) string {
	return renderCard(l, card{
		Checkpoint: c.Checkpoint, Parent: c.Story.From, Pins: c.Pins, Story: c.Story, Verifications: c.Verifications,
		finding: c.Finding, others: c.Others, state: c.State,
	})
}

// RenderFacts is what `diff --env` says.
var RenderFacts = renderFacts

// Twig is a twig.
type Twig struct {
	Parent, Into int
	Fork         bool
}

// Spot is a spot; lines are what goes on below it, by lane.
type Spot struct {
	Lane         int
	Left, Loose  bool
	Joins, Opens []int
	Through      []bool
	Below        []bool
}

// Layout is layout.
func Layout(ts []Twig, tip int) []Spot {
	var in []twig
	for _, t := range ts {
		in = append(in, twig{parent: t.Parent, into: t.Into, fork: t.Fork})
	}
	var out []Spot
	for _, s := range layout(in, tip) {
		o := Spot{Lane: s.lane, Left: s.left, Loose: s.loose, Joins: s.joins, Opens: s.opens}
		for k := range mostLanes {
			o.Through, o.Below = append(o.Through, s.through[k] != nothing), append(o.Below, s.below[k] != nothing)
		}
		out = append(out, o)
	}
	return out
}

// DrawGraph draws a layout with a ring at each row, and what lies below it.
func DrawGraph(l Look, ts []Twig, tip int) (rows, between []string) {
	var in []twig
	for _, t := range ts {
		in = append(in, twig{parent: t.Parent, into: t.Into, fork: t.Fork})
	}
	spots := layout(in, tip)
	for _, s := range spots {
		rows = append(rows, l.graphRow(s, l.g.Ring, lanesOf(spots)))
		between = append(between, l.graphBelow(s, "", lanesOf(spots)))
	}
	return rows, between
}

// RenderStat is what `diff --stat` says of changes, with what a story knows of them.
func RenderStat(l Look, d retake.Comparison, lines map[string][2]int64, st *retake.Story, known [2][]retake.Answer) string {
	counts := map[string]lineCount{}
	for path, n := range lines {
		counts[path] = lineCount{plus: n[0], minus: n[1]}
	}
	gs := groups(d.Changes)
	return renderEnds(l, d, known) + renderStatNoted(l, gs, counts, notesOf(l, st)) + "\n" + renderTotals(l, gs) + toRead(l, st) + "\n"
}
