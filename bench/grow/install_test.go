package grow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake/bench/grow"
)

func TestInstall(t *testing.T) {
	t.Parallel()
	const packages, files, lists = 8, 120, 3
	var got [3][32]byte
	for i, round := range []uint64{1, 1, 2} {
		root := t.TempDir()
		if err := grow.Install(root, packages, files, 7, round); err != nil {
			t.Fatal(err)
		}
		got[i] = digest(t, root)
		all, own := 0, 0
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				all++
				if d.Name() == "package.json" && strings.Contains(path, "node_modules") {
					own++
				}
			}
			return err
		})
		if err != nil || all != files+lists || own != packages {
			t.Errorf("%d files, %d packages, %v", all, own, err)
		}
	}
	if got[0] != got[1] || got[0] == got[2] {
		t.Error("a round makes the same install each time, and no other round does")
	}
}
