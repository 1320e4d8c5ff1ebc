package fsx_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-dev/retake/internal/fsx"
)

// A file that is dated beyond what nanoseconds can count has the last time that they can.
func TestTimesBeyondCounting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	when := time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, when, when); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.ModTime().Year() != 2300 {
		t.Skipf("the file system does not go so far: %v", err)
	}
	root, err := fsx.OS().OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if i, err := root.Lstat("f"); err != nil || i.Mtime != math.MaxInt64 {
		t.Errorf("%d, %v", i.Mtime, err)
	}
}
