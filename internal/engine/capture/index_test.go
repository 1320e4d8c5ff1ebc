package capture_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// The law of the index: a capture by it gives the same tree as one that reads
// everything, whatever happened in between.
func TestIncrementalEqualsFull(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 6).Draw(rt, "rounds") {
			for range rapid.IntRange(0, 8).Draw(rt, "edits") {
				w.edit(rt)
			}
			w.clock.Move(time.Duration(rapid.IntRange(0, 5000).Draw(rt, "pause")) * time.Millisecond)
			got := w.take()
			full := w.read(capture.NewIndex())
			if got.Files.Object != full.Files.Object || got.Content != full.Content {
				rt.Fatalf("by the index %s, in full %s", got.Files.Object, full.Files.Object)
			}
			if fmt.Sprint(got.Coverage) != fmt.Sprint(full.Coverage) {
				rt.Fatalf("coverage by the index %v, in full %v", got.Coverage, full.Coverage)
			}
		}
	})
}

var names = []string{"a", "b", "c\xff", "d\n", "x.db", "x.db-wal", "sub", "link"}

// edit does one random thing to the workspace.
func (w *world) edit(t *rapid.T) {
	w.clock.Move(time.Millisecond)
	dirs := []string{"/ws"}
	for _, p := range w.fs.Paths() {
		if d, err := w.fs.OpenRoot(p); err == nil {
			if strings.HasPrefix(p, "/ws/") {
				dirs = append(dirs, p)
			}
			_ = d.Close()
		}
	}
	slices.Sort(dirs)
	dir := rapid.SampledFrom(dirs).Draw(t, "dir")
	name := rapid.SampledFrom(names).Draw(t, "name")
	path := dir + "/" + name
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1, 2:
		_ = w.fs.WriteFile(path, []byte(rapid.StringN(0, 20, 40).Draw(t, "text")), 0o644)
	case 3:
		_ = w.fs.MkdirAll(path, 0o755)
	case 4:
		_ = w.fs.Symlink(rapid.SampledFrom(names).Draw(t, "target"), path)
	case 5:
		_ = w.fs.Link(path, rapid.SampledFrom(dirs).Draw(t, "to")+"/"+rapid.SampledFrom(names).Draw(t, "as"))
	case 6:
		w.remove(dir, name)
	case 7:
		_ = w.fs.Chmod(path, 0o700)
	case 8:
		_ = w.fs.SetMtime(path, int64(rapid.IntRange(0, 5).Draw(t, "mtime")))
	case 9:
		w.rename(dir, name, rapid.SampledFrom(dirs).Draw(t, "to"), rapid.SampledFrom(names).Draw(t, "as"))
	}
}

func (w *world) remove(dir, name string) {
	d, err := w.fs.OpenRoot(dir)
	w.must(err)
	defer d.Close()
	if d.Remove(name) != nil {
		if sub, err := d.OpenDir(name); err == nil {
			names, err := sub.Names()
			w.must(err)
			for _, n := range names {
				w.remove(dir+"/"+name, n)
			}
			_ = sub.Close()
			_ = d.Remove(name)
		}
	}
}

func (w *world) rename(from, name, to, newName string) {
	if strings.HasPrefix(to+"/", from+"/"+name+"/") {
		return // not into itself
	}
	a, err := w.fs.OpenRoot(from)
	w.must(err)
	b, err := w.fs.OpenRoot(to)
	w.must(err)
	_ = a.Rename(name, b, newName) // often there is nothing to rename
	_, _ = a.Close(), b.Close()
}

func TestIndexIsDroppedWhenItsSealIsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("a", "one")
	w.later()
	w.take()
	w.write("b", "two")
	w.later()
	w.take()
	if got := w.load().Seal(); got != w.seals[1] {
		t.Fatalf("loaded under %+v", got)
	}
	w.seals = w.seals[:1] // the store lost the second one
	if got := w.load().Seal(); got != w.seals[0] {
		t.Errorf("loaded under %+v", got)
	}
	if res := w.take(); res.Changed.Added != 1 || res.Read != 3 {
		t.Errorf("what only the lost seal vouched for was not read: %+v", res)
	}
	w.seals = nil
	if got := w.load().Seal(); got != (capture.Seal{}) {
		t.Errorf("loaded under %+v", got)
	}
}

// A file cut off or spoilt anywhere gives a shorter index or none, never a wrong one.
func TestDamagedIndexNeverLies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		w.write(fmt.Sprintf("dir%d/f", i), strings.Repeat("x", i))
		w.later()
		w.take()
	}
	whole, err := w.fs.ReadFile("/state/index")
	w.must(err)
	want := w.read(capture.NewIndex()).Files.Object
	for i := 0; i < len(whole); i += 7 {
		for _, spoilt := range [][]byte{whole[:i], flip(whole, i)} {
			w.must(w.fs.WriteFile("/state/index", spoilt, 0o600))
			if got := w.read(w.load()).Files.Object; got != want {
				t.Fatalf("spoilt at %d: another tree", i)
			}
		}
	}
}

func flip(b []byte, i int) []byte {
	c := slices.Clone(b)
	c[i] ^= 0x41
	return c
}

func TestLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("same", "s")
	w.write("edit", "before")
	w.write("gone/deep/x", "x")
	w.later()
	w.take()
	w.write("edit", "after!")
	w.remove("/ws", "gone")
	w.write("new", "n")
	w.must(w.fs.SetMtime("/ws/same", 7))
	w.later()
	changes, cov, err := capture.Look(context.Background(), w.dir("/ws"), w.load(), w.opts, w.equal)
	w.must(err)
	var got []string
	for _, c := range changes {
		got = append(got, string(c.What)+" "+c.Path)
	}
	want := []string{"edited edit", "deleted gone", "deleted gone/deep", "deleted gone/deep/x", "added new", "timed same"}
	if !slices.Equal(got, want) || cov.Grade != retake.Complete {
		t.Errorf("got %v, %s", got, cov.Grade)
	}
}

func FuzzLoad(f *testing.F) {
	w := newWorld(f)
	w.write("a", "one")
	w.write("d/b", "two")
	w.take()
	b, err := w.fs.ReadFile("/state/index")
	w.must(err)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		m := fsx.NewMemory()
		if err := errsOf(m.MkdirAll("/s", 0o700), m.WriteFile("/s/index", b, 0o600)); err != nil {
			t.Fatal(err)
		}
		d, err := m.OpenRoot("/s")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := capture.Load(d, "index", func(capture.Seal) bool { return true }); err != nil {
			t.Fatal(err)
		}
	})
}

func errsOf(errs ...error) error { return errors.Join(errs...) }

func (w *world) equal(ctx context.Context, id retake.ObjectID, r io.Reader) (bool, error) {
	f, err := w.store.File(ctx, id)
	if err != nil {
		return false, err
	}
	a, err := io.ReadAll(f)
	if err != nil {
		return false, err
	}
	b, err := io.ReadAll(r)
	return bytes.Equal(a, b), err
}
