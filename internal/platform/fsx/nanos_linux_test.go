package fsx_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// A file that is dated beyond what nanoseconds can count has the last time that they can.
// The time is set by the kernel's own call: that of the os package goes round as well.
func TestTimesBeyondCounting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const in2300 = 10_413_792_000
	when := unix.Timespec{Sec: in2300}
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, path, []unix.Timespec{when, when}, 0); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.ModTime().Unix() != in2300 {
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
