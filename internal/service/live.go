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

// workspaceCache is what a service keeps of a workspace between two saves: the stat index,
// and what the tracker told since. All of it only saves time; without it every file
// is looked at.
type workspaceCache struct {
	isSaving    atomic.Bool
	cancelCheck atomic.Pointer[context.CancelFunc] // ends the check that is under way

	mu sync.Mutex // held by a save, a look and a check; guards everything below

	index    *capture.Index // of the newest checkpoint; nil: to be loaded
	gaps     []retake.Gap   // of that capture
	policy   retake.Policy  // of that capture
	tip      *retake.Checkpoint
	lastPlan *retake.Plan // the last plan that was shown

	lastPlanAt time.Time
	dirCache   dirCache // of stored directories that plans need

	watch         *track.Watch
	watchedRoot   string // what it watches
	noWatchReason string // there is no watch
	dirtyPaths    map[string]track.Mark
	dirtyInodes   map[uint64]bool // files that got or lost a name somewhere
	rescanReason  string          // why everything must be looked at; "" when the dirt can be trusted
	rescanCount   int64
	lastCheck     *retake.CrossCheck

	trackerDistrusted bool // it missed something here
	tipInDoubt        bool // the newest checkpoint may not survive a power cut
	lastUsed          time.Time
}

// rest is how long a workspace is kept in memory, and watched, that nobody asks for.
const cacheIdleTime = time.Hour

// evictIdleCaches drops what is kept of workspaces that nobody asked for in a while. The
// next save looks at everything.
func (s *Service) evictIdleCaches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, l := range s.caches {
		if s.habitsOf(id).Quiet || !l.mu.TryLock() {
			continue
		}
		if l.index != nil && s.parts.Clock.Now().Sub(l.lastUsed) > cacheIdleTime {
			s.stopWatch(l)
			l.index, l.tip, l.gaps, l.lastPlan = nil, nil, nil, nil
			l.dirCache.reset()
		}
		l.mu.Unlock()
	}
}

// lockAndCancelCheck waits for who is at work, but not for a check: that is for idle times.
func (l *workspaceCache) lockAndCancelCheck() {
	if end := l.cancelCheck.Load(); end != nil {
		(*end)()
	}
	l.mu.Lock()
}

// cacheFor gives the live state of a workspace.
func (s *Service) cacheFor(id retake.WorkspaceID) *workspaceCache {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.caches[id]
	if l == nil {
		l = &workspaceCache{}
		l.clearDirty()
		s.caches[id] = l
	}
	return l
}

// drainTracker asks the tracker what changed. It begins to watch when nobody does yet: what
// was changed before that only a look at everything can tell.
func (s *Service) drainTracker(l *workspaceCache, root string) {
	if l.watch != nil && l.watchedRoot != root {
		s.stopWatch(l)
	}
	if l.watch == nil && !s.startWatch(l, root) {
		return
	}
	d := l.watch.Drain()
	for p, m := range d.Paths {
		l.dirtyPaths[p] |= m
	}
	for _, ino := range d.Inodes {
		l.dirtyInodes[ino] = true
	}
	if d.RescanReason == "" && len(l.dirtyPaths)+len(l.dirtyInodes) > maxDirtyPaths {
		d.RescanReason = "more was told than is kept"
	}
	if d.RescanReason != "" {
		l.rescanReason = d.RescanReason
		l.rescanCount++
	}
	if l.rescanReason != "" { // everything is looked at anyway
		l.clearDirty()
	}
}

// maxDirt bounds what is kept between two seals.
const maxDirtyPaths = 200_000

func (l *workspaceCache) clearDirty() {
	l.dirtyPaths, l.dirtyInodes = map[string]track.Mark{}, map[uint64]bool{}
}

func (s *Service) startWatch(l *workspaceCache, root string) bool {
	if l.rescanReason = "the tracker has just begun"; s.parts.Tracker == nil {
		l.noWatchReason = "no tracker runs in this process"
		return false
	}
	if l.trackerDistrusted {
		return false
	}
	w, err := s.parts.Tracker.Watch(root)
	if err != nil {
		l.noWatchReason = err.Error()
		return false
	}
	l.watch, l.watchedRoot, l.noWatchReason = w, root, ""
	return true
}

func (s *Service) stopWatch(l *workspaceCache) {
	if l.watch != nil {
		_ = l.watch.Close() // nobody asks it any more
	}
	l.watch, l.watchedRoot = nil, ""
	l.clearDirty()
}

// limitToDirty limits a capture to what the tracker told, when that can be trusted.
func (l *workspaceCache) limitToDirty(o *capture.Options) {
	if l.rescanReason != "" || l.watch == nil || !reflect.DeepEqual(l.policy, o.Policy) {
		return
	}
	o.Dirty, o.Inodes, o.Gaps = maps.Clone(l.dirtyPaths), l.dirtyInodes, l.gaps
}

// isUnchanged reports whether nothing at all can have changed since the tip.
func (l *workspaceCache) isUnchanged(p retake.Policy) bool {
	return l.tip != nil && l.index != nil && l.index.NeedsNoScan() && l.watch != nil && l.rescanReason == "" && len(l.dirtyPaths) == 0 && len(l.dirtyInodes) == 0 &&
		reflect.DeepEqual(l.policy, p) && !capture.HasTransientGaps(l.gaps)
}

// setTip notes that a capture holds everything that was told before it.
func (l *workspaceCache) setTip(x *capture.Index, cp retake.Checkpoint) {
	l.index, l.gaps, l.policy, l.tip = x, cp.Coverage.Gaps, cp.Policy, &cp
	l.rescanReason = ""
	l.clearDirty()
}

// indexFor gives the index of a checkpoint: the one in memory when it is of the tip.
func (s *Service) indexFor(ctx context.Context, l *workspaceCache, ws retake.WorkspaceID, cp *retake.Checkpoint) (*capture.Index, error) {
	if cp != nil && l.index != nil && l.index.Seal().Checkpoint == cp.ID && l.index.Seal().Tree == cp.Tree {
		return l.index, nil
	}
	return s.loadIndex(ctx, ws, cp)
}

// trackingStatus tells how changes of a workspace are known.
func (s *Service) trackingStatus(l *workspaceCache) retake.Tracking {
	t := retake.Tracking{Mode: retake.TrackingScan, Why: l.noWatchReason, Doubts: l.rescanCount, Check: l.lastCheck}
	if l.watch != nil {
		t.Mode, t.Events, t.Unseen, t.Why = l.watch.Mode(), l.watch.EventCount(), l.watch.UnreadableProcesses(), l.rescanReason
	}
	return t
}
