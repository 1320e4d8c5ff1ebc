package marker_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
)

const id retake.WorkspaceID = "ws_0190f3a1-2b4c-7d5e-8f60-718293a4b5c6"

func open(t *testing.T, dir string) fsx.Dir {
	t.Helper()
	d, err := fsx.OS().OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func TestMarkIsReadWrittenAndRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	before, err := os.Stat(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := open(t, dir)
	if err := marker.Write(d, id); err != nil {
		t.Fatal(err)
	}
	if got, err := marker.Read(d); err != nil || got != id {
		t.Errorf("Read: %q, %v", got, err)
	}
	if after, err := os.Stat(dir); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the time of the directory moved by a mark: %v", err)
	}
	if err := marker.Remove(d); err != nil {
		t.Fatal(err)
	}
	if got, err := marker.Read(d); err != nil || got != "" {
		t.Errorf("Read after Remove: %q, %v", got, err)
	}
}

func TestAboveFindsTheNearestMark(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	deep := filepath.Join(dir, "a", "b", "c")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if marker.HasMarkAbove(fsx.OS(), deep) {
		t.Fatal("a mark is found where there is none")
	}
	if err := marker.Write(open(t, filepath.Join(dir, "a")), id); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{deep: true, filepath.Join(dir, "a"): true, dir: false, filepath.Join(deep, "gone"): true} {
		if got := marker.HasMarkAbove(fsx.OS(), path); got != want {
			t.Errorf("Above %s: %v, want %v", path, got, want)
		}
	}
}

func TestWhatWeDidNotWriteIsNoMark(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, marker.Dir), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "ws_", "../../etc", string(id) + "x", "\x00"} {
		if err := os.WriteFile(filepath.Join(dir, marker.Dir, "id"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := marker.Read(open(t, dir)); err != nil || got != "" {
			t.Errorf("Read of %q: %q, %v", text, got, err)
		}
	}
}
