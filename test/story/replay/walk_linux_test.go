package replay_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/test/story/replay"
)

func TestWalkReadsWhatOnlyLinuxHas(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	file := filepath.Join(root, "a\nb\x01 ")
	write(t, file, "text")
	if err := os.Chmod(file, 0o750|os.ModeSetuid); err != nil {
		t.Fatal(err)
	}
	err := unix.Lsetxattr(file, "user.author", []byte("Kim"), 0)
	e := walked(t, root)["a\nb\x01 "]
	if e.Kind != replay.File || e.Mode != 0o4750 || e.UID != os.Getuid() {
		t.Errorf("entry is %+v", e)
	}
	if !errors.Is(err, unix.ENOTSUP) && e.Xattrs["user.author"] != "Kim" {
		t.Errorf("attributes are %v (%v)", e.Xattrs, err)
	}
}
