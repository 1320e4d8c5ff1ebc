package kopia_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// An object of the engine has the name that is computed from its bytes, unless it is large.
func TestMatches(t *testing.T) {
	t.Parallel()
	s := createIn(t, kopia.Options{Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewMemoryLocks(), Clock: clock.Wall, Derivation: derivation})
	w, err := s.Begin(t.Context(), retake.Workspace{ID: "ws_00000000-0000-0000-0000-000000000001", Name: "x"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for _, n := range []int{1, 10, 5000, 1 << 20} {
		text := strings.Repeat("some text ", n/10+1)[:n]
		id, _, err := w.WriteFile(t.Context(), "f", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if !s.Matches(id, []byte(text)) || s.Matches(id, []byte(text[1:])) || s.Matches(id, []byte(text+"x")) {
			t.Errorf("%d bytes: Matches is wrong about %s", n, id)
		}
	}
	if s.Matches("", nil) || s.Matches("not an id", nil) || s.Matches("Ix0123456789abcdef0123456789abcdef", nil) {
		t.Error("it matches what is no object")
	}
}
