package kopia_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// movedClock is the wall clock, moved.
type movedClock struct{ by atomic.Int64 }

func (c *movedClock) Now() time.Time { return time.Now().Add(time.Duration(c.by.Load())) }

// The engine reads the format again every quarter of an hour. If it was damaged meanwhile, an open
// store puts it back and goes on.
func TestDamagedKeysUnderAnOpenStoreComeBack(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"blobs/kopia.blobcfg.f", "blobs/kopia.repository.f"} {
		for how, change := range damages {
			f := fillStore(t)
			c := &movedClock{}
			f.opts.Clock = c
			s, err := kopia.Open(t.Context(), f.opts)
			must(t, err)
			var ws retake.WorkspaceID
			for ws = range f.files {
				break
			}
			f.damage(t, file, change)
			c.by.Store(int64(20 * time.Minute))
			for i := range 2 {
				if err := sealText(t.Context(), s, retake.Workspace{ID: ws, Name: "w", Root: "/w"}, fmt.Sprint("after ", i)); err != nil {
					t.Errorf("%s %s: %v", file, how, err)
				}
			}
			if rep, err := s.Scrub(t.Context(), retake.ScrubQuery{Share: 1}); err != nil || len(rep.Failed) > 0 {
				t.Errorf("%s %s: %+v, %v", file, how, rep, err)
			}
			must(t, s.Close())
		}
	}
}
