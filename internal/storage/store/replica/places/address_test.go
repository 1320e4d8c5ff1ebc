package places_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/store/replica/places"
)

// A password in an address is refused, and not told again: what is told is written down by others.
func TestPasswordInAnAddress(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"sftp://u:hush@host/a", "s3://u:hush@b/a", "webdav://u:hush@host/a?x=1", "sftp://u:hush%zz@host/a", "ftp://u:hush@host", "sftp://u:hush@host:port/a"} {
		_, err := places.ParseAddress(text, clock.Wall.Now)
		if !errors.Is(err, places.ErrAddress) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
