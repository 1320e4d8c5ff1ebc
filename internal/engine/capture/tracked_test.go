package capture_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/track"
)

// trackedTest is a world whose every change is told, as a perfect tracker would.
type trackedTest struct {
	*captureTest
	x     *capture.Index
	gaps  []retake.Gap
	dirty map[string]track.Mark
	dirs  []string
	all   []string // files, and names that were

	written []written // in this round
}

func newTrackedTest(t testing.TB) *trackedTest {
	k := &trackedTest{captureTest: newCaptureTest(t), x: capture.NewIndex(), dirty: map[string]track.Mark{}, dirs: []string{"."}}
	return k
}

func (k *trackedTest) markDirty(p string, m track.Mark) { k.dirty[p] |= m }

// step captures what was told, and compares with a look at everything by an index
// that knows nothing.
func (k *trackedTest) step(t *rapid.T) {
	k.markWrittenElsewhere()
	root := k.openDir("/ws")
	defer root.Close()
	o := k.opts
	o.Dirty, o.Gaps = k.dirty, k.gaps
	res, err := capture.Read(context.Background(), root, k.x, k.w, o)
	k.check(err)
	full, err := capture.Read(context.Background(), root, capture.NewIndex(), k.w, k.opts)
	k.check(err)
	if res.Files.Object != full.Files.Object || res.Content != full.Content {
		t.Fatalf("a capture of what was told gives another tree than one of everything; told: %v\n%s", k.dirty, k.difference(res.Files, full.Files))
	}
	if d := cmp.Diff(full.Coverage, res.Coverage); d != "" {
		t.Fatalf("coverage (-everything +told):\n%s", d)
	}
	if res.Files.Sum != full.Files.Sum {
		t.Fatalf("summary: %+v, want %+v", res.Files.Sum, full.Files.Sum)
	}
	k.checkDelta(t, k.x.Seal().Checkpoint, res)
	if rapid.IntRange(0, 9).Draw(t, "discard") == 0 {
		res.Draft.Discard() // as when the seal does not work out: everything stays told
		return
	}
	k.accept(res)
	k.gaps, k.dirty, k.written = res.Coverage.Gaps, map[string]track.Mark{}, nil
}

func (k *trackedTest) difference(a, b retake.Entry) string {
	x, err := k.store.Dir(context.Background(), a.Object)
	k.check(err)
	y, err := k.store.Dir(context.Background(), b.Object)
	k.check(err)
	return cmp.Diff(x, y)
}

func (k *trackedTest) pick(t *rapid.T, from []string) string {
	return from[rapid.IntRange(0, len(from)-1).Draw(t, "which")]
}

func (k *trackedTest) name(t *rapid.T) string {
	base := rapid.SampledFrom([]string{"a", "b", "app.db", "app.db-wal", "c.txt", "d"}).Draw(t, "name")
	return path.Join(k.pick(t, k.dirs), base)
}

func (k *trackedTest) edit(t *rapid.T) {
	p := k.name(t)
	if k.fs.WriteFile("/ws/"+p, []byte(fmt.Sprint(rapid.IntRange(0, 99).Draw(t, "text"))), 0o644) == nil {
		k.changed(p)
		k.all = append(k.all, p)
	}
}

func (k *trackedTest) mkdir(t *rapid.T) {
	p := path.Join(k.pick(t, k.dirs), fmt.Sprint("dir", rapid.IntRange(0, 3).Draw(t, "dir")))
	if len(p) < 60 && k.fs.MkdirAll("/ws/"+p, 0o755) == nil {
		k.markDirty(p, track.MarkName|track.MarkTree)
		k.dirs = append(k.dirs, p)
	}
}

func (k *trackedTest) link(t *rapid.T) {
	if len(k.all) == 0 {
		return
	}
	from, to := k.pick(t, k.all), k.name(t)
	if k.fs.Link("/ws/"+from, "/ws/"+to) == nil { // the other name is not told of
		k.markDirty(to, track.MarkName)
		k.all = append(k.all, to)
	}
}

func (k *trackedTest) remove(t *rapid.T) {
	p := k.name(t)
	if rapid.Bool().Draw(t, "directory") {
		p = k.pick(t, k.dirs)
	}
	if p != "." && k.removeAll(p) {
		k.markDirty(p, track.MarkName)
	}
}

// inDir does something in the directory that holds a path.
func (k *trackedTest) inDir(p string, do func(d fsx.Dir, name string) error) bool {
	d, err := k.fs.OpenRoot(path.Join("/ws", path.Dir(p)))
	if err != nil {
		return false
	}
	defer d.Close()
	return do(d, path.Base(p)) == nil
}

func (k *trackedTest) removeAll(p string) bool {
	if d, err := k.fs.OpenRoot("/ws/" + p); err == nil {
		names, err := d.Names()
		k.check(err)
		k.check(d.Close())
		for _, n := range names {
			k.removeAll(path.Join(p, n))
		}
	}
	return k.inDir(p, func(d fsx.Dir, name string) error { return d.Remove(name) })
}

// rewrite changes the bytes of a file in place, under all its names.
func (k *trackedTest) rewrite(t *rapid.T) {
	p := k.name(t)
	ok := k.inDir(p, func(d fsx.Dir, name string) error {
		if i, err := d.Lstat(name); err != nil || i.Type != fsx.Regular {
			return fsx.ErrNotRegular
		}
		f, err := d.Append(name, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write([]byte("more"))
		return errors.Join(err, f.Close())
	})
	if ok {
		k.changed(p)
	}
}

func (k *trackedTest) changed(p string) {
	k.markDirty(p, track.MarkName)
	k.written = append(k.written, written{p, k.inode(p)})
}

// written is a file that was changed in place, by the name that was used.
type written struct {
	path string
	ino  uint64
}

func (k *trackedTest) inode(p string) (ino uint64) {
	k.inDir(p, func(d fsx.Dir, name string) error {
		i, err := d.Lstat(name)
		ino = i.Ino
		return err
	})
	return ino
}

// markWrittenElsewhere does what a tracker does that knows inodes: when the name by which a
// file was written is gone, it tells where the file is now.
func (k *trackedTest) markWrittenElsewhere() {
	for _, w := range k.written {
		if k.inode(w.path) == w.ino {
			continue
		}
		for _, p := range k.all {
			if k.inode(p) == w.ino {
				k.markDirty(p, track.MarkName)
			}
		}
	}
}

func (k *trackedTest) move(t *rapid.T) {
	from, to := k.name(t), k.name(t)
	mark := track.MarkName
	if rapid.Bool().Draw(t, "directory") {
		from, to = k.pick(t, k.dirs), path.Join(k.pick(t, k.dirs), "moved")
		mark |= track.MarkTree
	}
	moved := from != "." && k.inDir(from, func(d fsx.Dir, name string) error {
		into, err := k.fs.OpenRoot(path.Join("/ws", path.Dir(to)))
		if err != nil {
			return err
		}
		defer into.Close()
		return d.Rename(name, into, path.Base(to))
	})
	if !moved {
		return
	}
	k.markDirty(from, track.MarkName)
	k.markDirty(to, mark)
	if mark&track.MarkTree != 0 {
		k.dirs = append(k.dirs, to)
	}
	k.all = append(k.all, to)
}

func (k *trackedTest) shut(t *rapid.T) {
	p := k.name(t)
	if k.fs.Chmod("/ws/"+p, 0o600) == nil {
		k.changed(p)
	}
}

// A capture of the places that were told of is the capture of everything: same
// tree, same content, same gaps, whatever was done and in whatever order.
func TestToldIsEverything(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		k := newTrackedTest(t)
		k.step(rt)
		for range rapid.IntRange(1, 12).Draw(rt, "rounds") {
			for range rapid.IntRange(0, 6).Draw(rt, "changes") {
				k.advanceClock()
				op := rapid.SampledFrom([]func(*rapid.T){k.edit, k.edit, k.rewrite, k.mkdir, k.link, k.remove, k.move, k.shut}).Draw(rt, "op")
				op(rt)
			}
			k.advanceClock()
			k.step(rt)
		}
	})
}

// What nobody tells of is not looked at: the promise is the tracker's.
func TestUntoldIsNotSeen(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("a", "one")
	w.writeFile("dir/b", "two")
	w.advanceClock()
	x := capture.NewIndex()
	first := w.captureWith(x)
	first.Draft.Accept(capture.Seal{Checkpoint: "cp", Tree: first.Files.Object})
	w.writeFile("dir/b", "TWO")
	w.advanceClock()
	w.opts.Dirty = map[string]track.Mark{}
	if res := w.captureWith(x); res.Complete || res.Files.Object != first.Files.Object {
		t.Error("a place that was not told of was looked at")
	} else {
		res.Draft.Discard()
	}
	w.opts.Dirty = map[string]track.Mark{"dir/b": track.MarkName}
	if res := w.captureWith(x); res.Complete || res.Read != 3 || res.Changed != (retake.Counts{Edited: 1}) {
		t.Errorf("one told edit: %+v", res)
	}
}
