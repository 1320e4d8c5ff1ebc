package kopia_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/storetest"
)

// flipByte flips one byte of a file.
func flipByte(t *testing.T, path string, offset int64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[offset] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	runSuite(t, false)
}

// A sole owner keeps lists, histories and the index in memory; what it does is the same.
func TestSoleStore(t *testing.T) {
	t.Parallel()
	runSuite(t, true)
}

func runSuite(t *testing.T, sole bool) {
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		o := kopia.Options{Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: clock.Wall, Exclusive: sole, Derivation: derivation}
		s, err := kopia.Create(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return storetest.Harness{Store: s, Reopen: func(t *testing.T) store.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			again, err := kopia.Open(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = again.Close() })
			return again
		}, Damage: func(t *testing.T, id retake.ObjectID) {
			name, offset, err := s.Place(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			flipByte(t, filepath.Join(o.Dir, "blobs", name), offset)
		}}
	})
}
