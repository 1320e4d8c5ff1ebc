package fork_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// testPlace is a file system with an empty directory to grow into, one for live files, and
// one beside them.
type testPlace struct {
	fs                fsx.FS
	base              string
	to, live, outside fsx.Dir
	memory            *fsxtest.Memory // nil on the machine
	root              bool            // any owner may be given
	xattrs, holes     bool            // can be told
	uid, gid          uint32
}

func (p *testPlace) path(names ...string) string {
	return path.Join(append([]string{p.base}, names...)...)
}

func onEveryPlace(t *testing.T, f func(t *testing.T, p *testPlace)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		f(t, newMemoryPlace(t))
	})
	t.Run("os", func(t *testing.T) {
		t.Parallel()
		f(t, newOSPlace(t, t.TempDir()))
	})
}

func newMemoryPlace(t tester) *testPlace {
	t.Helper()
	m := fsxtest.NewMemory()
	check(t, m.MkdirAll("/base", 0o755))
	p := &testPlace{fs: m, base: "/base", memory: m, root: true, uid: 1000, gid: 100}
	return p.openDirs(t)
}

func newOSPlace(t tester, dir string) *testPlace {
	t.Helper()
	t.Cleanup(func() { // a directory that lets nobody in is not removed
		_ = filepath.WalkDir(dir, func(at string, d fs.DirEntry, _ error) error {
			if d != nil && d.IsDir() {
				return os.Chmod(at, 0o700)
			}
			return nil
		})
	})
	p := &testPlace{fs: fsx.OS(), base: dir, root: os.Geteuid() == 0, uid: uint32(os.Geteuid()), gid: uint32(os.Getegid())}
	return p.openDirs(t)
}

func (p *testPlace) openDirs(t tester) *testPlace {
	t.Helper()
	base, err := p.fs.OpenRoot(p.base)
	check(t, err)
	defer base.Close()
	for name, d := range map[string]*fsx.Dir{"to": &p.to, "live": &p.live, "outside": &p.outside} {
		check(t, base.Mkdir(name, 0o700))
		*d, err = base.OpenDir(name)
		check(t, err)
	}
	err = p.outside.SetXattr("user.probe", []byte("x"))
	if p.xattrs = err == nil; err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Fatal(err)
	}
	p.holes = p.reportsHoles(t)
	return p
}

func (p *testPlace) reportsHoles(t tester) bool {
	t.Helper()
	f, err := p.outside.Create("sparse", 0o600)
	check(t, err)
	check(t, f.Truncate(64<<10))
	check(t, f.Close())
	f, err = p.outside.OpenFile("sparse")
	check(t, err)
	defer f.Close()
	holes, err := f.Holes()
	check(t, err)
	check(t, p.outside.Remove("sparse"))
	return len(holes) > 0
}

// adaptTree takes out of a tree what this place cannot hold, and gives owners it can.
func (p *testPlace) adaptTree(g fileSet) fileSet {
	out := fileSet{}
	for at, i := range g {
		if i.UID == 0 || !p.root {
			i.UID = p.uid
		}
		if i.GID == 0 || !p.root {
			i.GID = p.gid
		}
		if !p.xattrs {
			i.Xattrs = nil
		}
		if !p.holes {
			i.Holes = nil
		}
		out[at] = i
	}
	return out
}

func dir(mode uint32) item { return item{Kind: retake.KindDir, Mode: mode, Mtime: testTime} }

func file(mode uint32, data string) item {
	return item{Kind: retake.KindFile, Mode: mode, Mtime: testTime + int64(len(data)), Data: data}
}

// oddTree has all there is.
func oddTree() fileSet {
	block := strings.Repeat("B", 64<<10)
	sparse := file(0o600, block+strings.Repeat("\x00", 128<<10)+block+strings.Repeat("\x00", 64<<10))
	sparse.Holes = []retake.Hole{{Offset: 64 << 10, Length: 128 << 10}, {Offset: 256 << 10, Length: 64 << 10}}
	hollow := file(0o600, strings.Repeat("\x00", 64<<10))
	hollow.Holes = []retake.Hole{{Offset: 0, Length: 64 << 10}}
	rich := file(0o400, "rich")
	rich.Xattrs = map[string]string{"user.a": "1", "user.empty": "", "user.bytes": "\x00\xff"}
	owned := file(0o4711, "owned")
	owned.UID, owned.GID = 4321, 1234
	g := fileSet{
		"": dir(0o750), "sparse": sparse, "hollow": hollow, "rich": rich, "owned": owned,
		"empty": file(0o644, ""), "big": file(0o644, strings.Repeat("0123456789abcdef", 40_000)),
		"none": file(0o000, "nobody reads me"), "read": file(0o444, "r"), "all": file(0o777, "all"), "group": file(0o2755, "g"),
		"line\nbreak": file(0o644, "n"), "not\xffutf8\xfe": file(0o644, "u"), " ": file(0o644, "space"), "esc\x1b[31m": dir(0o755),
		"esc\x1b[31m/é": file(0o640, "e"), "old": {Kind: retake.KindFile, Mode: 0o644, Mtime: -5_000_000_001, Data: "old"},
		"zero": {Kind: retake.KindFile, Mode: 0o644, Data: "zero"},
		"link": {Kind: retake.KindSymlink, Mode: 0o777, Mtime: testTime + 1, Data: "../../etc/passwd"},
		"fifo": {Kind: retake.KindFIFO, Mode: 0o620, Mtime: testTime + 2}, "socket": {Kind: retake.KindSocket, Mode: 0o755, Mtime: testTime + 3},
		"closed": dir(0o000), "closed/in": dir(0o555), "closed/in/f": file(0o644, "deep"), "bare": dir(0o711),
		"sticky": dir(0o3777), "sticky/f": file(0o644, "s"),
	}
	attrs := dir(0o700)
	attrs.Xattrs = map[string]string{"user.dir": "d"}
	g["attrs"] = attrs
	for _, p := range []string{"a/one", "closed/three", "closed/in/two", "z"} {
		i := file(0o640, "many names")
		i.Group = "a/one"
		g[p] = i
	}
	g["a"] = dir(0o555)
	return g
}

// counts of what a tree holds, to hold reports against.
func (g fileSet) counts() (files, dirs, filled int64, bytes int64) {
	groups := map[string]bool{}
	for _, i := range g {
		if i.Kind == retake.KindDir {
			dirs++
			continue
		}
		files++
		if i.Kind != retake.KindFile || i.Data == "" || i.Group != "" && groups[i.Group] {
			continue
		}
		groups[i.Group] = true
		filled++
		bytes += int64(len(i.Data))
	}
	return files, dirs, filled, bytes
}
