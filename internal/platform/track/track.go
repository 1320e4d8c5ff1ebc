package track

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/retake-dev/retake"
)

// Mark says what to do about a path.
type Mark uint8

// The marks. One path may carry several.
const (
	MarkName   Mark = 1 << iota // look again at this name
	MarkTree                    // a directory that appeared or moved here: everything below it too
	MarkMapped                  // somebody has the file mapped writable: its times may not tell; sync it before looking
)

// DirtySet is what may have changed since the Drain before. Paths are relative to
// the root with "/", "" is the root directory itself. The directories on the way
// to a path may be new to whoever asks.
type DirtySet struct {
	RescanReason string // not "": the rest cannot be trusted, every file must be looked at; says why
	Paths        map[string]Mark

	// Inodes are files that got or lost a name, known by number alone: which of them
	// lie below the root is for the caller to find out.
	Inodes []uint64
}

// requireRescan keeps the first reason.
func (d *DirtySet) requireRescan(why string) {
	if d.RescanReason == "" {
		d.RescanReason = why
	}
}

// Options choose how changes are followed.
type Options struct {
	Mode            retake.TrackingMode // "" chooses: fanotify when it works, else inotify
	TrustUnreadable bool                // processes that we may not look into count as harmless
	MaxPaths        int                 // most paths kept between two drains before it becomes a doubt; 0: 200,000
}

const defaultMaxPaths = 200_000

// Tracker follows any number of roots.
type Tracker struct {
	options Options
	mask    uint64 // the kinds of change that are asked for

	mu       sync.Mutex
	closed   bool                // guarded by mu
	watches  map[*Watch]struct{} // guarded by mu
	registry groupRegistry       // what the system shares between watches
}

var errClosed = errors.New("the tracker is closed")

// New makes a tracker. It does nothing before Watch.
func New(o Options) *Tracker {
	if o.MaxPaths <= 0 {
		o.MaxPaths = defaultMaxPaths
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

// Watch begins to follow the tree at root, an absolute path without a link at
// its end. An error means that no tracker works here, and says why.
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

// Watch follows one root.
type Watch struct {
	tracker  *Tracker
	root     string
	notifier changeNotifier

	unreadable atomic.Int64

	mu        sync.Mutex  // one Drain at a time
	closed    bool        // guarded by mu
	listening listenState // guarded by mu
}

// Mode is what tells us of changes here.
func (w *Watch) Mode() retake.TrackingMode {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mode()
}

// EventCount counts what was told of this root so far.
func (w *Watch) EventCount() int64 { return w.notifier.events.Load() }

// UnreadableProcesses counts the processes that could not be looked into at the last Drain.
func (w *Watch) UnreadableProcesses() int64 { return w.unreadable.Load() }

// Notify gets a value when something is told. It holds one value at most.
func (w *Watch) Notify() <-chan struct{} { return w.notifier.wakeCh }

// Drain reads the queue of the kernel to its end and answers what was told since
// the Drain before. After a doubt the watch is whole again from the checkpoint of
// the call; while that cannot be, every answer is a doubt.
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

// Close stops to follow the root. It may be called twice.
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

// changeNotifier is what a watch says while nobody drains it.
type changeNotifier struct {
	maxPaths int
	events   atomic.Int64
	wakeCh   chan struct{}
}

// recordEvent counts one event. The channel holds one value, so nobody waits here.
func (n *changeNotifier) recordEvent() {
	n.events.Add(1)
	n.wake()
}

func (n *changeNotifier) wake() {
	select {
	case n.wakeCh <- struct{}{}:
	default:
	}
}
