package view

import (
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// Input is a part of a timeline with everything that its rows need.
type Input struct {
	retake.Timeline
	Newest       int64  // the number of the checkpoint on which the files stand
	Titles       Titles // of checkpoints that are not in the part
	Forks        []Fork
	Earlier      []retake.Checkpoint // not shown: they hold the work of turns that are
	Tree         bool                // no checkpoint in between is left out
	Flat         bool                // one row per checkpoint
	Graph        bool                // rows of checkpoints have a place and nothing to say
	FoldReplaced bool
	Open         []string // keys of folds that are not folded

	Now            *retake.Counts // what changed since the newest; nil: not known
	NowGist        *retake.Gist   // the same in words; nil: there are only counts
	PresentUnknown bool           // it was asked what changed, and there is no answer yet
	Level          string         // of protection; empty: not known
}

// Present is what is known of the live files.
type Present struct {
	Status   *retake.Status // nil: nothing
	Gist     *retake.Gist   // what changed since the newest checkpoint, when that is known too
	TimedOut bool           // there was no answer in time
}

// SetPresent sets the newest checkpoint and the state of the live files. A state that was read
// during a save, or before another checkpoint came, is dropped.
func (in *Input) SetPresent(newest int64, p Present) {
	in.Newest = newest
	if newest == 0 && in.Tree && len(in.Checkpoints) > 0 {
		in.Newest = in.Checkpoints[0].Number
	}
	in.PresentUnknown = p.TimedOut
	st := p.Status
	if st == nil || st.Latest == nil {
		return
	}
	in.Level = st.Protection
	if st.Saving || st.Latest.Number != in.Newest {
		in.PresentUnknown = true
		return
	}
	in.Now, in.NowGist = &st.Now, p.Gist
}

// Timeline arranges the rows.
func Timeline(in Input) retake.TimelineView {
	out := retake.TimelineView{
		Workspace: in.Workspace, Rows: []retake.TimelineRow{}, Lanes: 1, Shown: int64(len(in.Checkpoints)), Total: in.Total,
		Newest: in.Newest, Good: in.Good, Tree: in.Tree, Checked: in.isChecked(), Protection: in.Level, Upload: in.Upload,
	}
	if len(in.Checkpoints) == 0 {
		return out
	}
	b := newRowBuilder(in)
	entries, cells := in.entries(b.titles)
	out.Lanes = countLanes(cells)
	out.Rows = make([]retake.TimelineRow, 0, len(entries)+1)
	if in.hasNow() {
		out.Rows = append(out.Rows, b.nowRow())
	}
	behind := in.replacedCheckpoints()
	places := placeMaker{}
	for i, e := range entries {
		place := places.place(cells[i])
		if e.checkpoints != nil && behind[e.checkpoints[0].ID] {
			place.Replaced, place.Detached = true, true
		}
		out.Rows = append(out.Rows, b.entryRow(e, place))
	}
	return out
}

// isChecked reports whether anybody ever asked whether a checkpoint works.
func (in *Input) isChecked() bool {
	for _, f := range in.Findings {
		if len(f.Answers) > 0 {
			return true
		}
	}
	for i := range in.Forks {
		if len(in.Forks[i].Finding.Answers) > 0 {
			return true
		}
	}
	return in.Good != nil
}

// hasNow reports whether the files are not, or may not be, as in the newest checkpoint.
func (in *Input) hasNow() bool {
	return in.Now != nil && in.Now.Total() > 0 || in.Now == nil && in.PresentUnknown
}

// nowRow is what changed since the newest checkpoint. While that is not known it says so: without
// a row, the newest checkpoint would look like the present.
func (b *rowBuilder) nowRow() retake.TimelineRow {
	r := retake.TimelineRow{Kind: retake.RowNow, Key: "now", Written: true, Base: b.in.Newest}
	if b.in.Now == nil {
		r.Title = "still checking: retake status"
		return r
	}
	now := *b.in.Now
	setChanges(&r, &retake.Checkpoint{Changed: now}, b.in.NowGist)
	r.Changed, r.Files, r.Title = &now, now.Total(), nowTitle(now, b.in.Newest)
	return r
}

// nowTitle calls deletions deletions: they are what somebody looks for.
func nowTitle(n retake.Counts, since int64) string {
	kept := n.Total() - n.Deleted
	switch {
	case n.Deleted == 0:
		return fmt.Sprintf("%s changed since %d", countFiles(kept), since)
	case kept == 0:
		return fmt.Sprintf("%s deleted since %d", countFiles(n.Deleted), since)
	}
	return fmt.Sprintf("%s deleted, %s changed since %d", termtext.Count(n.Deleted), termtext.Count(kept), since)
}

// replacedCheckpoints are the checkpoints that do not lie on the way to the newest one, where
// that is no picture of lanes. Where the way leaves what is shown, nothing is said.
func (in *Input) replacedCheckpoints() map[retake.CheckpointID]bool {
	behind, cs := map[retake.CheckpointID]bool{}, in.Checkpoints
	if in.Tree || len(cs) == 0 || cs[0].Number != in.Newest {
		return behind
	}
	next := cs[0].ID
	var passed []retake.CheckpointID
	for i := range cs { // a parent is always older
		c := &cs[i]
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
