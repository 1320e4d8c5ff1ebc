package capture

import (
	"context"
	"errors"
	"io/fs"
	"math/bits"
	"slices"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/ignore"
)

// dirNode is a directory while it is captured.
type dirNode struct {
	path        string
	depth       int
	record      *dirRecord      // what the index knows of it; nil when it is new
	target      *scanTarget     // what the caller knows of it and of what is below
	scanAll     bool            // everything below is in question
	ino         uint64          // of the directory that the index knows; another in its place is all in question
	scanned     map[string]bool // the names that were looked at; nil: all
	rules       ignore.Rules
	info        fsx.Info
	xattrs      map[string][]byte
	rows        []row
	children    map[string]*dirNode
	head        dirHead
	done        bool
	awaitsLinks bool // a row has other links: the group is known only at the end
}

// visitDir lists a directory and captures every name in it.
func (w *walker) visitDir(ctx context.Context, dir fsx.Dir, n *dirNode) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var old []row
	var err error
	if n.record != nil {
		if old, err = n.record.decodeRows(); err != nil {
			return err
		}
	}
	names, err := w.namesToVisit(dir, n, old)
	if err != nil {
		return err
	}
	if w.opts.Policy.GitIgnore {
		n.rules = w.readIgnoreFile(dir, n, names)
	}
	v := &visitor{walker: w, dir: dir, node: n, old: old, names: names,
		children: make([]*dirNode, len(names)), rows: make([]row, len(names)), states: make([]nameState, len(names))}
	v.captureNames(ctx, names)
	if err := w.firstError(); err != nil {
		return err
	}
	v.collectRows()
	if err := v.reportChanges(); err != nil {
		return err
	}
	w.recordLinks(n)
	if w.sink == nil {
		n.children, n.done = nil, true
		if !n.awaitsLinks {
			n.rows = nil
		}
		return nil
	}
	return w.finishDir(ctx, n, old)
}

// listingError is an error of one directory; the capture continues without it.
type listingError struct {
	path string
	err  error
}

func (e *listingError) Error() string { return "list: " + e.err.Error() }
func (e *listingError) Unwrap() error { return e.err }

// namesToVisit returns all names of a directory, or those to scan.
func (w *walker) namesToVisit(dir fsx.Dir, n *dirNode, old []row) ([]string, error) {
	some, ok := n.namesToScan(old)
	if n.path == "" && w.opts.Names != nil {
		some, ok = slices.Sorted(slices.Values(w.opts.Names)), true
	}
	var err error
	if ok {
		if n.info, err = dir.Stat(); err == nil {
			n.xattrs, err = dir.Xattrs()
		}
		if err != nil {
			return nil, &listingError{n.path, err}
		}
		ok = n.ino == 0 || n.ino == n.info.Ino
	}
	if !ok {
		n.scanAll = true
		w.markVisited(n.path, true)
		return w.listStable(dir, n)
	}
	n.scanned = make(map[string]bool, len(some))
	for _, name := range some {
		n.scanned[name] = true
	}
	return some, nil
}

// listStable returns the sorted names and retries while the directory changes.
func (w *walker) listStable(dir fsx.Dir, n *dirNode) ([]string, error) {
	for try := 1; ; try++ {
		names, still, err := listOnce(dir, n)
		if err != nil {
			return nil, &listingError{n.path, err}
		}
		if still || try == maxReadTries {
			if !still {
				w.addGap(n.path+"/", retake.ReasonMoving, "names changed while they were listed")
			}
			slices.Sort(names)
			return slices.Compact(names), nil // one renamed under the listing may come twice
		}
	}
}

func listOnce(dir fsx.Dir, n *dirNode) (names []string, still bool, err error) {
	before, err := dir.Stat()
	if err != nil {
		return nil, false, err
	}
	if names, err = dir.Names(); err != nil {
		return nil, false, err
	}
	if n.xattrs, err = dir.Xattrs(); err != nil {
		return nil, false, err
	}
	n.info, err = dir.Stat()
	return names, before.Ctime == n.info.Ctime && before.Mtime == n.info.Mtime, err
}

// nameState is the result of capturing a name.
type nameState uint8

const (
	stateVanished nameState = iota // not there any more
	stateKept                      // in the tree
	stateGap                       // there, and not in the tree; a gap says why
)

// visitor captures the names of one directory.
type visitor struct {
	*walker
	dir      fsx.Dir
	node     *dirNode
	names    []string
	old      []row
	rows     []row
	children []*dirNode
	states   []nameState
}

// captureNames captures all names; the files of a database are captured together.
func (v *visitor) captureNames(ctx context.Context, names []string) {
	var wg sync.WaitGroup
	defer wg.Wait()
	groups := findDatabases(names)
	for i, name := range names {
		if v.firstError() != nil {
			return
		}
		if members, ok := groups[name]; ok {
			if members[0] == i { // the first member settles all
				v.runParallel(&wg, func() error { return v.captureGroup(ctx, names, members) })
			}
			continue
		}
		if err := v.captureName(ctx, &wg, i, name); err != nil {
			v.setError(err)
			return
		}
	}
}

// captureName captures one name that belongs to no group.
func (v *visitor) captureName(ctx context.Context, wg *sync.WaitGroup, i int, name string) error {
	st, ok, err := v.statName(i, name)
	if err != nil || !ok {
		return err
	}
	path := joinPath(v.node.path, name)
	if st.Type == fsx.Directory {
		v.runParallel(wg, func() error { return v.captureSubdir(ctx, i, name, path) })
		return nil
	}
	v.reportProgress()
	if b := v.previousRow(name); b != nil && b.matches(&st) {
		v.rows[i], v.states[i] = *b, stateKept
		return nil
	}
	v.runParallel(wg, func() error { return v.captureEntry(ctx, i, name, path, st) })
	return nil
}

// statName stats a name and filters out what is never captured.
func (v *visitor) statName(i int, name string) (fsx.Info, bool, error) {
	path := joinPath(v.node.path, name)
	if v.isOwnMarker(name) {
		v.states[i] = stateGap
		return fsx.Info{}, false, nil
	}
	v.states[i] = stateVanished
	if v.node.target.child(name).isMapped() {
		v.syncMapped(name)
	}
	st, err := v.lstat(name)
	v.markVisited(path, err != nil || st.Type != fsx.Directory)
	if errors.Is(err, fs.ErrNotExist) {
		return st, false, nil
	}
	v.states[i] = stateGap
	if err != nil {
		return st, false, v.gapFromError(path, err)
	}
	isDir := st.Type == fsx.Directory
	switch {
	case v.excludes.Match(path, isDir):
		v.addGap(withSlash(path, isDir), retake.ReasonExcluded, "")
	case v.opts.Policy.GitIgnore && v.node.rules.Ignored(path, isDir):
		v.addGap(withSlash(path, isDir), retake.ReasonIgnored, "")
	case st.Type == fsx.Device:
		v.addGap(path, retake.ReasonDevice, "")
	case st.Dev != v.dev && v.isOtherMount(name, &st):
		v.addGap(withSlash(path, isDir), retake.ReasonMount, "")
	case isDir && slices.Contains(v.opts.Skip, DirID{st.Dev, st.Ino}):
		v.addGap(path+"/", retake.ReasonStore, "")
	default:
		return st, true, nil
	}
	return st, false, nil
}

// syncMapped writes a mapped file back, so that the next write to it changes its times. Errors
// are ignored here: they show when the file is read.
func (v *visitor) syncMapped(name string) {
	if f, err := v.dir.OpenFile(name); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

// isOtherMount distinguishes a mount from an overlay whose layers are different file systems,
// where everything but directories has the device of its layer. Opening the file decides.
// Regular files are opened anyway when they are read, links are never mounts, and a FIFO is
// not opened, because that would wake a process that waits for it.
func (v *visitor) isOtherMount(name string, st *fsx.Info) bool {
	switch st.Type {
	case fsx.Directory, fsx.Device:
		return true
	case fsx.Socket:
		f, err := v.dir.OpenFile(name)
		if err == nil {
			_ = f.Close() // nothing was written
		}
		return errors.Is(err, fsx.ErrOtherMount)
	case fsx.Regular, fsx.Symlink, fsx.FIFO:
	}
	return false
}

func (v *visitor) lstat(name string) (fsx.Info, error) {
	st, err := v.dir.Lstat(name)
	v.normalizeInode(&st)
	return st, err
}

// normalizeInode makes the inode numbers of several devices, as an overlay shows them, unique.
func (w *walker) normalizeInode(i *fsx.Info) {
	if i.Dev != w.dev {
		i.Ino ^= bits.RotateLeft64(i.Dev, 40)
	}
}

func withSlash(path string, isDir bool) string {
	if isDir {
		return path + "/"
	}
	return path
}

// gapFromError turns an error of one path into a gap. What ends the whole capture stays an
// error: no descriptors or memory left, or a cancelled context.
func (v *visitor) gapFromError(path string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, fsx.ErrCrashed) || fsx.IsResourceExhausted(err) {
		return err
	}
	v.addGap(path, retake.ReasonUnreadable, fsx.CauseText(err))
	return nil
}

func (v *visitor) previousRow(name string) *row { return findRow(v.old, name) }

// captureSubdir captures a subdirectory.
func (v *visitor) captureSubdir(ctx context.Context, i int, name, path string) error {
	switch {
	case v.node.depth+1 > maxDepth:
		v.addGap(path+"/", retake.ReasonTooDeep, "")
		return nil
	case v.isPastDeadline():
		v.addGap(path+"/", retake.ReasonBudget, "")
		return nil
	}
	d, err := v.dir.OpenDir(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fsx.ErrNotDir):
		v.states[i] = stateVanished // or became something else since the look
		v.addGap(path, retake.ReasonMoving, "")
		return nil
	case errors.Is(err, fsx.ErrOtherMount):
		v.addGap(path+"/", retake.ReasonMount, "")
		return nil
	case err != nil:
		return v.gapFromError(path+"/", err)
	}
	kid := &dirNode{path: path, depth: v.node.depth + 1, rules: v.node.rules, target: v.node.target.child(name), scanAll: v.node.scanAll}
	if b := v.previousRow(name); b != nil && b.entry.Kind == retake.KindDir {
		kid.record, kid.ino = v.findRecord(path), b.ino
	}
	err = errors.Join(v.visitDir(ctx, d, kid), d.Close())
	var l *listingError
	if errors.As(err, &l) && l.path == path {
		return v.gapFromError(path+"/", l.err)
	}
	if err != nil {
		return err
	}
	v.rows[i] = row{entry: entryOf(name, &kid.info), ino: kid.info.Ino, nlink: 1, ctime: kid.info.Ctime}
	if len(kid.xattrs) > 0 {
		v.rows[i].entry.Extra = &retake.Extra{Xattrs: kid.xattrs}
	}
	v.children[i], v.states[i] = kid, stateKept
	return nil
}
