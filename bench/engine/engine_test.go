package engine_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake/bench/engine"
)

func blobs(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	err := filepath.WalkDir(filepath.Join(dir, "blobs"), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			out[filepath.Base(p)] = info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestBatchWritesFilesAndTheirDirectories(t *testing.T) {
	t.Parallel()
	ws, home := t.TempDir(), t.TempDir()
	for _, name := range []string{"a/b/x", "a/b/y", "a/c/z", "d/w"} {
		put(t, filepath.Join(ws, name), strings.Repeat(name, 100))
	}
	e, err := engine.Create(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.WriteTree(t.Context(), ws); err != nil {
		t.Fatal(err)
	}
	before := blobs(t, home)
	put(t, filepath.Join(ws, "a/b/x"), "other text, and other times above it")
	batch, err := e.Prepare(ws, []string{"a/b/x"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Write(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	kinds := map[byte]int{}
	for name := range blobs(t, home) {
		if _, old := before[name]; !old {
			kinds[name[0]]++
		}
		if strings.Contains(name, ".tmp.") {
			t.Errorf("%s was left behind", name)
		}
	}
	// One pack of files, one of directories, and the index that names them.
	if kinds['p'] != 1 || kinds['q'] != 1 || kinds['x'] != 1 {
		t.Errorf("new blobs by kind: %v", kinds)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
