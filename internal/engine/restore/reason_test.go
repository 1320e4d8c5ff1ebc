package restore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Where one path of a directory is left, the directory is left too: nothing else took its
// place.
func TestWhyADirectoryIsLeft(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "full", "of"), 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := fsx.OS().OpenRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if why := failureReason(d.RemoveDir("full")); why != "it is not empty" {
		t.Errorf("left because %q", why)
	}
}
