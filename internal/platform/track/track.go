package track

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
)

// Mark says what to do about a path.
type Mark uint8

// The marks. One path may carry several.
const (
	MarkName   Mark = 1 << iota // check this name again
	MarkTree                    // a directory that appeared or moved here: check everything below it too
	MarkMapped                  // mapped writable by a process: the times are not reliable; sync the file before checking it
)

// DirtySet is what may have changed since the last Drain. Paths are relative to the root with
// "/"; "" is the root directory itself. The parent directories of a path may be new to the
// caller.
type DirtySet struct {
	RescanReason string // if not "", the rest is not reliable and every file must be checked; says why
	Paths        map[string]Mark

	// Inodes are files that got or lost a name, known by inode number only. The caller
	// has to find out which of them are below the root.
	Inodes []uint64
}

// requireRescan records the first reason for a rescan.
func (d *DirtySet) requireRescan(why string) {
	if d.RescanReason == "" {
		d.RescanReason = why
	}
}

// Options choose how changes are tracked.
type Options struct {
	Mode            retake.TrackingMode // "": fanotify if it works, otherwise inotify
	TrustUnreadable bool                // assume that processes that we may not inspect map no files of the root
	MaxPaths        int                 // most paths kept between two drains before a rescan is required; 0: 200,000
	DrainTime       time.Duration       // most time for the events of a file system before a rescan is required; 0: half a second
}

const (
	defaultMaxPaths  = 200_000
	defaultDrainTime = 500 * time.Millisecond
)

// Tracker tracks any number of roots.
type Tracker struct {
	options Options
	mask    uint64 // the events that are requested

	mu       sync.Mutex
	closed   bool                // guarded by mu
	watches  map[*Watch]struct{} // guarded by mu
	registry groupRegistry       // what watches share
}

var errClosed = errors.New("the tracker is closed")

// New returns a tracker. It does nothing before Watch is called.
func New(o Options) *Tracker {
	if o.MaxPaths <= 0 {
		o.MaxPaths = defaultMaxPaths
	}
	if o.DrainTime <= 0 {
		o.DrainTime = defaultDrainTime
	}
	return &Tracker{options: o, mask: eventMask, watches: map[*Watch]struct{}{}}
}

// Close ends all watches.
func (t *Tracker) Close() error {
	t.mu.Lock()
	t.closed = true
	all := t.watches
	t.watches = nil
	t.mu.Unlock()
	var errs []error
	for w := range all {
		errs = append(errs, w.Close())
	}
	return errors.Join(errs...)
}

// Watch begins to track the tree at root, an absolute path whose last element is not a
// symbolic link. An error means that no tracker works here, and says why.
func (t *Tracker) Watch(root string) (*Watch, error) {
	w := &Watch{tracker: t, root: root, notifier: changeNotifier{maxPaths: t.options.MaxPaths, wakeCh: make(chan struct{}, 1)}}
	if err := w.startListening(); err != nil {
		return nil, err
	}
	t.mu.Lock()
	closed := t.closed
	if !closed {
		t.watches[w] = struct{}{}
	}
	t.mu.Unlock()
	if closed {
		return nil, errors.Join(errClosed, w.Close())
	}
	return w, nil
}

// Watch tracks one root.
type Watch struct {
	tracker  *Tracker
	root     string
	notifier changeNotifier

	unreadable atomic.Int64

	mu        sync.Mutex  // one Drain at a time
	closed    bool        // guarded by mu
	listening listenState // guarded by mu
}

// Mode returns how changes are detected.
func (w *Watch) Mode() retake.TrackingMode {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mode()
}

// EventCount returns the number of events of this root so far.
func (w *Watch) EventCount() int64 { return w.notifier.events.Load() }

// UnreadableProcesses returns the number of processes that the last Drain could not inspect.
func (w *Watch) UnreadableProcesses() int64 { return w.unreadable.Load() }

// Notify returns a channel that receives a value when there are changes. It buffers one value.
func (w *Watch) Notify() <-chan struct{} { return w.notifier.wakeCh }

// Drain reads the event queue to its end and returns what changed since the last Drain. After
// a required rescan the watch is complete again from the time of the call; as long as that is
// not possible, every result requires a rescan.
func (w *Watch) Drain() DirtySet {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := DirtySet{Paths: map[string]Mark{}}
	if w.closed {
		d.requireRescan("the watch is closed")
		return d
	}
	w.drainChanges(&d)
	return d
}

// Close stops tracking the root. It may be called twice.
func (w *Watch) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	w.closed = true
	w.tracker.mu.Lock()
	delete(w.tracker.watches, w)
	w.tracker.mu.Unlock()
	return w.stopListening()
}

// changeNotifier counts events and wakes the reader of Notify.
type changeNotifier struct {
	maxPaths int
	events   atomic.Int64
	wakeCh   chan struct{}
}

// recordEvent counts one event and wakes the reader.
func (n *changeNotifier) recordEvent() {
	n.events.Add(1)
	n.wake()
}

// wake never blocks: the channel holds one value.
func (n *changeNotifier) wake() {
	select {
	case n.wakeCh <- struct{}{}:
	default:
	}
}
