package capture

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/internal/pure/ignore"
)

// Sink stores the captured bytes. The writer of a store is one.
type Sink interface {
	WriteFile(ctx context.Context, name string, r io.Reader) (retake.ObjectID, int64, error)
	WriteDir(ctx context.Context, entries []retake.Entry, modTime int64) (retake.ObjectID, retake.Summary, error)
}

// Options configure a capture.
type Options struct {
	Clock     clock.Clock
	Policy    retake.Policy
	Budget    time.Duration      // 0: as long as it takes
	Skip      []DirID            // directories that are ours: the store
	Marker    bool               // the root may contain our marker, which is never captured
	Workspace retake.WorkspaceID // that the mark names
	Xattr     string             // the attribute of our mark on the root, never captured
	Workers   int                // 0: twice the processors
	FineTimes bool               // times show every change that follows a look at them
	Progress  func(retake.Progress)
	Names     []string // the only names of the root that are looked at; nil: all

	// Dirty names the places that may have changed since the index was made, by this process,
	// with everything looked at; nil: look at everything. Gaps are those of that capture.
	Dirty  map[string]track.Mark
	Inodes map[uint64]bool // files that got or lost a name, by number
	Gaps   []retake.Gap
}

// DirID identifies a directory.
type DirID struct{ Dev, Ino uint64 }

// Limits that always apply.
const (
	maxDepth     = 1000     // directory levels below the root
	maxHoles     = 64 << 30 // bytes of holes that are read as zeros
	maxReadTries = 3        // reads of a file that keeps changing
	// racyWindow covers the clock granularity of every file system in use.
	racyWindow = int64(2 * time.Second)
)

// Result is a capture that is not sealed yet.
type Result struct {
	Files    retake.Entry // the root
	Content  retake.ContentID
	Coverage retake.Coverage
	Changed  retake.Counts // against the index
	NewBytes int64         // of files that are new or have other bytes
	Read     int64         // bytes that were read, also to find that nothing changed
	Complete bool          // everything was looked at
	Delta    *Delta        // nil: nobody knows, or it is too much
	Draft    *Draft
}

// Draft is what a capture learned for the next one. It may be saved only under the seal that
// contains its bytes.
type Draft struct {
	index    *Index
	records  []string
	heads    []string
	onAccept func() // what the index learns besides
}

// Accept commits the draft to the index, after the seal has made the bytes durable.
func (d *Draft) Accept(seal Seal) {
	d.index.undoRecords, d.index.seal = nil, seal
	d.onAccept()
}

// Discard rolls the index back: the bytes were not sealed.
func (d *Draft) Discard() { d.index.rollback() }

// writeRecords writes the records that this capture changed.
func (d *Draft) writeRecords(w *frameWriter) {
	for _, p := range d.records {
		w.addRecord(frameRecords, p, d.index.dirs[p])
	}
	for _, p := range d.heads {
		w.addRecord(frameHeads, p, &dirRecord{head: d.index.dirs[p].head})
	}
}

// Read captures the tree below root into sink. It owns x until its draft is accepted or
// discarded; after an error x is unchanged. An error means that there is no snapshot; a file
// that could not be read is a gap and not an error.
func Read(ctx context.Context, root fsx.Dir, x *Index, sink Sink, o Options) (*Result, error) {
	o.Dirty = x.dirtyPaths(o)
	defer func() {
		if p := recover(); p != nil { // a caller that recovers must not find unsealed rows
			x.rollback()
			panic(p)
		}
	}()
	w, n, err := capturePass(ctx, root, x, sink, o)
	if errors.Is(err, errUnknownLinks) {
		x.rollback()
		o.Dirty = nil
		w, n, err = capturePass(ctx, root, x, sink, o)
	}
	if err != nil {
		x.rollback()
		return nil, fmt.Errorf("read workspace: %w", err)
	}
	res := &Result{Files: w.rootEntry(n), Coverage: retake.Cover(w.sortedGaps()), Changed: w.counts, NewBytes: w.newBytes.Load(), Read: w.byteCount.Load(), Complete: o.Dirty == nil, Delta: w.delta.result()}
	res.Content = retake.ContentID(hex.EncodeToString(n.head.content[:]))
	res.Draft = &Draft{index: x, records: w.records, heads: w.heads, onAccept: w.updateIndex}
	return res, nil
}

// capturePass makes one pass over the workspace.
func capturePass(ctx context.Context, root fsx.Dir, x *Index, sink Sink, o Options) (*walker, *dirNode, error) {
	x.beginCapture()
	w, err := newWalker(ctx, root, x, o)
	if err != nil {
		return nil, nil, err
	}
	w.sink = sink
	w.delta.base = x.seal.Checkpoint
	n, err := w.walkTree(ctx, root)
	return w, n, err
}

// walker makes one pass over a workspace. With a sink it captures; with emit and equal it only
// reports differences from the index.
type walker struct {
	opts            Options
	index           *Index
	sink            Sink
	emit            func(retake.Change) error
	equal           func(ctx context.Context, id retake.ObjectID, r io.Reader) (bool, error)
	dev             uint64
	started         int64
	timesUnreliable bool // times do not show changes of bytes here: every file is read twice
	deadline        time.Time
	excludes        *ignore.Excludes
	tokens          chan struct{} // one for each extra goroutine
	fileCount       atomic.Int64
	byteCount       atomic.Int64
	newBytes        atomic.Int64

	mu            sync.Mutex // guards everything below, and x.dirs
	gaps          []retake.Gap
	counts        retake.Counts
	delta         deltaCollector
	links         map[uint64][]linkRef
	records       []string
	heads         []string
	emptyID       retake.ObjectID // the object of no bytes, for FIFOs and sockets
	err           error
	visited       map[string]bool // paths that were looked at; true: with all below
	lostLinks     []lostLink
	pendingGroups []pendingGroup
	inodes        map[uint64]linkedInode // those with several names, once they are resolved
	linksUnknown  bool
}

// newWalker prepares a pass. It drops the inode numbers of an index from another device and
// syncs the file system, so that later writes through a mapping change the times of their
// files.
func newWalker(ctx context.Context, root fsx.Dir, x *Index, o Options) (*walker, error) {
	w := &walker{opts: o, index: x, links: map[uint64][]linkRef{}, visited: map[string]bool{}, inodes: map[uint64]linkedInode{}}
	var err error
	if w.excludes, err = ignore.NewExcludes(o.Policy.Exclude); err != nil {
		return nil, err
	}
	i, err := root.Stat()
	if err != nil {
		return nil, err
	}
	w.dev = i.Dev
	if x.dev != 0 && x.dev != i.Dev {
		if o.Dirty != nil {
			return nil, fmt.Errorf("the root is on another device than the index: %w", errIndexDamaged)
		}
		// Inode numbers of another file system mean nothing here.
		for _, r := range x.dirs {
			r.forgetInodes()
		}
		x.fileSize = 0
	}
	x.dev = i.Dev
	// A store through a mapping changes no time while its page is dirty. After
	// the sync the first one does, and what changes from here on is unsettled: a
	// page may get dirty again long before a slow sync ends.
	now := o.Clock.Now()
	w.started = now.UnixNano()
	w.timesUnreliable = x.timesUnreliable
	if o.Dirty == nil { // else the files that are mapped are synced one by one
		err = root.SyncFS()
		w.timesUnreliable = errors.Is(err, fsx.ErrNoWriteback)
		if err != nil && !w.timesUnreliable && !errors.Is(err, errors.ErrUnsupported) {
			return nil, err
		}
	}
	if o.Budget > 0 {
		w.deadline = now.Add(o.Budget)
	}
	n := o.Workers
	if n <= 0 {
		n = 2 * runtime.GOMAXPROCS(0)
	}
	w.tokens = make(chan struct{}, n-1)
	return w, ctx.Err()
}

func (r *dirRecord) forgetInodes() {
	rows, err := r.decodeRows()
	if err != nil {
		return // the visit will find it
	}
	for i := range rows {
		rows[i].ino = 0
	}
	*r = *newDirRecord(r.head, rows)
}

// walkTree visits the tree, then finishes the directories that had to wait until all hard
// links were known.
func (w *walker) walkTree(ctx context.Context, root fsx.Dir) (*dirNode, error) {
	n := &dirNode{record: w.findRecord(""), scanAll: w.opts.Dirty == nil}
	if w.opts.Dirty != nil {
		var err error
		if n.target, err = w.scanTargets(); err != nil {
			return nil, err
		}
	}
	if w.opts.Policy.GitIgnore {
		n.rules = ignore.EmptyRules()
	}
	if err := w.visitDir(ctx, root, n); err != nil {
		return nil, err
	}
	if w.opts.Dirty != nil {
		w.carryOverGaps()
	}
	if err := w.resolveLinks(); err != nil {
		return nil, err
	}
	if w.sink == nil {
		return n, nil
	}
	if err := w.finishDeferred(ctx, n); err != nil {
		return nil, err
	}
	return n, nil
}

// updateIndex stores what only this process knows in the index.
func (w *walker) updateIndex() {
	w.saveLinks()
	if w.opts.Dirty == nil {
		w.index.complete, w.index.timesUnreliable = w.unseenLinksAreExternal(), w.timesUnreliable
	}
}

func (w *walker) findRecord(path string) *dirRecord {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.index.dirs[path]
}

func (w *walker) addGap(path string, reason retake.Reason, detail string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gaps = append(w.gaps, retake.Gap{Path: path, Reason: reason, Detail: detail})
}

func (w *walker) rootEntry(n *dirNode) retake.Entry {
	e := entryOf("", &n.info)
	e.Object, e.Sum = n.head.object, n.head.sum
	delete(n.xattrs, w.opts.Xattr)
	if len(n.xattrs) > 0 {
		e.Extra = &retake.Extra{Xattrs: n.xattrs}
	}
	return e
}

func (w *walker) isPastDeadline() bool {
	return !w.deadline.IsZero() && w.opts.Clock.Now().After(w.deadline)
}

// reportProgress reports progress from time to time.
func (w *walker) reportProgress() {
	if n := w.fileCount.Add(1); w.opts.Progress != nil && n%256 == 0 {
		w.opts.Progress(retake.Progress{Files: n, Bytes: w.byteCount.Load()})
	}
}

// runParallel runs f in another goroutine if one is free, otherwise in place. The first error
// ends the walk.
func (w *walker) runParallel(wg *sync.WaitGroup, f func() error) {
	run := func() {
		defer func() { // in a process that serves others, one capture may not end them all
			if p := recover(); p != nil {
				w.setError(fmt.Errorf("the capture broke off: %v", p))
			}
		}()
		if w.firstError() != nil {
			return
		}
		if err := f(); err != nil {
			w.setError(err)
		}
	}
	select {
	case w.tokens <- struct{}{}:
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer func() { <-w.tokens }()
			run()
		}()
	default:
		run()
	}
}

func (w *walker) setError(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil || errors.Is(w.err, context.Canceled) {
		w.err = err
	}
}

func (w *walker) firstError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
