//go:build !linux

package track_test

import (
	"testing"

	"github.com/retake-dev/retake/internal/platform/track"
)

func TestNoTrackerYet(t *testing.T) {
	t.Parallel()
	if w, err := track.New(track.Options{}).Watch(t.TempDir()); err == nil || w != nil {
		t.Errorf("followed: %v", err)
	}
}
