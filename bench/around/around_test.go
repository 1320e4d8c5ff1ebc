package around_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-dev/retake/bench/around"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func look(t *testing.T, root string) around.Traces {
	t.Helper()
	got, err := around.Look(root)
	must(t, err)
	return got
}

// tree has two files in one directory, one in another, and a link.
func tree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, f := range []string{"a/one", "a/two", "b/three"} {
		must(t, os.MkdirAll(filepath.Join(root, filepath.Dir(f)), 0o755))
		must(t, os.WriteFile(filepath.Join(root, f), []byte(f), 0o644))
	}
	must(t, os.Symlink("a", filepath.Join(root, "link")))
	return root
}

// tick waits until what is written now gets another time than what was written before.
func tick(t *testing.T) {
	t.Helper()
	probe := filepath.Join(t.TempDir(), "probe")
	written := func() time.Time {
		must(t, os.WriteFile(probe, []byte("x"), 0o644))
		i, err := os.Stat(probe)
		must(t, err)
		return i.ModTime()
	}
	for before := written(); !written().After(before); {
	}
}

func TestWhatIsTouchedIsCounted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(path func(string) string) error
		want int // beside a/one and its directory
	}{
		"nothing":           {func(func(string) string) error { return nil }, 0},
		"the file":          {func(p func(string) string) error { return os.WriteFile(p("a/one"), []byte("1"), 0o644) }, 0},
		"another":           {func(p func(string) string) error { return os.WriteFile(p("a/two"), []byte("a/two"), 0o644) }, 1},
		"a mode":            {func(p func(string) string) error { return os.Chmod(p("b/three"), 0o600) }, 1},
		"a time":            {func(p func(string) string) error { return os.Chtimes(p("b"), time.Unix(1, 0), time.Unix(1, 0)) }, 1},
		"a name beside it":  {func(p func(string) string) error { return os.WriteFile(p("a/new"), nil, 0o644) }, 1},
		"a name elsewhere":  {func(p func(string) string) error { return os.WriteFile(p("b/new"), nil, 0o644) }, 2},
		"a name that went":  {func(p func(string) string) error { return os.Remove(p("b/three")) }, 2},
		"a link":            {func(p func(string) string) error { return os.Remove(p("link")) }, 2},
		"another by a swap": {func(p func(string) string) error { return os.Rename(p("b/three"), p("a/two")) }, 3},
	} {
		root := tree(t)
		before := look(t, root)
		tick(t)
		must(t, c.do(func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }))
		if got := before.Touched(look(t, root), []string{"a/one"}); got != c.want {
			t.Errorf("%s: %d paths, want %d", name, got, c.want)
		}
	}
}

func TestATreeThatIsNotThere(t *testing.T) {
	t.Parallel()
	if _, err := around.Look(filepath.Join(t.TempDir(), "no")); err == nil {
		t.Error("nothing was looked at, and no error")
	}
}
