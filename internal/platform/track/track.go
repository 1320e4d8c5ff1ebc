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
	Name   Mark = 1 << iota // look again at this name
	Deep                    // a directory that appeared or moved here: everything below it too
	Mapped                  // somebody has the file mapped writable: its times may not tell; sync it before looking
)

// Dirt is what may have changed since the Drain before. Paths are relative to
// the root with "/", "" is the root directory itself. The directories on the way
// to a path may be new to whoever asks.
type Dirt struct {
	Doubt string // not "": the rest cannot be trusted, every file must be looked at; says why
	Paths map[string]Mark

	// Inodes are files that got or lost a name, known by number alone: which of them
	// lie below the root is for the caller to find out.
	Inodes []uint64
}

// doubt keeps the first reason.
func (d *Dirt) doubt(why string) {
	if d.Doubt == "" {
		d.Doubt = why
	}
}

// Options choose how changes are followed.
type Options struct {
	Only        retake.TrackingMode // "" chooses: fanotify when it works, else inotify
	TrustOthers bool                // processes that we may not look into count as harmless
	Limit       int                 // most paths kept between two drains before it becomes a doubt; 0: 200,000
}

const defaultLimit = 200_000

// Tracker follows any number of roots.
type Tracker struct {
	o    Options
	mask uint64 // the kinds of change that are asked for

	mu      sync.Mutex
	closed  bool                // guarded by mu
	watches map[*Watch]struct{} // guarded by mu
	host    host                // what the system shares between watches
}

var errClosed = errors.New("the tracker is closed")

// New makes a tracker. It does nothing before Watch.
func New(o Options) *Tracker {
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	return &Tracker{o: o, mask: changes, watches: map[*Watch]struct{}{}}
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
	w := &Watch{t: t, root: root, notes: notes{limit: t.o.Limit, told: make(chan struct{}, 1)}}
	if err := w.arm(); err != nil {
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
	t     *Tracker
	root  string
	notes notes

	unseen atomic.Int64

	mu     sync.Mutex // one Drain at a time
	closed bool       // guarded by mu
	armed  armed      // guarded by mu
}

// Mode is what tells us of changes here.
func (w *Watch) Mode() retake.TrackingMode {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mode()
}

// Events counts what was told of this root so far.
func (w *Watch) Events() int64 { return w.notes.events.Load() }

// Unseen counts the processes that could not be looked into at the last Drain.
func (w *Watch) Unseen() int64 { return w.unseen.Load() }

// Told gets a value when something is told. It holds one value at most.
func (w *Watch) Told() <-chan struct{} { return w.notes.told }

// Drain reads the queue of the kernel to its end and answers what was told since
// the Drain before. After a doubt the watch is whole again from the checkpoint of
// the call; while that cannot be, every answer is a doubt.
func (w *Watch) Drain() Dirt {
	w.mu.Lock()
	defer w.mu.Unlock()
	d := Dirt{Paths: map[string]Mark{}}
	if w.closed {
		d.doubt("the watch is closed")
		return d
	}
	w.drain(&d)
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
	w.t.mu.Lock()
	delete(w.t.watches, w)
	w.t.mu.Unlock()
	return w.disarm()
}

// notes is what a watch says while nobody drains it.
type notes struct {
	limit  int
	events atomic.Int64
	told   chan struct{}
}

// tell counts one event. The channel holds one value, so nobody waits here.
func (n *notes) tell() {
	n.events.Add(1)
	n.wake()
}

func (n *notes) wake() {
	select {
	case n.told <- struct{}{}:
	default:
	}
}
