package fsx_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func TestReadOrCreate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	refused := errors.New("refused")
	if b, err := fsx.ReadOrCreate(path, func() ([]byte, error) { return nil, refused }); !errors.Is(err, refused) || b != nil {
		t.Fatalf("%q %v", b, err)
	}
	const callers = 16
	got := make([]string, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			b, err := fsx.ReadOrCreate(path, func() ([]byte, error) { return fmt.Appendf(nil, "of caller %d", i), nil })
			if err != nil {
				t.Error(err)
			}
			got[i] = string(b)
		})
	}
	wg.Wait()
	for i := range got {
		if got[i] == "" || got[i] != got[0] {
			t.Errorf("caller %d has %q, not %q", i, got[i], got[0])
		}
	}
	if b, err := fsx.ReadOrCreate(path, func() ([]byte, error) { return nil, refused }); err != nil || string(b) != got[0] {
		t.Errorf("again %q %v", b, err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}
