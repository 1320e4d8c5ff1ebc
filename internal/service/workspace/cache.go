package workspace

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Cache is what the service keeps of a workspace between two saves: the stat index
// and the changes that the tracker reported since. It only saves time; without it every
// file is scanned.
type Cache struct {
	IsSaving    atomic.Bool
	CancelCheck atomic.Pointer[context.CancelFunc] // cancels the cross-check that is running

	Mu Lock // held by a save, a plan, a restore, a comparison, a check and a drop; guards everything below

	Index    *capture.Index // of the newest checkpoint; nil: not loaded
	Gaps     []retake.Gap   // of that checkpoint
	Policy   retake.Policy  // of that checkpoint
	Tip      *retake.Checkpoint
	Last     int64        // the highest number that was ever given
	LastPlan *retake.Plan // the restore plan that was shown last

	LastPlanAt time.Time
	DirCache   DirCache // stored directories that plans need

	Watch         *track.Watch
	watchedRoot   string // the directory that watch is for
	NoWatchReason string // why there is no watch
	DirtyPaths    map[string]track.Mark
	DirtyInodes   map[uint64]bool // files that got or lost a name somewhere
	RescanReason  string          // why everything must be scanned; "" when the dirty set can be trusted
	rescanCount   int64
	LastCheck     *retake.CrossCheck

	TrackerDistrusted bool  // the tracker missed a change here
	TipInDoubt        bool  // the newest checkpoint may not survive a power cut
	healedSeq         int64 // of the damage in the store that a save of this workspace has healed, as far as it has the bytes
	LastUsed          time.Time

	saved struct {
		mu  sync.Mutex
		err error // of the last save; nil: it worked
	}
}

// cacheIdleTime is how long an unused workspace stays in memory and watched.
const cacheIdleTime = time.Hour

// allCaches returns all caches by workspace. A cache that exists is never removed.
func (s *Registry) allCaches() map[retake.WorkspaceID]*Cache {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.caches)
}

// EvictIdleCaches drops the caches of workspaces that were not used for cacheIdleTime.
// Their next save scans everything.
func (s *Registry) EvictIdleCaches() {
	for id, l := range s.allCaches() {
		if s.HabitsOf(id).Quiet || !l.Mu.TryLock() {
			continue
		}
		if l.Index != nil && s.Clock.Now().Sub(l.LastUsed) > cacheIdleTime {
			s.StopWatch(l)
			l.Index, l.Tip, l.Gaps, l.LastPlan = nil, nil, nil, nil
			l.DirCache.Reset()
		}
		l.Mu.Unlock()
	}
}

// LockAndCancelCheck locks the cache. It cancels a running cross-check instead of waiting
// for it: checks are for idle times.
func (l *Cache) LockAndCancelCheck() {
	if end := l.CancelCheck.Load(); end != nil {
		(*end)()
	}
	l.Mu.Lock()
}

// CacheFor returns the cache of a workspace and creates it on first use.
func (s *Registry) CacheFor(id retake.WorkspaceID) *Cache {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.caches[id]
	if l == nil {
		l = &Cache{Mu: NewLock()}
		l.clearDirty()
		s.caches[id] = l
	}
	return l
}

// DrainTracker adds the changes that the tracker reported to the dirty set. If there is no
// watch yet it starts one, and everything must be scanned once: earlier changes are
// unknown.
func (s *Registry) DrainTracker(l *Cache, root string) {
	if st := s.StoreIfOpen(); st != nil && st.Damage().Seq != l.healedSeq {
		l.RescanReason = "damage was found in the store"
	}
	if l.Watch != nil && l.watchedRoot != root {
		s.StopWatch(l)
	}
	if l.Watch == nil && !s.startWatch(l, root) {
		return
	}
	d := l.Watch.Drain()
	for p, m := range d.Paths {
		l.DirtyPaths[p] |= m
	}
	for _, ino := range d.Inodes {
		l.DirtyInodes[ino] = true
	}
	if d.RescanReason == "" && len(l.DirtyPaths)+len(l.DirtyInodes) > maxDirtyPaths {
		d.RescanReason = "more was told than is kept"
	}
	if d.RescanReason != "" {
		l.RescanReason = d.RescanReason
		l.rescanCount++
	}
	if l.RescanReason != "" { // everything is scanned anyway
		l.clearDirty()
	}
}

// maxDirtyPaths bounds the dirty set; when there are more, everything is scanned.
const maxDirtyPaths = 200_000

// clearDirty empties the dirty set.
func (l *Cache) clearDirty() {
	l.DirtyPaths, l.DirtyInodes = map[string]track.Mark{}, map[uint64]bool{}
}

// startWatch starts to watch a root and reports whether it succeeded. If not, NoWatchReason
// says why.
func (s *Registry) startWatch(l *Cache, root string) bool {
	if l.RescanReason = "the tracker has just begun"; s.Tracker == nil {
		l.NoWatchReason = "no tracker runs in this process"
		return false
	}
	if l.TrackerDistrusted {
		return false
	}
	w, err := s.Tracker.Watch(root)
	if err != nil {
		l.NoWatchReason = err.Error()
		return false
	}
	l.Watch, l.watchedRoot, l.NoWatchReason = w, root, ""
	return true
}

// StopWatch ends the watch of a workspace and drops what it reported.
func (s *Registry) StopWatch(l *Cache) {
	if l.Watch != nil {
		_ = l.Watch.Close() // it is not used any more
	}
	l.Watch, l.watchedRoot = nil, ""
	l.clearDirty()
}

// LimitToDirty limits a capture to the dirty set if that can be trusted.
func (l *Cache) LimitToDirty(o *capture.Options) {
	if l.RescanReason != "" || l.Watch == nil || !reflect.DeepEqual(l.Policy, o.Policy) {
		return
	}
	o.Dirty, o.Inodes, o.Gaps = maps.Clone(l.DirtyPaths), l.DirtyInodes, l.Gaps
}

// IsUnchanged reports whether it is certain that nothing changed since the tip.
func (l *Cache) IsUnchanged(p retake.Policy) bool {
	return l.Tip != nil && l.Index != nil && l.Index.NeedsNoScan() && l.Watch != nil && l.RescanReason == "" && len(l.DirtyPaths) == 0 && len(l.DirtyInodes) == 0 &&
		reflect.DeepEqual(l.Policy, p) && !capture.HasTransientGaps(l.Gaps)
}

// DistrustDamage makes the next capture with an index read again what the store has lost. It
// returns what must be called when the bytes that were read are durable, or nil if nothing was
// damaged.
func (l *Cache) DistrustDamage(st store.Store, x *capture.Index) (healed func()) {
	if st == nil {
		return nil
	}
	d := st.Damage()
	if d.Seq == l.healedSeq || d.Touches == nil {
		return nil
	}
	x.Distrust(d.Touches)
	return func() { l.healedSeq = d.Seq }
}

// SetTip makes a checkpoint the new tip: it includes every change that was reported before
// it.
func (l *Cache) SetTip(x *capture.Index, cp retake.Checkpoint) {
	l.Index, l.Gaps, l.Policy, l.Tip = x, cp.Coverage.Gaps, cp.Policy, &cp
	l.RescanReason = ""
	l.clearDirty()
}

// IndexFor returns the stat index of a checkpoint, from memory if the checkpoint is the
// tip.
func (s *Registry) IndexFor(ctx context.Context, l *Cache, ws retake.WorkspaceID, cp *retake.Checkpoint) (*capture.Index, error) {
	if cp != nil && l.Index != nil && l.Index.Seal().Checkpoint == cp.ID && l.Index.Seal().Tree == cp.Tree {
		return l.Index, nil
	}
	return s.loadIndex(ctx, ws, cp)
}

// TrackingStatus describes how changes of a workspace are found.
func (s *Registry) TrackingStatus(l *Cache) retake.Tracking {
	t := retake.Tracking{Mode: retake.TrackingScan, Why: l.NoWatchReason, Doubts: l.rescanCount, Check: l.LastCheck}
	if l.Watch != nil {
		t.Mode, t.Events, t.Unseen, t.Why = l.Watch.Mode(), l.Watch.EventCount(), l.Watch.UnreadableProcesses(), l.RescanReason
	}
	return t
}

// WatchedWorkspaces returns the idle workspaces whose tracker can be trusted.
func (s *Registry) WatchedWorkspaces() []retake.WorkspaceID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []retake.WorkspaceID
	for id, l := range s.caches {
		if l.Mu.TryLock() { // a workspace that is being saved is not idle
			if l.Watch != nil && l.RescanReason == "" {
				out = append(out, id)
			}
			l.Mu.Unlock()
		}
	}
	return out
}

// CachedWorkspaces returns the workspaces that are in memory.
func (s *Registry) CachedWorkspaces() []retake.WorkspaceID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.caches))
}

// IsAnySaving reports whether a save or a restore is running.
func (s *Registry) IsAnySaving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.caches {
		if l.IsSaving.Load() {
			return true
		}
	}
	return false
}
