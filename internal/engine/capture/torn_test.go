package capture_test

import (
	"context"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
)

// writingSink changes a file each time it has been read, some number of times.
type writingSink struct {
	capture.Sink
	w     *captureTest
	path  string
	times int
}

func (m *writingSink) WriteFile(ctx context.Context, name string, r io.Reader) (retake.ObjectID, int64, error) {
	id, n, err := m.Sink.WriteFile(ctx, name, r)
	if name == m.path && m.times > 0 {
		m.times--
		m.w.writeFile(m.path, "generation "+string(rune('0'+m.times)))
	}
	return id, n, err
}

func (w *captureTest) captureWhileWriting(path string, times int) *capture.Result {
	w.t.Helper()
	root := w.openDir("/ws")
	defer root.Close()
	res, err := capture.Read(context.Background(), root, capture.NewIndex(), &writingSink{w.w, w, path, times}, w.opts)
	w.check(err)
	return res
}

func TestTornIsSaid(t *testing.T) {
	t.Parallel()
	w := newCaptureTest(t)
	w.writeFile("quiet", "q")
	w.writeFile("busy", "first")
	w.advanceClock()
	if res := w.captureWhileWriting("busy", 1); len(res.Coverage.Gaps) != 0 {
		t.Errorf("one change is retried, and yet: %v", w.gaps(res))
	}
	w.advanceClock()
	res := w.captureWhileWriting("busy", 100)
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
	w := newCaptureTest(t)
	w.writeFile("app.db", "pages")
	w.writeFile("app.db-wal", "log")
	w.writeFile("app.db-shm", "shared")
	w.writeFile("other", "o")
	w.advanceClock()
	if res := w.captureWhileWriting("app.db-wal", 1); len(res.Coverage.Gaps) != 0 {
		t.Errorf("one change is retried, and yet: %v", w.gaps(res))
	}
	w.advanceClock()
	res := w.captureWhileWriting("app.db-wal", 100)
	want := []string{"torn app.db", "torn app.db-shm", "torn app.db-wal"}
	if d := cmp.Diff(want, w.gaps(res)); d != "" {
		t.Errorf("gaps (-want +got):\n%s", d)
	}
}
