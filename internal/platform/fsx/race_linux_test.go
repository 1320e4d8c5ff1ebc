package fsx_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// swapNames swaps two names of root without end until stop is closed.
func swapNames(t *testing.T, root string, pairs [][2]string, stop <-chan struct{}) <-chan struct{} {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			for _, p := range pairs {
				err := unix.Renameat2(unix.AT_FDCWD, filepath.Join(root, p[0]),
					unix.AT_FDCWD, filepath.Join(root, p[1]), unix.RENAME_EXCHANGE)
				if err != nil {
					t.Error(err)
					return
				}
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	return done
}

// readBelow reads d/f, x and y by handles. What the swap hides is no error.
func readBelow(d fsx.Dir, seen map[string]int) error {
	read := func(dir fsx.Dir, name string) error {
		f, err := dir.OpenFile(name)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(f)
		seen[string(data)]++
		return errors.Join(err, f.Close())
	}
	for _, name := range []string{"x", "y"} {
		if err := read(d, name); err != nil && !errors.Is(err, fsx.ErrNotRegular) {
			return err
		}
	}
	sub, err := d.OpenDir("d")
	if errors.Is(err, fsx.ErrNotDir) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(read(sub, "f"), sub.Close())
}

// TestNoByteFromOutside swaps a directory and a file with links that lead out,
// and a file with a link to its neighbour.
// Reading by path in the same loop does get there: that shows the trap works.
func TestNoByteFromOutside(t *testing.T) {
	t.Parallel()
	const enough = 5000
	onEveryFS(t, func(t *testing.T, p testFS) {
		if strings.HasPrefix(p.root, "/w") {
			t.Skip("memory has no kernel to race with")
		}
		outside := t.TempDir()
		must(t, os.WriteFile(filepath.Join(outside, "f"), []byte("outside"), 0o600))
		d := p.open(t)
		must(t, d.Mkdir("d", 0o755))
		must(t, os.WriteFile(filepath.Join(p.root, "d", "f"), []byte("inside"), 0o600))
		writeFile(t, d, "x", "inside")
		writeFile(t, d, "y", "inside")
		writeFile(t, d, "z", "neighbour")
		must(t, p.symlink(outside, "dlink"))
		must(t, p.symlink(filepath.Join(outside, "f"), "xlink"))
		must(t, p.symlink("z", "ylink"))

		stop := make(chan struct{})
		done := swapNames(t, p.root, [][2]string{{"d", "dlink"}, {"x", "xlink"}, {"y", "ylink"}}, stop)
		defer func() { close(stop); <-done }()
		byHandle, byPath := map[string]int{}, map[string]int{}
		deadline := time.After(60 * time.Second)
		for byPath["outside"] < enough || byPath["neighbour"] < enough || byHandle["inside"] < enough {
			must(t, readBelow(d, byHandle))
			for _, name := range []string{"x", "y", "d/f"} {
				data, _ := os.ReadFile(filepath.Join(p.root, name))
				byPath[string(data)]++
			}
			select {
			case <-deadline:
				t.Fatalf("by handle %v, by path %v", byHandle, byPath)
			default:
			}
		}
		if len(byHandle) != 1 {
			t.Errorf("read by handle %v", byHandle)
		}
	})
}
