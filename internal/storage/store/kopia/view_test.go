package kopia_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// A view that is read from the disk while a writer is at work on the one before must not
// be what the next writer builds on.
func TestNextWriterKnowsTheOneBefore(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s, err := kopia.Create(ctx, kopia.Options{Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: clock.Wall, Exclusive: true})
	must(err)
	defer s.Close()
	ws := retake.Workspace{ID: retake.WorkspaceID(retake.WorkspacePrefix + uuid.Must(uuid.NewV7()).String()), Name: "shop"}
	begin := func() store.Writer {
		w, err := s.Begin(ctx, ws)
		must(err)
		return w
	}
	seal := func(w store.Writer, n int64) {
		id, size, err := w.WriteFile(ctx, "a", strings.NewReader(strings.Repeat("x", int(n))))
		must(err)
		dir, sum, err := w.WriteDir(ctx, []retake.Entry{{Name: "a", Kind: retake.KindFile, Size: size, Object: id}}, 1)
		must(err)
		cp := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.Must(uuid.NewV7()).String()), Workspace: ws.ID, Number: n, Tree: dir}
		must(w.Seal(ctx, store.SealRequest{Card: retake.Card{Checkpoint: cp}, Files: retake.Entry{Kind: retake.KindDir, Object: dir, Sum: sum}}))
		must(w.Close())
	}
	seal(begin(), 1)
	at := begin()
	must(s.Retire(ctx)) // as the upkeep does now and then
	_, err = s.Record(ctx, ws.ID, 1)
	must(err)
	seal(at, 2)
	next := begin()
	if n := next.Head().Latest; n != 2 {
		t.Errorf("the next writer begins after %d", n)
	}
	seal(next, 3)
	for n := range int64(3) {
		if _, err := s.Record(ctx, ws.ID, n+1); err != nil {
			t.Errorf("checkpoint %d: %v", n+1, err)
		}
	}
}
