package service

import (
	"context"
	"maps"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/track"
)

// live is what a service keeps of a workspace between two saves: the stat index,
// and what the tracker told since. All of it only saves time; without it every file
// is looked at.
type live struct {
	saving   atomic.Bool
	checking atomic.Pointer[context.CancelFunc] // ends the check that is under way

	mu sync.Mutex // held by a save, a look and a check; guards everything below

	x      *capture.Index // of the newest checkpoint; nil: to be loaded
	gaps   []retake.Gap   // of that capture
	policy retake.Policy  // of that capture
	tip    *retake.Checkpoint
	shown  *retake.Plan // the last plan that was shown

	shownAt time.Time
	lists   listings // of stored directories that plans need

	watch  *track.Watch
	root   string // what it watches
	why    string // there is no watch
	dirt   map[string]track.Mark
	inodes map[uint64]bool // files that got or lost a name somewhere
	doubt  string          // why everything must be looked at; "" when the dirt can be trusted
	doubts int64
	check  *retake.CrossCheck

	distrusted bool // it missed something here
	uncertain  bool // the newest checkpoint may not survive a power cut
	used       time.Time
}

// rest is how long a workspace is kept in memory, and watched, that nobody asks for.
const rest = time.Hour

// forgetIdle drops what is kept of workspaces that nobody asked for in a while. The
// next save looks at everything.
func (s *Service) forgetIdle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, l := range s.lives {
		if s.habits(id).Quiet || !l.mu.TryLock() {
			continue
		}
		if l.x != nil && s.p.Clock.Now().Sub(l.used) > rest {
			s.unwatch(l)
			l.x, l.tip, l.gaps, l.shown = nil, nil, nil, nil
			l.lists.drop()
		}
		l.mu.Unlock()
	}
}

// lock waits for who is at work, but not for a check: that is for idle times.
func (l *live) lock() {
	if end := l.checking.Load(); end != nil {
		(*end)()
	}
	l.mu.Lock()
}

// liveOf gives the live state of a workspace.
func (s *Service) liveOf(id retake.WorkspaceID) *live {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lives[id]
	if l == nil {
		l = &live{}
		l.clean()
		s.lives[id] = l
	}
	return l
}

// drain asks the tracker what changed. It begins to watch when nobody does yet: what
// was changed before that only a look at everything can tell.
func (s *Service) drain(l *live, root string) {
	if l.watch != nil && l.root != root {
		s.unwatch(l)
	}
	if l.watch == nil && !s.watchRoot(l, root) {
		return
	}
	d := l.watch.Drain()
	for p, m := range d.Paths {
		l.dirt[p] |= m
	}
	for _, ino := range d.Inodes {
		l.inodes[ino] = true
	}
	if d.RescanReason == "" && len(l.dirt)+len(l.inodes) > maxDirt {
		d.RescanReason = "more was told than is kept"
	}
	if d.RescanReason != "" {
		l.doubt = d.RescanReason
		l.doubts++
	}
	if l.doubt != "" { // everything is looked at anyway
		l.clean()
	}
}

// maxDirt bounds what is kept between two seals.
const maxDirt = 200_000

func (l *live) clean() { l.dirt, l.inodes = map[string]track.Mark{}, map[uint64]bool{} }

func (s *Service) watchRoot(l *live, root string) bool {
	if l.doubt = "the tracker has just begun"; s.p.Tracker == nil {
		l.why = "no tracker runs in this process"
		return false
	}
	if l.distrusted {
		return false
	}
	w, err := s.p.Tracker.Watch(root)
	if err != nil {
		l.why = err.Error()
		return false
	}
	l.watch, l.root, l.why = w, root, ""
	return true
}

func (s *Service) unwatch(l *live) {
	if l.watch != nil {
		_ = l.watch.Close() // nobody asks it any more
	}
	l.watch, l.root = nil, ""
	l.clean()
}

// narrow limits a capture to what the tracker told, when that can be trusted.
func (l *live) narrow(o *capture.Options) {
	if l.doubt != "" || l.watch == nil || !reflect.DeepEqual(l.policy, o.Policy) {
		return
	}
	o.Dirty, o.Inodes, o.Gaps = maps.Clone(l.dirt), l.inodes, l.gaps
}

// still reports whether nothing at all can have changed since the tip.
func (l *live) still(p retake.Policy) bool {
	return l.tip != nil && l.x != nil && l.x.NeedsNoScan() && l.watch != nil && l.doubt == "" && len(l.dirt) == 0 && len(l.inodes) == 0 &&
		reflect.DeepEqual(l.policy, p) && !capture.HasTransientGaps(l.gaps)
}

// settle notes that a capture holds everything that was told before it.
func (l *live) settle(x *capture.Index, cp retake.Checkpoint) {
	l.x, l.gaps, l.policy, l.tip = x, cp.Coverage.Gaps, cp.Policy, &cp
	l.doubt = ""
	l.clean()
}

// indexFor gives the index of a checkpoint: the one in memory when it is of the tip.
func (s *Service) indexFor(ctx context.Context, l *live, ws retake.WorkspaceID, cp *retake.Checkpoint) (*capture.Index, error) {
	if cp != nil && l.x != nil && l.x.Seal().Checkpoint == cp.ID && l.x.Seal().Tree == cp.Tree {
		return l.x, nil
	}
	return s.index(ctx, ws, cp)
}

// tracking tells how changes of a workspace are known.
func (s *Service) tracking(l *live) retake.Tracking {
	t := retake.Tracking{Mode: retake.TrackingScan, Why: l.why, Doubts: l.doubts, Check: l.check}
	if l.watch != nil {
		t.Mode, t.Events, t.Unseen, t.Why = l.watch.Mode(), l.watch.EventCount(), l.watch.UnreadableProcesses(), l.doubt
	}
	return t
}
