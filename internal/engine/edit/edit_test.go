package edit_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/edit"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// openTree makes a directory with a file, links to outside, and a neighbour that must stay as it is.
func openTree(t *testing.T) (root fsx.Dir, dir, outside string) {
	t.Helper()
	base := t.TempDir()
	dir, outside = filepath.Join(base, "work"), filepath.Join(base, "outside")
	for _, d := range []string{dir, outside, filepath.Join(dir, "sub")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"work/a": "old", "work/sub/b": "b", "outside/secret": "secret"} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"up": "../outside", "file": "../outside/secret", "loop": "loop"} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := fsx.OS().OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	return root, dir, outside
}

func TestWriteReplacesAndCreates(t *testing.T) {
	t.Parallel()
	root, dir, _ := openTree(t)
	for _, c := range []struct {
		path, text string
		mode, want uint32
		created    bool
	}{
		{"a", "new", 0, 0o640, false},
		{"c", "c", 0, 0o644, true},
		{"x/y/z.sh", "#!", 0o755, 0o755, true},
		{"x/y/z.sh", "", 0, 0o755, false},
		{"with space\n\xff", "n", 0, 0o644, true},
	} {
		got, err := edit.Write(t.Context(), root, c.path, c.mode, strings.NewReader(c.text))
		if err != nil || got != (retake.FileWritten{Size: int64(len(c.text)), Mode: c.want, Created: c.created}) {
			t.Errorf("%q: %+v %v", c.path, got, err)
		}
		b, err := os.ReadFile(filepath.Join(dir, c.path))
		info, serr := os.Lstat(filepath.Join(dir, c.path))
		if err != nil || serr != nil || string(b) != c.text || uint32(info.Mode().Perm()) != c.want {
			t.Errorf("%q has %q, %v %v %v", c.path, b, info, err, serr)
		}
	}
}

// No path leads outside, into the marker directory or through a link, and what is refused changes
// nothing.
func TestHostilePathsAreRefused(t *testing.T) {
	t.Parallel()
	root, dir, outside := openTree(t)
	for path, want := range map[string]retake.ErrorKind{
		"": retake.Invalid, "/etc/passwd": retake.Invalid, "../outside/new": retake.Invalid, "sub/../../outside/new": retake.Invalid,
		"a/": retake.Invalid, "sub//b": retake.Invalid, ".": retake.Invalid, "a\x00b": retake.Invalid, strings.Repeat("d/", 3000) + "f": retake.Invalid,
		strings.Repeat("n", 300): retake.Invalid, ".retake/id": retake.Denied, ".retake": retake.Denied,
		"up/secret": retake.Exists, "up/new": retake.Exists, "file": retake.Exists, "loop": retake.Exists, "loop/x": retake.Exists, "a/b": retake.Exists, "sub": retake.Exists,
	} {
		if _, err := edit.Write(t.Context(), root, path, 0, strings.NewReader("hostile")); !retake.IsKind(err, want) {
			t.Errorf("write %.40q: %v, want %s", path, err, want)
		}
	}
	if _, err := edit.Write(t.Context(), root, "suid", 0o4755, strings.NewReader("x")); !retake.IsKind(err, retake.Invalid) {
		t.Errorf("a setuid file: %v", err)
	}
	for _, path := range []string{"../outside/secret", "up/secret", "sub", "none", "a/b", ".retake/id"} {
		if err := edit.Remove(root, path); err == nil {
			t.Errorf("removed %q", path)
		}
	}
	secret, err := os.ReadFile(filepath.Join(outside, "secret"))
	names, derr := os.ReadDir(outside)
	if err != nil || derr != nil || string(secret) != "secret" || len(names) != 1 {
		t.Errorf("outside: %q %v %v %v", secret, names, err, derr)
	}
	if inside, err := os.ReadDir(dir); err != nil || len(inside) != 5 {
		t.Errorf("left behind: %v %v", inside, err)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()
	root, dir, outside := openTree(t)
	for _, path := range []string{"a", "file", "up", "sub/b", "sub"} {
		if err := edit.Remove(root, path); err != nil {
			t.Errorf("%q: %v", path, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, path)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q is there: %v", path, err)
		}
	}
	if _, err := os.Stat(filepath.Join(outside, "secret")); err != nil {
		t.Error(err)
	}
}

type failingReader struct{ after int }

func (r *failingReader) Read(p []byte) (int, error) {
	if r.after <= 0 {
		return 0, errors.New("the source broke")
	}
	n := min(len(p), r.after)
	r.after -= n
	return n, nil
}

// A write that fails leaves the file as it was, and nothing beside it.
func TestFailedWriteLeavesTheFile(t *testing.T) {
	t.Parallel()
	root, dir, _ := openTree(t)
	if _, err := edit.Write(t.Context(), root, "a", 0, &failingReader{100_000}); err == nil {
		t.Error("no error")
	}
	b, err := os.ReadFile(filepath.Join(dir, "a"))
	names, derr := os.ReadDir(dir)
	if err != nil || derr != nil || string(b) != "old" || len(names) != 5 {
		t.Errorf("%q, %v %v %v", b, names, err, derr)
	}
}
