//go:build unix

package restore_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// What somebody writes while we swap comes into the trash under the name of the staged file,
// and must not be taken for it.

// racingDir is a trash directory beside which somebody works: before is called before each
// exchange.
type racingDir struct {
	fsx.Dir
	before func(n int)
	n      int
}

func (h *racingDir) OpenDir(name string) (fsx.Dir, error) {
	d, err := h.Dir.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &racingDir{Dir: d, before: h.before}, nil
}

func (h *racingDir) Exchange(name string, to fsx.Dir, newName string) error {
	h.n++
	h.before(h.n)
	return h.Dir.Exchange(name, to, newName)
}

func (h *racingDir) Rename(name string, _ fsx.Dir, newName string) error {
	return h.Dir.Rename(name, h.Dir, newName)
}

func testLost(t *testing.T, second func(path string), want string) {
	dir := t.TempDir()
	b := newRestoreTest(t, dir)
	path := filepath.Join(b.root, "f")
	must(t, os.WriteFile(path, []byte("old\n"), 0o644))
	s := b.beginService(t)
	must(t, os.WriteFile(path, []byte("new\n"), 0o644))
	save(t, s, b.ws)
	ctx := context.Background()
	one, err := b.stored.Record(ctx, b.ws, 1)
	must(t, err)
	two, err := b.stored.Record(ctx, b.ws, 2)
	must(t, err)
	plan, err := restore.MakePlan(ctx, restore.Request{Course: retake.CourseRestore, Trees: b.stored, Now: two.Files, Want: one.Files, FileCount: 1})
	must(t, err)
	root, err := fsx.OS().OpenRoot(b.root)
	must(t, err)
	journals, err := fsx.OS().OpenRoot(filepath.Join(b.home, "returns"))
	must(t, err)
	i, err := root.Lstat("f")
	must(t, err)
	stamp := restore.Stamp{Ino: i.Ino, Nlink: i.Nlink, Size: i.Size, Mtime: i.Mtime, Ctime: i.Ctime}
	before := func(n int) {
		switch n {
		case 1: // after the look, before the swap: an editor saves by a rename
			tmp := filepath.Join(dir, "tmp")
			must(t, os.WriteFile(tmp, []byte("mine, in no checkpoint\n"), 0o644))
			must(t, os.Rename(tmp, path))
		case 2: // before they are swapped back
			second(path)
		}
	}
	_, err = restore.Apply(ctx, restore.Job{
		ID: "job", Plan: plan, Root: root, Trees: b.stored, Clock: clock.Wall, InodeNumber: func(i fsx.Info) uint64 { return i.Ino },
		Stamp: func(p string) (restore.Stamp, bool) { return stamp, p == "f" },
		TrashDirs: []func() (fsx.Dir, error){func() (fsx.Dir, error) {
			d, err := fsx.OS().OpenRoot(b.home)
			return &racingDir{Dir: d, before: before}, err
		}},
		JournalDir: journals, JournalName: "journal",
	})
	t.Logf("apply: %v", err)
	found := ""
	_ = filepath.WalkDir(filepath.Dir(b.root), func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.Contains(p, "catalog") && !strings.Contains(p, "index") {
			text, _ := os.ReadFile(p)
			found += p + ": " + string(text)
		}
		return nil
	})
	if !strings.Contains(found, want) {
		t.Errorf("%q is nowhere:\n%s", want, found)
	}
}

// Somebody deletes the name between the two swaps: swapping back fails, and what the
// editor saved is deleted.
func TestSavedFileIsLostWhenTheNameGoes(t *testing.T) {
	testLost(t, func(path string) { must(t, os.Remove(path)) }, "mine, in no checkpoint\n")
}

// The editor saves once more between the two swaps: swapping back brings the first
// save to the name, and deletes the second.
func TestSecondSaveIsLost(t *testing.T) {
	testLost(t, func(path string) {
		must(t, os.WriteFile(path+".tmp", []byte("mine, the second time\n"), 0o644))
		must(t, os.Rename(path+".tmp", path))
	}, "mine, the second time\n")
}
