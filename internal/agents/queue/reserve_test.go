package queue

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A write that meets a full disk gets room from the reserve, one file at a time, until there is
// none; the reserve is filled again.
func TestReserve(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "signals")
	if err := FillReserve(dir); err != nil {
		t.Fatal(err)
	}
	refused := 3
	write := func() error {
		if refused--; refused >= 0 {
			return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
		}
		return nil
	}
	if err := withReserve(dir, write); err != nil {
		t.Errorf("with room in reserve: %v", err)
	}
	left := func() (n int) {
		for i := range reserveFiles {
			if _, err := os.Stat(reservePath(dir, i)); err == nil {
				n++
			}
		}
		return n
	}
	if n := left(); n != reserveFiles-3 {
		t.Errorf("%d files are left", n)
	}
	if !IsEmpty(dir) || Count(dir) != 0 {
		t.Error("the reserve counts as signals")
	}
	refused = 1000
	if err := withReserve(dir, write); !errors.Is(err, syscall.ENOSPC) || left() != 0 {
		t.Errorf("without room: %v, %d files left", err, left())
	}
	if err := errors.Join(FillReserve(dir), FillReserve(dir)); err != nil || left() != reserveFiles {
		t.Errorf("filled again: %d files, %v", left(), err)
	}
}
