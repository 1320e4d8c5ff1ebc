package kopia_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// A program of users makes the keys of users. .ci/run runs this without the tag too.
func TestDerivationOfANewStore(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{"": newDerivation, kopia.UserDerivation: "pbkdf2-sha256-600000"} {
		o := kopia.Options{Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: clock.Wall, Derivation: asked}
		s, err := kopia.Create(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(o.Dir, "blobs", "kopia.repository.f"))
		if err != nil {
			t.Fatal(err)
		}
		var format struct {
			KeyAlgo string `json:"keyAlgo"`
		}
		if err := json.Unmarshal(b, &format); err != nil || format.KeyAlgo != want {
			t.Errorf("asked for %q: %q, %v; want %q", asked, format.KeyAlgo, err, want)
		}
	}
}
