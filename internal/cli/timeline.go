package cli

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// From this many columns on, flags, who and facts have columns of their own.
const wideFrom = 120

const (
	filesColumns  = 6
	leadColumns   = 10
	verifyColumns = 8
	verifyMost    = 12 // of a narrow timeline
)

// picture is a part of a timeline with all that its picture needs.
type picture struct {
	retake.Timeline
	newest int64 // the number of the checkpoint on which the files stand
	goals  goals
	forks  []forkLine
	tree   bool           // no moment in between is left out
	now    *retake.Counts // what changed since the newest; nil: not known
	level  string         // of protection; empty: not known
}

// verified reports whether anybody ever asked whether a moment works.
func (v picture) verified() bool {
	for _, f := range v.Findings {
		if len(f.Answers) > 0 {
			return true
		}
	}
	return v.Good != nil
}

const leftBehind = "left behind"

// renderTimeline draws a timeline, newest on top.
func renderTimeline(l look, v picture) string {
	head := timelineHead(l, v)
	if len(v.Checkpoints) == 0 {
		return head + "\nNo moment is in this part of the timeline.\n"
	}
	rows, lanes := l.rows(v)
	c := fit(l, rows, lanes, v.verified())
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", head, l.dim(c.head()))
	for _, r := range rows {
		b.WriteString(l.drawRow(c, r))
		b.WriteString(l.effectRows(c, r))
	}
	return b.String()
}

// rows are the rungs with their places in the graph, and how many lanes it has.
func (l look) rows(v picture) (rows []row, lanes int) {
	us := foldQuiet(v.Timeline, v.forks)
	if v.tree {
		grown(us, v.goals)
		us = withForks(us, v.forks)
	} else {
		for i := range us {
			us[i].parent = i + 1
		}
		us[len(us)-1].parent = -1
	}
	ts, tip := twigs(us)
	spots := layout(ts, tip)
	behind := map[retake.CheckpointID]bool{}
	if !v.tree {
		behind = behindOf(v.Checkpoints)
	}
	if v.now != nil && v.now.Total() > 0 {
		rows = append(rows, l.nowRow(v))
	}
	for i, u := range us {
		r := l.rowOf(u, v)
		r.spot = spots[i]
		if u.moments != nil && behind[u.moments[0].ID] {
			r.left, r.loose = true, true
		}
		rows = append(rows, r)
	}
	return rows, lanesOf(spots)
}

// nowRow is what changed since the newest moment.
func (l look) nowRow(v picture) row {
	n := *v.now
	return row{
		node: l.g.Dots, quiet: true, when: "now", said: true, files: screen.Count(n.Total()),
		title:  fmt.Sprintf("%s changed since %d", files(n.Total()), v.newest),
		points: countPoints(retake.Checkpoint{Changed: n}),
	}
}

// behindOf are the moments that do not lie on the way to the newest one. Where
// that way leaves what is shown, nothing is said.
func behindOf(cs []retake.Checkpoint) map[retake.CheckpointID]bool {
	behind := map[retake.CheckpointID]bool{}
	if len(cs) == 0 {
		return behind
	}
	next := cs[0].ID
	var passed []retake.CheckpointID
	for _, c := range cs { // a parent is always older
		if c.ID != next {
			passed = append(passed, c.ID)
			continue
		}
		for _, id := range passed {
			behind[id] = true
		}
		passed, next = nil, c.Parent
	}
	return behind
}

// timelineHead is the answer first: which moment is good, and since when all is protected.
func timelineHead(l look, v picture) string {
	name, root := screen.Escape(v.Workspace.Name), l.path(v.Workspace.Root)
	good := ""
	switch {
	case v.Good != nil:
		good = l.green(l.g.Yes) + " good is " + l.bold(fmt.Sprint(v.Good.Number))
		if l.width >= wideFrom {
			good += " " + l.dim(l.clock(v.Good.Time))
		}
	case v.verified():
		good = l.dim("no good yet")
	}
	rest := "protected since " + l.clock(v.Workspace.Created)
	if l.width >= wideFrom {
		if v.level != "" {
			rest += ", " + screen.Escape(v.level)
		}
		rest = l.facts(rest, moments(v.Total))
	}
	right := l.dim(rest)
	if good != "" {
		right = good + l.dim(l.sep()+rest)
	}
	width := screen.Width(name) + 2 + screen.Width(root)
	if width+2+l.shownWidth(right) > l.width {
		return fmt.Sprintf("%s  %s\n%s\n", l.bold(name), l.dim(root), right)
	}
	return l.ends(l.bold(name)+"  "+l.dim(root), right, width, l.shownWidth(right)) + "\n"
}
