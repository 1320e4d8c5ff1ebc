package assemble_test

import (
	"os"
	"testing"

	"github.com/retake-dev/retake"
)

// What is where the copy was is not taken for one, and nothing breaks.
func TestCopyIsAFile(t *testing.T) {
	t.Parallel()
	u := newUploads(t)
	u.sync()
	at := u.copyDir()
	must(t, os.RemoveAll(at))
	must(t, os.WriteFile(at, nil, 0o600))
	u.write("shop/a", "2")
	u.save(retake.SaveRequest{})
	for range 2 {
		if _, err := u.s.SyncRemotes(t.Context(), retake.SyncQuery{}); !retake.IsKind(err, retake.Away) {
			t.Errorf("a file in place of the copy: %v", err)
		}
	}
	must(t, u.s.Close())
}
