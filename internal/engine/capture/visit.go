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

// node is one directory while it is being captured.
type node struct {
	path   string
	depth  int
	base   *record         // what the index knows of it; nil when it is new
	only   *spot           // what the caller knows of it and of what is below
	all    bool            // everything below is in question
	ino    uint64          // of the directory that the index knows; another in its place is all in question
	part   map[string]bool // the names that were looked at; nil: all
	rules  ignore.Rules
	info   fsx.Info
	xattrs map[string][]byte
	rows   []row
	kids   map[string]*node
	head   head
	done   bool
	held   bool // a row has other links: the group is known only at the end
}

// visit lists a directory, then settles every name in it.
func (w *walker) visit(ctx context.Context, dir fsx.Dir, n *node) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var old []row
	var err error
	if n.base != nil {
		if old, err = n.base.decode(); err != nil {
			return err
		}
	}
	names, err := w.names(dir, n, old)
	if err != nil {
		return err
	}
	if w.o.Policy.GitIgnore {
		n.rules = w.readIgnore(dir, n, names)
	}
	v := &visitor{walker: w, dir: dir, n: n, old: old, names: names,
		kids: make([]*node, len(names)), rows: make([]row, len(names)), state: make([]settled, len(names))}
	v.settleAll(ctx, names)
	if err := w.failed(); err != nil {
		return err
	}
	v.gather()
	if err := v.tell(); err != nil {
		return err
	}
	w.noteLinks(n)
	if w.sink == nil {
		n.kids, n.done = nil, true
		if !n.held {
			n.rows = nil
		}
		return nil
	}
	return w.finish(ctx, n, old)
}

// listingError is about one directory; the capture goes on without it.
type listingError struct {
	path string
	err  error
}

func (e *listingError) Error() string { return "list: " + e.err.Error() }
func (e *listingError) Unwrap() error { return e.err }

// names are all names of a directory, or those in question.
func (w *walker) names(dir fsx.Dir, n *node, old []row) ([]string, error) {
	some, ok := n.some(old)
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
		n.all = true
		w.seen(n.path, true)
		return w.list(dir, n)
	}
	n.part = make(map[string]bool, len(some))
	for _, name := range some {
		n.part[name] = true
	}
	return some, nil
}

// list gives the names, sorted, and retries while the directory changes.
func (w *walker) list(dir fsx.Dir, n *node) ([]string, error) {
	for try := 1; ; try++ {
		names, still, err := listOnce(dir, n)
		if err != nil {
			return nil, &listingError{n.path, err}
		}
		if still || try == tries {
			if !still {
				w.gap(n.path+"/", retake.ReasonMoving, "names changed while they were listed")
			}
			slices.Sort(names)
			return slices.Compact(names), nil // one renamed under the listing may come twice
		}
	}
}

func listOnce(dir fsx.Dir, n *node) (names []string, still bool, err error) {
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

// settled says how a name ended.
type settled uint8

const (
	vanished settled = iota // not there any more
	kept                    // in the tree
	gapped                  // there, and not in the tree; a gap says why
)

// visitor settles the names of one directory.
type visitor struct {
	*walker
	dir   fsx.Dir
	n     *node
	names []string
	old   []row
	rows  []row
	kids  []*node
	state []settled
}

// settleAll goes through the names; files of one database are settled together.
func (v *visitor) settleAll(ctx context.Context, names []string) {
	var wg sync.WaitGroup
	defer wg.Wait()
	groups := databases(names)
	for i, name := range names {
		if v.failed() != nil {
			return
		}
		if members, ok := groups[name]; ok {
			if members[0] == i { // the first member settles all
				v.spread(&wg, func() error { return v.settleGroup(ctx, names, members) })
			}
			continue
		}
		if err := v.settle(ctx, &wg, i, name); err != nil {
			v.fail(err)
			return
		}
	}
}

// settle takes one name that is in no group.
func (v *visitor) settle(ctx context.Context, wg *sync.WaitGroup, i int, name string) error {
	st, ok, err := v.look(i, name)
	if err != nil || !ok {
		return err
	}
	path := join(v.n.path, name)
	if st.Type == fsx.Directory {
		v.spread(wg, func() error { return v.descend(ctx, i, name, path) })
		return nil
	}
	v.tick()
	if b := v.before(name); b != nil && b.same(&st) {
		v.rows[i], v.state[i] = *b, kept
		return nil
	}
	v.spread(wg, func() error { return v.readOne(ctx, i, name, path, st) })
	return nil
}

// look stats a name and sorts out what is never captured.
func (v *visitor) look(i int, name string) (fsx.Info, bool, error) {
	path := join(v.n.path, name)
	if v.ours(name) {
		v.state[i] = gapped
		return fsx.Info{}, false, nil
	}
	v.state[i] = vanished
	if v.n.only.kid(name).mapped() {
		v.syncFile(name)
	}
	st, err := v.lstat(name)
	v.seen(path, err != nil || st.Type != fsx.Directory)
	if errors.Is(err, fs.ErrNotExist) {
		return st, false, nil
	}
	v.state[i] = gapped
	if err != nil {
		return st, false, v.unreadable(path, err)
	}
	isDir := st.Type == fsx.Directory
	switch {
	case v.excludes.Match(path, isDir):
		v.gap(slash(path, isDir), retake.ReasonExcluded, "")
	case v.o.Policy.GitIgnore && v.n.rules.Ignored(path, isDir):
		v.gap(slash(path, isDir), retake.ReasonIgnored, "")
	case st.Type == fsx.Device:
		v.gap(path, retake.ReasonDevice, "")
	case st.Dev != v.dev && v.elsewhere(name, &st):
		v.gap(slash(path, isDir), retake.ReasonMount, "")
	case isDir && slices.Contains(v.o.Skip, Place{st.Dev, st.Ino}):
		v.gap(path+"/", retake.ReasonStore, "")
	default:
		return st, true, nil
	}
	return st, false, nil
}

// syncFile writes a mapped file back, so that the next store to it moves its times.
// One that cannot be opened or synced has its say when it is read.
func (v *visitor) syncFile(name string) {
	if f, err := v.dir.OpenFile(name); err == nil {
		_ = f.Sync()
		_ = f.Close()
	}
}

// elsewhere tells a mount from an overlay whose layers are different file systems:
// there, all that are not directories have the device of their layer. Opening
// tells them apart; a regular file is opened anyway when it is read, links are
// never mounts, and a FIFO is not opened, for it would wake who waits at it.
func (v *visitor) elsewhere(name string, st *fsx.Info) bool {
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
	v.tellApart(&st)
	return st, err
}

// tellApart makes inode numbers of several devices, as an overlay shows them, one set.
func (w *walker) tellApart(i *fsx.Info) {
	if i.Dev != w.dev {
		i.Ino ^= bits.RotateLeft64(i.Dev, 40)
	}
}

func slash(path string, isDir bool) string {
	if isDir {
		return path + "/"
	}
	return path
}

// unreadable turns an error of one path into a gap. What ends the whole capture stays an
// error: no descriptors or memory left, or a cancelled context.
func (v *visitor) unreadable(path string, err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, fsx.ErrCrashed) || fsx.Exhausted(err) {
		return err
	}
	v.gap(path, retake.ReasonUnreadable, fsx.Cause(err))
	return nil
}

func (v *visitor) before(name string) *row { return knownName(v.old, name) }

// descend captures a sub-directory.
func (v *visitor) descend(ctx context.Context, i int, name, path string) error {
	switch {
	case v.n.depth+1 > maxDepth:
		v.gap(path+"/", retake.ReasonTooDeep, "")
		return nil
	case v.late():
		v.gap(path+"/", retake.ReasonBudget, "")
		return nil
	}
	d, err := v.dir.OpenDir(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fsx.ErrNotDir):
		v.state[i] = vanished // or became something else since the look
		v.gap(path, retake.ReasonMoving, "")
		return nil
	case errors.Is(err, fsx.ErrOtherMount):
		v.gap(path+"/", retake.ReasonMount, "")
		return nil
	case err != nil:
		return v.unreadable(path+"/", err)
	}
	kid := &node{path: path, depth: v.n.depth + 1, rules: v.n.rules, only: v.n.only.kid(name), all: v.n.all}
	if b := v.before(name); b != nil && b.entry.Kind == retake.KindDir {
		kid.base, kid.ino = v.record(path), b.ino
	}
	err = errors.Join(v.visit(ctx, d, kid), d.Close())
	var l *listingError
	if errors.As(err, &l) && l.path == path {
		return v.unreadable(path+"/", l.err)
	}
	if err != nil {
		return err
	}
	v.rows[i] = row{entry: entryOf(name, &kid.info), ino: kid.info.Ino, nlink: 1, ctime: kid.info.Ctime}
	if len(kid.xattrs) > 0 {
		v.rows[i].entry.Extra = &retake.Extra{Xattrs: kid.xattrs}
	}
	v.kids[i], v.state[i] = kid, kept
	return nil
}
