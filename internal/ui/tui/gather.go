package tui

import (
	"context"
	"maps"
	"reflect"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

const (
	firstPage = 100
	pollPage  = 50
	olderPage = 500 // as much as one answer of the log has
	soon      = 1500 * time.Millisecond
)

// snapshot is the known part of a timeline with its rows. It is built in the background and is
// not changed after it is shown.
type snapshot struct {
	view  term.TimelineView
	rows  *term.TimelineRows
	forks []retake.WorkspaceState
	head  retake.Timeline // what the last look at the newest checkpoints gave
	more  bool            // there are older ones
}

// snapshotRequest is what the next snapshot should show.
type snapshotRequest struct {
	fresh  bool // look at the newest checkpoints again
	older  int  // so many pages more
	good   bool
	folded bool
	look   term.Style
}

// takeSnapshot builds the next snapshot. It returns nil if nothing is new.
func takeSnapshot(ctx context.Context, s retake.Service, ws retake.WorkspaceID, old *snapshot, w snapshotRequest) (*snapshot, error) {
	next := &snapshot{}
	if old != nil {
		c := *old
		next = &c
	} else {
		w.fresh = true
	}
	for i := 0; i < w.older && next.more; i++ {
		if err := next.readOlderPage(ctx, s, ws, w.good); err != nil {
			return nil, err
		}
	}
	if w.fresh {
		changed, err := next.readNewest(ctx, s, ws, w.good)
		if err != nil {
			return nil, err
		}
		if !changed && w.older == 0 {
			return nil, nil
		}
	}
	if w.fresh || w.older > 0 {
		v := &next.view
		v.Titles, v.Forks = nil, nil
		forks := next.forks
		v.ReadDetails(ctx, s, v.Workspace, func() []retake.WorkspaceState { return forks })
	}
	next.rows = w.look.ArrangeTimeline(next.view, w.folded)
	return next, nil
}

// readNewest reads the newest checkpoints and reports whether something changed.
func (n *snapshot) readNewest(ctx context.Context, s retake.Service, ws retake.WorkspaceID, good bool) (bool, error) {
	first := len(n.view.Checkpoints) == 0
	limit := pollPage
	if first {
		limit = firstPage
	}
	t, err := s.Log(ctx, retake.LogQuery{Workspace: ws, Limit: limit, Good: good})
	if err != nil {
		return false, err
	}
	forks := n.forks
	if all, err := s.Forks(ctx, ws); err == nil { // the timeline stands without them; titles name them
		forks = all
	}
	now, level, newest := n.readPresent(ctx, s, ws, t, good)
	same := !first && reflect.DeepEqual(t, n.head) && reflect.DeepEqual(forks, n.forks) && reflect.DeepEqual(now, n.view.Now)
	if same {
		return false, nil
	}
	v := term.TimelineView{Tree: !good, Now: now, Level: level, Newest: newest}
	v.Timeline = t
	whole := len(t.Checkpoints) < limit
	if !first && !whole {
		if v.Timeline, err = n.withKnownOlder(ctx, s, ws, t, good); err != nil {
			return false, err
		}
	}
	if first || whole {
		n.more = !whole
	}
	n.view, n.head, n.forks = v, t, forks
	return true, nil
}

// readPresent returns what changed since the newest checkpoint, which a list of good ones may
// not start with. A state that is not read in time is unknown.
func (n *snapshot) readPresent(ctx context.Context, s retake.Service, ws retake.WorkspaceID, t retake.Timeline, good bool) (now *retake.Counts, level string, newest int64) {
	now, level, newest = n.view.Now, n.view.Level, n.view.Newest
	if len(t.Checkpoints) > 0 && t.Checkpoints[0].Number > newest && !good {
		now, newest = nil, t.Checkpoints[0].Number
	}
	ctx, stop := context.WithTimeout(ctx, soon)
	defer stop()
	st, err := s.Status(ctx, ws)
	if err != nil || st.Latest == nil {
		return now, level, newest
	}
	newest = st.Latest.Number
	if !st.Saving {
		now = &st.Now
	}
	return now, st.Protection, newest
}

// withKnownOlder appends the known older checkpoints to the newest ones. If checkpoints in the
// middle were removed, all are read again.
func (n *snapshot) withKnownOlder(ctx context.Context, s retake.Service, ws retake.WorkspaceID, t retake.Timeline, good bool) (retake.Timeline, error) {
	old := n.view.Timeline
	last := t.Checkpoints[len(t.Checkpoints)-1].Number
	var came int64
	var rest []retake.Checkpoint
	for _, c := range t.Checkpoints {
		if len(old.Checkpoints) == 0 || c.Number > old.Checkpoints[0].Number {
			came++
		}
	}
	for i, c := range old.Checkpoints {
		if c.Number < last {
			rest = old.Checkpoints[i:]
			break
		}
	}
	if t.Total-old.Total == came || good && len(rest) == 0 {
		return appendOlder(t, retake.Timeline{Checkpoints: rest, Findings: old.Findings}), nil
	}
	for len(t.Checkpoints) < len(old.Checkpoints) {
		before := t.Checkpoints[len(t.Checkpoints)-1].Number
		page, err := s.Log(ctx, retake.LogQuery{Workspace: ws, Before: before, Limit: olderPage, Good: good})
		if err != nil {
			return t, err
		}
		if t = appendOlder(t, page); len(page.Checkpoints) < olderPage {
			n.more = false
			break
		}
	}
	return t, nil
}

// appendOlder returns t with older checkpoints appended.
func appendOlder(t, older retake.Timeline) retake.Timeline {
	out := t
	out.Checkpoints = append(t.Checkpoints[:len(t.Checkpoints):len(t.Checkpoints)], older.Checkpoints...)
	out.Findings = make(map[retake.CheckpointID]retake.Finding, len(t.Findings)+len(older.Findings))
	maps.Copy(out.Findings, older.Findings)
	maps.Copy(out.Findings, t.Findings)
	return out
}

// readOlderPage appends one page.
func (n *snapshot) readOlderPage(ctx context.Context, s retake.Service, ws retake.WorkspaceID, good bool) error {
	cs := n.view.Checkpoints
	page, err := s.Log(ctx, retake.LogQuery{Workspace: ws, Before: cs[len(cs)-1].Number, Limit: olderPage, Good: good})
	if err != nil {
		return err
	}
	n.view.Timeline = appendOlder(n.view.Timeline, page)
	n.more = len(page.Checkpoints) == olderPage
	return nil
}
