package kopia_test

import (
	"context"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// The stock uploader reads a stored tree and computes the same id by its own code;
// an entry it cannot express makes another.
func TestProveEqualsOurs(t *testing.T) {
	t.Parallel()
	s, err := kopia.Create(t.Context(), kopia.Options{Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewMemoryLocks(), Clock: clock.Wall, Derivation: derivation})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := s.Begin(t.Context(), retake.Workspace{ID: "ws_00000000-0000-0000-0000-000000000001", Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for special, equal := range map[bool]bool{false: true, true: false} {
		files := plainTree(t, w, special)
		card := retake.Card{V: 1, Checkpoint: retake.Checkpoint{Number: w.Head().Latest + 1, Tree: files.Object}}
		if err := w.Seal(t.Context(), store.SealRequest{Card: card, Files: files}); err != nil {
			t.Fatal(err)
		}
		got, by, err := s.Prove(t.Context(), files)
		if err != nil {
			t.Fatal(err)
		}
		if (got == files.Object) != equal || by == "" {
			t.Errorf("special %v: ours %s, stock %s by %q", special, files.Object, got, by)
		}
	}
}

func plainTree(t *testing.T, w store.Writer, special bool) retake.Entry {
	t.Helper()
	ctx := context.Background()
	file := func(name, text string) retake.Entry {
		id, n, err := w.WriteFile(ctx, name, strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		return retake.Entry{Name: name, Kind: retake.KindFile, Mode: 0o4755, UID: 7, Size: n, ModTime: 1e18 + 5, Object: id}
	}
	dir := func(name string, entries ...retake.Entry) retake.Entry {
		id, sum, err := w.WriteDir(ctx, entries, 3e17)
		if err != nil {
			t.Fatal(err)
		}
		return retake.Entry{Name: name, Kind: retake.KindDir, Mode: 0o755, ModTime: 3e17, Object: id, Sum: sum}
	}
	link := file("link", "../target")
	link.Kind, link.Mode = retake.KindSymlink, 0o777
	odd := file("name <&> \u2028", "x")
	if special {
		odd.Extra = &retake.Extra{Xattrs: map[string][]byte{"user.k": []byte("v")}}
	}
	return dir("", file("a", "one"), dir("empty"), dir("sub", file("big", strings.Repeat("0123456789", 900_000)), link), odd)
}
