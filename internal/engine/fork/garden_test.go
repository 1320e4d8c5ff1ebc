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
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

const testTime = 1_700_000_000_123_456_789

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

// fileSet is a tree by path; the root is "".
type fileSet map[string]item

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

// storeTree stores a tree and returns its root.
func storeTree(t tester, st store.Store, g fileSet) retake.Entry {
	t.Helper()
	w, err := st.Begin(context.Background(), retake.Workspace{ID: "w"})
	check(t, err)
	defer w.Close()
	return storeDir(t, w, g, "")
}

func storeDir(t tester, w store.Writer, g fileSet, dir string) retake.Entry {
	t.Helper()
	var kids []retake.Entry
	for p := range g {
		if p == "" || parentPath(p) != dir {
			continue
		}
		e := entryOf(g[p])
		e.Name = path.Base(p)
		if e.Kind == retake.KindDir {
			sub := storeDir(t, w, g, p)
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

func parentPath(p string) string {
	if i := strings.LastIndexByte(p, '/'); i >= 0 {
		return p[:i]
	}
	return ""
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// readTree reads a directory back, with what stat returned for each path. Modes that keep us
// out are lifted, each after it was read.
func readTree(t tester, d fsx.Dir) (fileSet, map[string]fsx.Info) {
	t.Helper()
	g, infos := fileSet{}, map[string]fsx.Info{}
	root, err := d.Stat()
	check(t, err)
	infos[""] = root
	it := itemOf(root)
	it.Xattrs = xattrsOf(t, d.Xattrs)
	g[""] = it
	makeRootAccessible(t, d)
	readTreeDir(t, d, "", g, infos)
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

func readTreeDir(t tester, d fsx.Dir, dir string, g fileSet, infos map[string]fsx.Info) {
	t.Helper()
	names, err := d.Names()
	check(t, err)
	for _, name := range names {
		i, err := d.Lstat(name)
		check(t, err)
		p := joinPath(dir, name)
		if _, ok := infos[p]; !ok {
			infos[p] = i
		}
		it := itemOf(i)
		switch i.Type {
		case fsx.Directory:
			makeAccessible(t, d, name, i, 0o700)
			sub, err := d.OpenDir(name)
			check(t, err)
			it.Xattrs = xattrsOf(t, sub.Xattrs)
			readTreeDir(t, sub, p, g, infos)
			check(t, sub.Close())
		case fsx.Symlink:
			it.Data, err = d.Readlink(name)
			check(t, err)
		case fsx.Regular:
			makeAccessible(t, d, name, i, 0o600)
			readTreeFile(t, d, name, &it)
			resetMode(t, d, name, i)
		case fsx.FIFO, fsx.Socket, fsx.Device:
		}
		g[p] = it
	}
}

func readTreeFile(t tester, d fsx.Dir, name string, it *item) {
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

func makeAccessible(t tester, d fsx.Dir, name string, i fsx.Info, mode uint32) {
	t.Helper()
	if i.Mode&mode != mode {
		check(t, d.SetMetadata(name, i.Ino, fsx.Metadata{Mode: mode, Mtime: i.Mtime}))
	}
}

func makeRootAccessible(t tester, d fsx.Dir) {
	t.Helper()
	i, err := d.Stat()
	check(t, err)
	check(t, d.SetOwnMetadata(fsx.Metadata{Mode: i.Mode | 0o700, Mtime: i.Mtime}))
}

// resetMode gives the mode back: a file may be met again by another name.
func resetMode(t tester, d fsx.Dir, name string, i fsx.Info) {
	t.Helper()
	check(t, d.SetMetadata(name, i.Ino, fsx.Metadata{Mode: i.Mode, Mtime: i.Mtime}))
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

func wantEqual(t testing.TB, want, have fileSet) {
	t.Helper()
	if diff := gocmp.Diff(want, have); diff != "" {
		t.Errorf("the tree is another one (-want +have):\n%s", diff)
	}
}

// writtenLog keeps what Wrote heard.
type writtenLog struct {
	mu    sync.Mutex
	infos map[string]fsx.Info
	twice []string
}

func (l *writtenLog) record(p string, i fsx.Info) {
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

// stampOf takes the ledger as the stamps of a capture.
func (l *writtenLog) stampOf(p string, _ retake.Entry) (fork.Stamp, bool) {
	i, ok := l.infos[p]
	return fork.Stamp{Ino: i.Ino, Nlink: i.Nlink, Size: i.Size, Mtime: i.Mtime, Ctime: i.Ctime}, ok
}

// wantInfos holds what was heard against what is there; room is given in its own time.
func (l *writtenLog) wantInfos(t testing.TB, found map[string]fsx.Info) {
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

// buildFork runs a job, holds what it told against what is there, and reads the tree back.
func buildFork(t testing.TB, j fork.Job) (fork.Report, fileSet, *writtenLog) {
	t.Helper()
	var l writtenLog
	j.OnWritten = l.record
	rep, err := fork.Build(context.Background(), j)
	must(t, err)
	g, found := readTree(t, j.To)
	l.wantInfos(t, found)
	return rep, g, &l
}

// countingStore counts the files that are taken from the store.
type countingStore struct {
	store.Store
	mu    sync.Mutex
	opens map[retake.ObjectID]int
}

func newCountingStore() *countingStore {
	return &countingStore{Store: memorytest.New(), opens: map[retake.ObjectID]int{}}
}

func (c *countingStore) File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error) {
	c.mu.Lock()
	c.opens[id]++
	c.mu.Unlock()
	return c.Store.File(ctx, id)
}

func (c *countingStore) openCount() (n int) {
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
