package tui

import (
	"context"
	"reflect"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
)

const (
	firstPage = 100
	pollPage  = 50
	olderPage = 500
)

// snapshot is the known part of a timeline with its rows. It is built in the background and is
// not changed after it is shown.
type snapshot struct {
	view   retake.TimelineView
	rows   *term.TimelineRows
	head   retake.TimelineView // what the last look at the newest checkpoints gave
	limit  int                 // how many checkpoints were asked for
	folded bool
	more   bool // there are older ones
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
	next := &snapshot{limit: firstPage}
	if old != nil {
		c := *old
		next = &c
		next.limit += w.older * olderPage
	}
	read := func(limit int) (retake.TimelineView, error) {
		v, err := s.ViewTimeline(ctx, retake.TimelineQuery{
			LogQuery: retake.LogQuery{Workspace: ws, Limit: limit, Good: w.good}, FoldReplaced: w.folded, Now: true,
		})
		return keepPresent(v, old), err
	}
	whole := old == nil || w.older > 0 || w.folded != old.folded
	if w.fresh && !whole { // look at few first: mostly nothing is new
		head, err := read(pollPage)
		if err != nil || reflect.DeepEqual(head, old.head) {
			return nil, err
		}
		next.head, whole = head, true
	}
	if whole {
		v, err := read(next.limit)
		if err != nil {
			return nil, err
		}
		next.view, next.folded, next.more = v, w.folded, v.Shown >= int64(next.limit)
	}
	next.rows = w.look.ArrangeTimeline(&next.view)
	return next, nil
}

// keepPresent keeps what was known of the live files while that is being read again, so that
// the first row does not come and go.
func keepPresent(v retake.TimelineView, old *snapshot) retake.TimelineView {
	if len(v.Rows) == 0 || v.Rows[0].Kind != retake.RowNow || v.Rows[0].Changed != nil {
		return v
	}
	v.Rows = v.Rows[1:]
	if old != nil && old.view.Newest == v.Newest && len(old.view.Rows) > 0 && old.view.Rows[0].Kind == retake.RowNow {
		v.Rows = append([]retake.TimelineRow{old.view.Rows[0]}, v.Rows...)
	}
	return v
}
