package term

import (
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// From this many columns on, flags, who and facts have columns of their own.
const WideFrom = 120

const (
	filesColumns  = 6
	leadColumns   = 10
	verifyColumns = 8
	verifyMost    = 12 // of a narrow timeline
)

// TimelineView is a part of a timeline with everything needed to draw it.
type TimelineView struct {
	retake.Timeline
	Newest         int64 // the number of the checkpoint on which the files stand
	Titles         TargetTitles
	Forks          []ForkLine
	Earlier        []retake.Checkpoint // not shown: they hold the work of turns that are
	Tree           bool                // no checkpoint in between is left out
	Now            *retake.Counts      // what changed since the newest; nil: not known
	NowGist        *retake.Gist        // the same in words; nil: there are only counts
	PresentUnknown bool                // it was asked what changed, and there is no answer yet
	Level          string              // of protection; empty: not known
}

// hasVerifications reports whether anybody ever asked whether a checkpoint works.
func (v TimelineView) hasVerifications() bool {
	for _, f := range v.Findings {
		if len(f.Answers) > 0 {
			return true
		}
	}
	return v.Good != nil
}

const abandonedText = "replaced"

// RenderTimeline draws a timeline, newest on top.
func RenderTimeline(l Style, v TimelineView) string {
	head := timelineHead(l, v)
	if len(v.Checkpoints) == 0 {
		return head + "\nNo checkpoint is in this part of the timeline.\n"
	}
	rows, lanes := l.timelineRows(v)
	c := fitColumns(l, rows, lanes, v.hasVerifications())
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", head, l.Dim(c.head()))
	for _, r := range rows {
		b.WriteString(l.drawRow(c, r))
		b.WriteString(l.effectRows(c, r))
	}
	return b.String()
}

// timelineRows are the rungs with their places in the graph, and how many lanes it has.
func (l Style) timelineRows(v TimelineView) (rows []row, lanes int) {
	at := v.parentLookup()
	us, spots := v.timelineEntries(false)
	behind := v.abandonedCheckpoints()
	if v.hasNow() {
		rows = append(rows, l.nowRow(v))
	}
	for i, u := range us {
		r := l.entryRow(u, v)
		r.graphCell = spots[i]
		if len(u.checkpoints) == 1 {
			r.setIdleTurn(l, u.checkpoints[0], at)
		}
		if u.checkpoints != nil && behind[u.checkpoints[0].ID] {
			r.abandoned, r.detached = true, true
		}
		rows = append(rows, r)
	}
	return rows, countLanes(spots)
}

// hasNow reports whether the files are not, or may not be, as in the newest checkpoint.
func (v TimelineView) hasNow() bool {
	return v.Now != nil && v.Now.Total() > 0 || v.Now == nil && v.PresentUnknown
}

// nowRow is what changed since the newest checkpoint. While that is not known it says so: without
// a row, the newest checkpoint would look like the present.
func (l Style) nowRow(v TimelineView) row {
	r := row{node: l.Glyphs.Dots, quiet: true, when: "now", said: true}
	if v.Now == nil {
		r.title, r.files = "still checking: retake status", l.Glyphs.Dash
		return r
	}
	r.setChanges(l, retake.Checkpoint{Changed: *v.Now}, v.NowGist)
	r.files, r.title = termtext.Count(v.Now.Total()), nowTitle(*v.Now, v.Newest)
	return r
}

// nowTitle calls deletions deletions: they are what somebody looks for.
func nowTitle(n retake.Counts, since int64) string {
	kept := n.Total() - n.Deleted
	switch {
	case n.Deleted == 0:
		return fmt.Sprintf("%s changed since %d", CountFiles(kept), since)
	case kept == 0:
		return fmt.Sprintf("%s deleted since %d", CountFiles(n.Deleted), since)
	}
	return fmt.Sprintf("%s deleted, %s changed since %d", termtext.Count(n.Deleted), termtext.Count(kept), since)
}

// abandonedCheckpoints are the checkpoints that do not lie on the way to the newest one, where that is no
// picture of lanes. Where the way leaves what is shown, nothing is said.
func (v TimelineView) abandonedCheckpoints() map[retake.CheckpointID]bool {
	behind, cs := map[retake.CheckpointID]bool{}, v.Checkpoints
	if v.Tree || len(cs) == 0 || cs[0].Number != v.Newest {
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

// timelineHead is the answer first: which checkpoint is good, and since when all is protected.
func timelineHead(l Style, v TimelineView) string {
	name, root := termtext.Escape(v.Workspace.Name), l.DisplayPath(v.Workspace.Root)
	good := ""
	switch {
	case v.Good != nil:
		good = l.Green(l.Glyphs.Yes) + " last good " + l.Bold(fmt.Sprint(v.Good.Number))
		if l.Width >= WideFrom {
			good += " " + l.Dim(l.ShortTime(v.Good.Time))
		}
	case v.hasVerifications():
		good = l.Dim("no good yet")
	}
	rest := "protected since " + l.ShortTime(v.Workspace.Created)
	if l.Width >= WideFrom {
		if v.Level != "" {
			rest += ", " + termtext.Escape(v.Level)
		}
		rest = l.JoinFacts(rest, CountCheckpoints(v.Total))
	}
	right := l.Dim(rest)
	if good != "" {
		right = good + l.Dim(l.Separator()+rest)
	}
	width := termtext.Width(name) + 2 + termtext.Width(root)
	if width+2+l.ShownWidth(right) > l.Width {
		return fmt.Sprintf("%s  %s\n%s\n", l.Bold(name), l.Dim(root), right)
	}
	return l.AlignEnds(l.Bold(name)+"  "+l.Dim(root), right, width, l.ShownWidth(right)) + "\n"
}
