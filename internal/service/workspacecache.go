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

// workspaceCache is what the service keeps of a workspace between two saves: the stat index
// and the changes that the tracker reported since. It only saves time; without it every
// file is scanned.
type workspaceCache struct {
	isSaving    atomic.Bool
	cancelCheck atomic.Pointer[context.CancelFunc] // cancels the cross-check that is running

	mu sync.Mutex // held by a save, a comparison and a check; guards everything below

	index    *capture.Index // of the newest checkpoint; nil: not loaded
	gaps     []retake.Gap   // of that checkpoint
	policy   retake.Policy  // of that checkpoint
	tip      *retake.Checkpoint
	lastPlan *retake.Plan // the restore plan that was shown last

	lastPlanAt time.Time
	dirCache   dirCache // stored directories that plans need

	watch         *track.Watch
	watchedRoot   string // the directory that watch is for
	noWatchReason string // why there is no watch
	dirtyPaths    map[string]track.Mark
	dirtyInodes   map[uint64]bool // files that got or lost a name somewhere
	rescanReason  string          // why everything must be scanned; "" when the dirty set can be trusted
	rescanCount   int64
	lastCheck     *retake.CrossCheck

	trackerDistrusted bool // the tracker missed a change here
	tipInDoubt        bool // the newest checkpoint may not survive a power cut
	lastUsed          time.Time
}

// cacheIdleTime is how long an unused workspace stays in memory and watched.
const cacheIdleTime = time.Hour

// evictIdleCaches drops the caches of workspaces that were not used for cacheIdleTime.
// Their next save scans everything.
func (s *Service) evictIdleCaches() {
	s.mu.Lock()
	all := maps.Clone(s.caches)
	s.mu.Unlock()
	for id, l := range all { // ending a watch takes time, so mu is not held
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

// lockAndCancelCheck locks the cache. It cancels a running cross-check instead of waiting
// for it: checks are for idle times.
func (l *workspaceCache) lockAndCancelCheck() {
	if end := l.cancelCheck.Load(); end != nil {
		(*end)()
	}
	l.mu.Lock()
}

// cacheFor returns the cache of a workspace and creates it on first use.
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

// drainTracker adds the changes that the tracker reported to the dirty set. If there is no
// watch yet it starts one, and everything must be scanned once: earlier changes are
// unknown.
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
	if l.rescanReason != "" { // everything is scanned anyway
		l.clearDirty()
	}
}

// maxDirtyPaths bounds the dirty set; when there are more, everything is scanned.
const maxDirtyPaths = 200_000

// clearDirty empties the dirty set.
func (l *workspaceCache) clearDirty() {
	l.dirtyPaths, l.dirtyInodes = map[string]track.Mark{}, map[uint64]bool{}
}

// startWatch starts to watch a root and reports whether it succeeded. If not, noWatchReason
// says why.
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

// stopWatch ends the watch of a workspace and drops what it reported.
func (s *Service) stopWatch(l *workspaceCache) {
	if l.watch != nil {
		_ = l.watch.Close() // it is not used any more
	}
	l.watch, l.watchedRoot = nil, ""
	l.clearDirty()
}

// limitToDirty limits a capture to the dirty set if that can be trusted.
func (l *workspaceCache) limitToDirty(o *capture.Options) {
	if l.rescanReason != "" || l.watch == nil || !reflect.DeepEqual(l.policy, o.Policy) {
		return
	}
	o.Dirty, o.Inodes, o.Gaps = maps.Clone(l.dirtyPaths), l.dirtyInodes, l.gaps
}

// isUnchanged reports whether it is certain that nothing changed since the tip.
func (l *workspaceCache) isUnchanged(p retake.Policy) bool {
	return l.tip != nil && l.index != nil && l.index.NeedsNoScan() && l.watch != nil && l.rescanReason == "" && len(l.dirtyPaths) == 0 && len(l.dirtyInodes) == 0 &&
		reflect.DeepEqual(l.policy, p) && !capture.HasTransientGaps(l.gaps)
}

// setTip makes a checkpoint the new tip: it includes every change that was reported before
// it.
func (l *workspaceCache) setTip(x *capture.Index, cp retake.Checkpoint) {
	l.index, l.gaps, l.policy, l.tip = x, cp.Coverage.Gaps, cp.Policy, &cp
	l.rescanReason = ""
	l.clearDirty()
}

// indexFor returns the stat index of a checkpoint, from memory if the checkpoint is the
// tip.
func (s *Service) indexFor(ctx context.Context, l *workspaceCache, ws retake.WorkspaceID, cp *retake.Checkpoint) (*capture.Index, error) {
	if cp != nil && l.index != nil && l.index.Seal().Checkpoint == cp.ID && l.index.Seal().Tree == cp.Tree {
		return l.index, nil
	}
	return s.loadIndex(ctx, ws, cp)
}

// trackingStatus describes how changes of a workspace are found.
func (s *Service) trackingStatus(l *workspaceCache) retake.Tracking {
	t := retake.Tracking{Mode: retake.TrackingScan, Why: l.noWatchReason, Doubts: l.rescanCount, Check: l.lastCheck}
	if l.watch != nil {
		t.Mode, t.Events, t.Unseen, t.Why = l.watch.Mode(), l.watch.EventCount(), l.watch.UnreadableProcesses(), l.rescanReason
	}
	return t
}
