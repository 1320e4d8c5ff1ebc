package capture_test

import (
	"context"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
)

// meddler changes a file each time it has been read, some number of times.
type meddler struct {
	capture.Sink
	w     *world
	path  string
	times int
}

func (m *meddler) WriteFile(ctx context.Context, name string, r io.Reader) (retake.ObjectID, int64, error) {
	id, n, err := m.Sink.WriteFile(ctx, name, r)
	if name == m.path && m.times > 0 {
		m.times--
		m.w.write(m.path, "generation "+string(rune('0'+m.times)))
	}
	return id, n, err
}

func (w *world) meddle(path string, times int) *capture.Result {
	w.t.Helper()
	root := w.dir("/ws")
	defer root.Close()
	res, err := capture.Read(context.Background(), root, capture.NewIndex(), &meddler{w.w, w, path, times}, w.opts)
	w.must(err)
	return res
}

func TestTornIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("quiet", "q")
	w.write("busy", "first")
	w.later()
	if res := w.meddle("busy", 1); len(res.Coverage.Gaps) != 0 {
		t.Errorf("one change is retried, and yet: %v", w.gaps(res))
	}
	w.later()
	res := w.meddle("busy", 100)
	if d := cmp.Diff([]string{"torn busy"}, w.gaps(res)); d != "" || res.Coverage.Grade != retake.Partial {
		t.Errorf("gaps (-want +got):\n%s", d)
	}
	if res.Files.Sum.Files != 2 {
		t.Error("a torn file is kept all the same")
	}
}

// The files of one database are a unit: when its log moves, the database is torn
// with it.
func TestDatabaseIsOneUnit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("app.db", "pages")
	w.write("app.db-wal", "log")
	w.write("app.db-shm", "shared")
	w.write("other", "o")
	w.later()
	if res := w.meddle("app.db-wal", 1); len(res.Coverage.Gaps) != 0 {
		t.Errorf("one change is retried, and yet: %v", w.gaps(res))
	}
	w.later()
	res := w.meddle("app.db-wal", 100)
	want := []string{"torn app.db", "torn app.db-shm", "torn app.db-wal"}
	if d := cmp.Diff(want, w.gaps(res)); d != "" {
		t.Errorf("gaps (-want +got):\n%s", d)
	}
}
