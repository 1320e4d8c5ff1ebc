package archive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/archive"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

// fakeTree is a checkpoint in memory, by path. Reader gives the methods that nobody may call.
type fakeTree struct {
	retake.Reader
	entries map[string]retake.Entry
	data    map[string]string
	broken  string // the path that cannot be read to its end
}

func newFakeTree() *fakeTree {
	return &fakeTree{entries: map[string]retake.Entry{}, data: map[string]string{}}
}

func (t *fakeTree) List(_ context.Context, _ retake.WorkspaceID, _, dir string) ([]retake.Entry, error) {
	var out []retake.Entry
	for p, e := range t.entries { // in no order: who writes sorts
		if parent := path.Dir(p); parent == dir || parent == "." && dir == "" {
			out = append(out, e)
		}
	}
	return out, nil
}

// Bytes takes the path of an entry for the address of its bytes.
func (t *fakeTree) Bytes(_ context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	text, ok := t.data[string(id)]
	if !ok {
		return nil, fmt.Errorf("nobody may open %q", id)
	}
	if string(id) == t.broken {
		return io.NopCloser(io.MultiReader(strings.NewReader(text), broken{})), nil
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

var errBroken = errors.New("no more")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

// add puts an entry at a path, and directories on the way.
func (t *fakeTree) add(p string, e retake.Entry, data string) {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if _, ok := t.entries[dir]; !ok {
			t.entries[dir] = retake.Entry{Name: path.Base(dir), Kind: retake.KindDir, Mode: 0o755, ModTime: 1}
		}
	}
	e.Name = path.Base(p)
	if e.Kind == retake.KindFile || e.Kind == retake.KindSymlink {
		e.Size, e.Object = int64(len(data)), retake.ObjectID(p)
		t.data[p] = data
	}
	t.entries[p] = e
}

func writeArchive(t testing.TB, r retake.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := archive.Write(t.Context(), r, "ws_1", "1", &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var names = []string{"a", "b", "A", "é", "\xff\xfe", "with space", "new\nline", "-dash", "back\\slash", "..x", "...", "%2F", strings.Repeat("n", 120), strings.Repeat("é", 127)}

// anyTree draws a tree with all that a checkpoint can hold.
func anyTree(t *rapid.T) *fakeTree {
	out := newFakeTree()
	name := rapid.SampledFrom(names)
	group := 0
	for range rapid.IntRange(0, 25).Draw(t, "entries") {
		parts := rapid.SliceOfN(name, 1, 4).Draw(t, "path")
		p := strings.Join(parts, "/")
		if out.isBlocked(p) {
			continue
		}
		e := retake.Entry{
			Mode:    rapid.Uint32Range(0, 0o7777).Draw(t, "mode") | 0o500, // to be read back
			ModTime: rapid.OneOf(rapid.Int64Range(-1e18, 4e18), rapid.Just(int64(0))).Draw(t, "time"),
			UID:     rapid.Uint32().Draw(t, "uid"), GID: rapid.Uint32().Draw(t, "gid"),
		}
		data := ""
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			e.Kind = retake.KindDir
		case 1:
			e.Kind, data = retake.KindSymlink, rapid.SampledFrom([]string{"a", "./b", "x/../y", "\xff", strings.Repeat("l", 300)}).Draw(t, "text")
		case 2:
			e.Kind = retake.KindFIFO
		case 3:
			e.Kind = retake.KindSocket
		default:
			e.Kind, data = retake.KindFile, rapid.SampledFrom([]string{"", "x", strings.Repeat("0123456789", 300), strings.Repeat("\x00", 1024)}).Draw(t, "data")
		}
		if (e.Kind == retake.KindFile || e.Kind == retake.KindDir) && rapid.Bool().Draw(t, "attributes") {
			e.Extra = &retake.Extra{Xattrs: map[string][]byte{"user.a": []byte("1\x00\n="), "user.b=c d": {0xff}, "user.é": {}}}
		}
		out.add(p, e, data)
		if second := p + "~"; e.Kind == retake.KindFile && !out.isBlocked(second) && rapid.Bool().Draw(t, "linked") {
			group++
			extra := retake.Extra{Group: fmt.Sprint(group)}
			if e.Extra != nil {
				extra.Xattrs = e.Extra.Xattrs
			}
			e.Extra = &extra
			out.add(p, e, data)
			out.add(second, e, data)
		}
	}
	return out
}

// isBlocked reports whether something is at a path, or a file is on the way to it.
func (t *fakeTree) isBlocked(p string) bool {
	if _, ok := t.entries[p]; ok {
		return true
	}
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if e, ok := t.entries[dir]; ok && e.Kind != retake.KindDir {
			return true
		}
	}
	return false
}

// wantedFiles is what a tree becomes on disk: without sockets, owners and borrowed rights.
func (t *fakeTree) wantedFiles() map[string]string {
	out := map[string]string{}
	first := map[string]string{}
	for _, p := range slices.Sorted(maps.Keys(t.entries)) {
		e := t.entries[p]
		if e.Kind == retake.KindSocket {
			continue
		}
		link := ""
		var xattrs map[string][]byte
		if e.Extra != nil {
			xattrs = e.Extra.Xattrs
			if g := e.Extra.Group; g != "" {
				if first[g] == "" {
					first[g] = p
				}
				link = first[g]
			}
		}
		mode := e.Mode &^ 0o6000
		if e.Kind == retake.KindSymlink {
			mode = 0o777
		}
		out[p] = fmt.Sprintf("%s %o %d %q %v %s", e.Kind, mode, e.ModTime, t.data[p], sortedAttrs(xattrs), link)
	}
	return out
}

func sortedAttrs(x map[string][]byte) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(x)) {
		out = append(out, fmt.Sprintf("%q=%q", name, x[name]))
	}
	return out
}

// readTree is what is below a directory, in the words of wanted.
func readTree(t testing.TB, root fsx.Dir) map[string]string {
	t.Helper()
	out := map[string]string{}
	seen := map[uint64]string{}
	walkDir(t, root, "", func(p string, d fsx.Dir, name string, is fsx.Info) {
		kind, data, xattrs, link := "", "", map[string][]byte(nil), ""
		switch is.Type {
		case fsx.Directory:
			kind = string(retake.KindDir)
			sub := must(d.OpenDir(name))(t)
			xattrs = must(sub.Xattrs())(t)
			sub.Close()
		case fsx.Symlink:
			kind, data = string(retake.KindSymlink), must(d.Readlink(name))(t)
		case fsx.FIFO:
			kind = string(retake.KindFIFO)
		case fsx.Regular:
			kind = string(retake.KindFile)
			f := must(d.OpenFile(name))(t)
			data, xattrs = string(must(io.ReadAll(f))(t)), must(f.Xattrs())(t)
			f.Close()
			if is.Nlink > 1 {
				if seen[is.Ino] == "" {
					seen[is.Ino] = p
				}
				link = seen[is.Ino]
			}
		default:
			kind = fmt.Sprint(is.Type)
		}
		out[p] = fmt.Sprintf("%s %o %d %q %v %s", kind, is.Mode, is.Mtime, data, sortedAttrs(xattrs), link)
	})
	return out
}

// walkDir walks in the order of whole paths, as wanted does.
func walkDir(t testing.TB, root fsx.Dir, _ string, f func(p string, d fsx.Dir, name string, is fsx.Info)) {
	t.Helper()
	type seen struct {
		d    fsx.Dir
		name string
		is   fsx.Info
	}
	all := map[string]seen{}
	var walk func(d fsx.Dir, at string)
	walk = func(d fsx.Dir, at string) {
		for _, name := range must(d.Names())(t) {
			p := strings.TrimPrefix(at+"/"+name, "/")
			is := must(d.Lstat(name))(t)
			all[p] = seen{d, name, is}
			if is.Type == fsx.Directory {
				walk(must(d.OpenDir(name))(t), p)
			}
		}
	}
	walk(root, "")
	for _, p := range slices.Sorted(maps.Keys(all)) {
		f(p, all[p].d, all[p].name, all[p].is)
	}
}

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// What is extracted is what was written, entry by entry.
func TestWhatIsWrittenIsExtracted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		in := anyTree(rt)
		bytes1, bytes2 := writeArchive(t, in), writeArchive(t, in)
		if !bytes.Equal(bytes1, bytes2) {
			rt.Fatal("the same checkpoint gives other bytes")
		}
		root := must(fsxtest.NewMemory().OpenRoot("/"))(t)
		rep, err := archive.Extract(t.Context(), bytes.NewReader(bytes1), root, archive.Limits{})
		if err != nil {
			rt.Fatal(err)
		}
		if d := cmp.Diff(in.wantedFiles(), readTree(t, root)); d != "" {
			rt.Fatalf("(-want +got):\n%s", d)
		}
		if n := int64(len(in.wantedFiles())); rep.Files+rep.Dirs+rep.Links+rep.Symlinks+rep.FIFOs != n {
			rt.Fatalf("%+v for %d entries", rep, n)
		}
	})
}
