package grow_test

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake/bench/grow"
)

func write(t *testing.T, p *grow.Plan) string {
	t.Helper()
	root := t.TempDir()
	if err := p.Write(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	return root
}

func digest(t *testing.T, root string) [32]byte {
	t.Helper()
	h := sha256.New()
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(root, path))
		h.Write([]byte(path))
		h.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return [32]byte(h.Sum(nil))
}

func TestEqualPlansMakeEqualTreesAndEdits(t *testing.T) {
	t.Parallel()
	var got [3][32]byte
	for i, seed := range []uint64{7, 7, 8} {
		p := grow.Project(600, seed)
		root := write(t, p)
		if _, err := p.Edit(root, p.Random(10, 3), 3); err != nil {
			t.Fatal(err)
		}
		got[i] = digest(t, root)
	}
	if got[0] != got[1] {
		t.Error("the same seed made two trees")
	}
	if got[0] == got[2] {
		t.Error("two seeds made the same tree")
	}
}

func TestProjectHasTheShapeItPromises(t *testing.T) {
	t.Parallel()
	const files = 2000
	p := grow.Project(files, 1)
	root := write(t, p)
	var sizes []int64
	packed := counter(0)
	dirs, src, plain := 0, 0, int64(0)
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.Count(path, "/")+1 > grow.MaxDepth {
			t.Errorf("%s is too deep", path)
		}
		if d.IsDir() {
			dirs++
			return nil
		}
		if strings.HasPrefix(path, "src/") {
			src++
		}
		b, err := os.ReadFile(filepath.Join(root, path))
		sizes = append(sizes, int64(len(b)))
		plain += int64(len(b))
		packed.add(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(sizes)
	if len(sizes) != files {
		t.Fatalf("%d files, want %d", len(sizes), files)
	}
	within(t, "median size", float64(sizes[files/2]), 1700, 2500)
	within(t, "directories", float64(dirs), 190, 220)
	within(t, "files in src", float64(src), 140, 260)
	within(t, "shrinks by", float64(plain)/float64(packed), 2, 5)
	packages, err := os.ReadDir(filepath.Join(root, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	within(t, "packages", float64(len(packages)), 45, 55)
}

type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

func (c *counter) add(b []byte) {
	w, err := flate.NewWriter(c, flate.DefaultCompression)
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(b)
	_ = w.Close()
}

func within(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: %v, want %v to %v", what, got, low, high)
	}
}

func TestEditsChangeWhatTheySay(t *testing.T) {
	t.Parallel()
	p := grow.Project(3000, 1)
	root := write(t, p)
	for round, choose := range []func(int, uint64) []int{p.Random, p.Shared} {
		files := choose(10, uint64(round))
		if len(files) != 10 {
			t.Fatalf("round %d chose %d files", round, len(files))
		}
		before := map[string][]byte{}
		for _, i := range files {
			path := filepath.Join(root, p.Path(i))
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			before[path] = b
		}
		paths, err := p.Edit(root, files, uint64(round))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if b, err := os.ReadFile(path); err != nil || bytes.Equal(b, before[path]) {
				t.Errorf("%s did not change: %v", path, err)
			}
			delete(before, path)
		}
		if len(before) != 0 {
			t.Errorf("not edited: %d files", len(before))
		}
	}
	dirs := map[string]bool{}
	for round := range uint64(20) {
		for _, i := range p.Shared(10, round) {
			d := filepath.Dir(p.Path(i))
			dirs[d] = true
			if !strings.HasPrefix(d, "src") {
				t.Errorf("%s is not in src", p.Path(i))
			}
		}
	}
	if len(dirs) != 8 {
		t.Errorf("shared edits lie in %d directories, want 8", len(dirs))
	}
}

func TestMendUndoesEdits(t *testing.T) {
	t.Parallel()
	p := grow.Small(300, 1)
	root := write(t, p)
	before := digest(t, root)
	files := p.Random(10, 1)
	if _, err := p.Edit(root, files, 1); err != nil {
		t.Fatal(err)
	}
	if digest(t, root) == before {
		t.Fatal("the edit changed nothing")
	}
	if err := p.Mend(root, files); err != nil {
		t.Fatal(err)
	}
	if digest(t, root) != before {
		t.Error("the tree is not as it was")
	}
	if err := p.Mend(root, []int{300}); err == nil {
		t.Error("a file that is not there was mended")
	}
}

func TestFlatIsOneDirectory(t *testing.T) {
	t.Parallel()
	root := write(t, grow.Flat(500, 1))
	entries, err := os.ReadDir(filepath.Join(root, "flat"))
	if err != nil || len(entries) != 500 {
		t.Fatalf("%d entries: %v", len(entries), err)
	}
}

func TestLargeFileChangesByOnePage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "large")
	const size = 300 * grow.Page
	if err := grow.Large(path, size, 1); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil || len(before) != size {
		t.Fatalf("%d bytes: %v", len(before), err)
	}
	if err := grow.ChangePage(path, 1, 1); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for at := 0; at < size; at += grow.Page {
		if !bytes.Equal(before[at:at+grow.Page], after[at:at+grow.Page]) {
			pages++
		}
	}
	if pages != 1 || len(after) != size {
		t.Errorf("%d pages changed, %d bytes", pages, len(after))
	}
}
