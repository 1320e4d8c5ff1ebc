//go:build !portable

package fsx_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Where times are said to be fine, every change that follows a look shows, also
// when both come as fast as they can.
func TestFineTimesShowEveryChange(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	if !fsx.OS().HasFineTimestamps(filepath.Dir(path)) {
		t.Skip("times are coarse here")
	}
	stamp := func() unix.Timespec {
		var st unix.Stat_t
		must(t, unix.Fstat(int(f.Fd()), &st))
		return st.Ctim
	}
	before := stamp()
	for i := range 20_000 {
		_, err := f.WriteAt([]byte{byte(i)}, 0)
		must(t, err)
		after := stamp()
		if after == before {
			t.Fatalf("change %d left the times as they were", i)
		}
		before = after
	}
}
