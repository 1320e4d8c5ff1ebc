package kopia_test

import (
	"context"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// failingFS is a disk on which listing, or removing a session marker, can begin to fail.
type failingFS struct {
	fsx.FS
	list, remove atomic.Bool
}

type failingDir struct {
	fsx.Dir
	a *failingFS
}

func (a *failingFS) OpenRoot(path string) (fsx.Dir, error) {
	d, err := a.FS.OpenRoot(path)
	return &failingDir{d, a}, err
}

func (d *failingDir) OpenDir(name string) (fsx.Dir, error) {
	sub, err := d.Dir.OpenDir(name)
	return &failingDir{sub, d.a}, err
}

func (d *failingDir) Rename(name string, to fsx.Dir, newName string) error {
	return d.Dir.Rename(name, to.(*failingDir).Dir, newName)
}

func (d *failingDir) Names() ([]string, error) {
	if d.a.list.Load() {
		return nil, syscall.EIO
	}
	return d.Dir.Names()
}

func (d *failingDir) Remove(name string) error {
	if d.a.remove.Load() && strings.HasPrefix(name, "s") {
		return syscall.EIO
	}
	return d.Dir.Remove(name)
}

func newFailingStore(t *testing.T) (*kopia.Store, *failingFS, retake.Workspace) {
	t.Helper()
	m := fsxtest.NewMemory()
	if err := m.MkdirAll("/store", 0o700); err != nil {
		t.Fatal(err)
	}
	a := &failingFS{FS: m}
	s, err := kopia.Create(t.Context(), kopia.Options{Dir: "/store", FS: a, Locks: fsx.NewMemoryLocks(), Clock: clock.Wall, Derivation: derivation})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, a, retake.Workspace{ID: retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString()), Name: "w", Root: "/w"}
}

func sealEmpty(ctx context.Context, s store.Store, ws retake.Workspace) error {
	w, err := s.Begin(ctx, ws)
	if err != nil {
		return err
	}
	defer w.Close()
	id, sum, err := w.WriteDir(ctx, nil, 1)
	if err != nil {
		return err
	}
	cp := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: ws.ID, Number: w.Head().Latest + 1, Tree: id}
	return w.Seal(ctx, store.SealRequest{Card: retake.Card{V: retake.CardVersion, Checkpoint: cp}, Files: retake.Entry{Kind: retake.KindDir, Object: id, Sum: sum}})
}

// The engine repeats an unsuccessful listing forever; a save must end all the same.
func TestDiskThatCannotBeListedIsAnError(t *testing.T) {
	t.Parallel()
	s, a, ws := newFailingStore(t)
	if err := sealEmpty(t.Context(), s, ws); err != nil {
		t.Fatal(err)
	}
	a.list.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := sealEmpty(ctx, s, ws); err == nil || ctx.Err() != nil {
		t.Errorf("seal answers %v, context %v", err, ctx.Err())
	}
	a.list.Store(false)
	if err := sealEmpty(t.Context(), s, ws); err != nil {
		t.Errorf("after the trouble: %v", err)
	}
}

// The marker goes after the index is published: the checkpoint is there by then.
func TestMarkerThatStaysIsNoUnsuccessfulSeal(t *testing.T) {
	t.Parallel()
	s, a, ws := newFailingStore(t)
	a.remove.Store(true)
	if err := sealEmpty(t.Context(), s, ws); err != nil {
		t.Error(err)
	}
	h, err := s.Head(t.Context(), ws.ID)
	if err != nil || h.Latest != 1 {
		t.Errorf("head %d, %v", h.Latest, err)
	}
}
