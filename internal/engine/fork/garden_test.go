package fork_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/fork"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memory"
)

const then = 1_700_000_000_123_456_789

// item is one path of a tree, as it is stored and as it is found again.
type item struct {
	Kind     retake.Kind
	Mode     uint32
	UID, GID uint32
	Mtime    int64
	Data     string // bytes, or the text of a link
	Group    string // the smallest path of those that are one file
	Xattrs   map[string]string
	Holes    []retake.Hole
}

// garden is a tree by path; the root is "".
type garden map[string]item

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tester is what rapid and testing have in common.
type tester interface {
	Helper()
	Cleanup(func())
	Fatal(args ...any)
}

func check(t tester, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sow stores a tree and answers its root.
func sow(t tester, st store.Store, g garden) retake.Entry {
	t.Helper()
	w, err := st.Begin(context.Background(), retake.Workspace{ID: "w"})
	check(t, err)
	defer w.Close()
	return sowDir(t, w, g, "")
}

func sowDir(t tester, w store.Writer, g garden, dir string) retake.Entry {
	t.Helper()
	var kids []retake.Entry
	for p := range g {
		if p == "" || parent(p) != dir {
			continue
		}
		e := entryOf(g[p])
		e.Name = path.Base(p)
		if e.Kind == retake.KindDir {
			sub := sowDir(t, w, g, p)
			e.Object, e.Sum = sub.Object, sub.Sum
		} else {
			var err error
			e.Object, e.Size, err = w.WriteFile(context.Background(), p, strings.NewReader(g[p].Data))
			check(t, err)
		}
		kids = append(kids, e)
	}
	e := entryOf(g[dir])
	var err error
	e.Object, e.Sum, err = w.WriteDir(context.Background(), kids, e.ModTime)
	check(t, err)
	return e
}

func entryOf(i item) retake.Entry {
	e := retake.Entry{Kind: i.Kind, Mode: i.Mode, UID: i.UID, GID: i.GID, ModTime: i.Mtime}
	if i.Group != "" || i.Xattrs != nil || i.Holes != nil {
		e.Extra = &retake.Extra{Group: i.Group, Holes: i.Holes}
		for name, value := range i.Xattrs {
			if e.Extra.Xattrs == nil {
				e.Extra.Xattrs = map[string][]byte{}
			}
			e.Extra.Xattrs[name] = []byte(value)
		}
	}
	return e
}

func parent(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

func under(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// reap reads a directory back, with what stat told of each path. Modes that keep us
// out are lifted, each after it was read.
func reap(t tester, d fsx.Dir) (garden, map[string]fsx.Info) {
	t.Helper()
	g, infos := garden{}, map[string]fsx.Info{}
	root, err := d.Stat()
	check(t, err)
	infos[""] = root
	it := itemOf(root)
	it.Xattrs = xattrsOf(t, d.Xattrs)
	g[""] = it
	liftRoot(t, d)
	reapDir(t, d, "", g, infos)
	byInode := map[uint64][]string{}
	for p, i := range infos {
		if i.Type == fsx.Regular && i.Nlink > 1 {
			byInode[i.Ino] = append(byInode[i.Ino], p)
		}
	}
	for _, paths := range byInode {
		for _, p := range paths {
			it := g[p]
			it.Group = slices.Min(paths)
			g[p] = it
		}
	}
	return g, infos
}

func reapDir(t tester, d fsx.Dir, dir string, g garden, infos map[string]fsx.Info) {
	t.Helper()
	names, err := d.Names()
	check(t, err)
	for _, name := range names {
		i, err := d.Lstat(name)
		check(t, err)
		p := under(dir, name)
		if _, ok := infos[p]; !ok {
			infos[p] = i
		}
		it := itemOf(i)
		switch i.Type {
		case fsx.Directory:
			lift(t, d, name, i, 0o700)
			sub, err := d.OpenDir(name)
			check(t, err)
			it.Xattrs = xattrsOf(t, sub.Xattrs)
			reapDir(t, sub, p, g, infos)
			check(t, sub.Close())
		case fsx.Symlink:
			it.Data, err = d.Readlink(name)
			check(t, err)
		case fsx.Regular:
			lift(t, d, name, i, 0o600)
			reapFile(t, d, name, &it)
			unlift(t, d, name, i)
		case fsx.FIFO, fsx.Socket, fsx.Device:
		}
		g[p] = it
	}
}

func reapFile(t tester, d fsx.Dir, name string, it *item) {
	t.Helper()
	f, err := d.OpenFile(name)
	check(t, err)
	defer f.Close()
	b, err := io.ReadAll(f)
	check(t, err)
	it.Data = string(b)
	it.Xattrs = xattrsOf(t, f.Xattrs)
	holes, err := f.Holes()
	check(t, err)
	for _, h := range holes {
		it.Holes = append(it.Holes, retake.Hole(h))
	}
}

func lift(t tester, d fsx.Dir, name string, i fsx.Info, mode uint32) {
	t.Helper()
	if i.Mode&mode != mode {
		check(t, d.Dress(name, i.Ino, fsx.Dressing{Mode: mode, Mtime: i.Mtime}))
	}
}

func liftRoot(t tester, d fsx.Dir) {
	t.Helper()
	i, err := d.Stat()
	check(t, err)
	check(t, d.DressSelf(fsx.Dressing{Mode: i.Mode | 0o700, Mtime: i.Mtime}))
}

// unlift gives the mode back: a file may be met again by another name.
func unlift(t tester, d fsx.Dir, name string, i fsx.Info) {
	t.Helper()
	check(t, d.Dress(name, i.Ino, fsx.Dressing{Mode: i.Mode, Mtime: i.Mtime}))
}

func xattrsOf(t tester, list func() (map[string][]byte, error)) (all map[string]string) {
	t.Helper()
	attrs, err := list()
	check(t, err)
	for name, value := range attrs {
		if all == nil {
			all = map[string]string{}
		}
		all[name] = string(value)
	}
	return all
}

func itemOf(i fsx.Info) item {
	kinds := map[fsx.Type]retake.Kind{
		fsx.Regular: retake.KindFile, fsx.Directory: retake.KindDir, fsx.Symlink: retake.KindSymlink,
		fsx.FIFO: retake.KindFIFO, fsx.Socket: retake.KindSocket,
	}
	return item{Kind: kinds[i.Type], Mode: i.Mode, UID: i.UID, GID: i.GID, Mtime: i.Mtime}
}

func same(t testing.TB, want, have garden) {
	t.Helper()
	if diff := gocmp.Diff(want, have); diff != "" {
		t.Errorf("the tree is another one (-want +have):\n%s", diff)
	}
}

// ledger keeps what Wrote heard.
type ledger struct {
	mu    sync.Mutex
	infos map[string]fsx.Info
	twice []string
}

func (l *ledger) wrote(p string, i fsx.Info) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.infos[p]; ok {
		l.twice = append(l.twice, p)
	}
	if l.infos == nil {
		l.infos = map[string]fsx.Info{}
	}
	l.infos[p] = i
}

// same takes the ledger as the stamps of a capture.
func (l *ledger) same(p string, _ retake.Entry) (fork.Stamp, bool) {
	i, ok := l.infos[p]
	return fork.Stamp{Ino: i.Ino, Nlink: i.Nlink, Size: i.Size, Mtime: i.Mtime, Ctime: i.Ctime}, ok
}

// agrees holds what was heard against what is there; room is given in its own time.
func (l *ledger) agrees(t testing.TB, found map[string]fsx.Info) {
	t.Helper()
	bare := func(all map[string]fsx.Info) map[string]fsx.Info {
		out := maps.Clone(all)
		for p, i := range out {
			i.Blocks = 0
			out[p] = i
		}
		return out
	}
	if diff := gocmp.Diff(bare(found), bare(l.infos)); diff != "" || l.twice != nil {
		t.Errorf("what was told is not what is there (-there +told):\n%s\ntwice: %q", diff, l.twice)
	}
}

// grow runs a job, holds what it told against what is there, and reads the tree back.
func grow(t testing.TB, j fork.Job) (fork.Report, garden, *ledger) {
	t.Helper()
	var l ledger
	j.Wrote = l.wrote
	rep, err := fork.Grow(context.Background(), j)
	must(t, err)
	g, found := reap(t, j.To)
	l.agrees(t, found)
	return rep, g, &l
}

// counted counts the files that are taken from the store.
type counted struct {
	store.Store
	mu    sync.Mutex
	opens map[retake.ObjectID]int
}

func counting() *counted { return &counted{Store: memory.New(), opens: map[retake.ObjectID]int{}} }

func (c *counted) File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error) {
	c.mu.Lock()
	c.opens[id]++
	c.mu.Unlock()
	return c.Store.File(ctx, id)
}

func (c *counted) taken() (n int) {
	for _, k := range c.opens {
		n += k
	}
	return n
}

// writeFile makes or replaces a file of a directory.
func writeFile(t testing.TB, d fsx.Dir, name, data string) {
	t.Helper()
	if err := d.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	f, err := d.Create(name, 0o644)
	must(t, err)
	_, err = io.Copy(struct{ io.Writer }{f}, bytes.NewReader([]byte(data)))
	must(t, errors.Join(err, f.Close()))
}
