package maintenance

import (
	"testing"
	"time"
)

// A checkpoint is due after two seconds of rest, and once a minute when there is none.
func TestAutoCheckpointIsDue(t *testing.T) {
	type look struct {
		at           time.Duration
		events       int64
		save, moving bool
	}
	for name, looks := range map[string][]look{
		"nothing changes":  {{0, 0, false, false}, {time.Hour, 0, false, false}},
		"one edit":         {{0, 1, false, false}, {1900 * time.Millisecond, 1, false, false}, {2 * time.Second, 1, true, false}, {9 * time.Second, 1, false, false}},
		"edits in a row":   {{0, 1, false, false}, {time.Second, 2, false, false}, {2 * time.Second, 3, false, false}, {4 * time.Second, 3, true, false}},
		"two edits apart":  {{0, 1, false, false}, {2 * time.Second, 1, true, false}, {9 * time.Second, 2, false, false}, {11 * time.Second, 2, true, false}},
		"a clock set back": {{time.Hour, 1, false, false}, {0, 1, false, false}, {time.Hour + 2*time.Second, 1, true, false}},
	} {
		r, noon := changeActivity{}, time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
		for _, l := range looks {
			if save, moving := r.isDue(noon.Add(l.at), l.events); save != l.save || moving != l.moving {
				t.Errorf("%s: after %v it is %v, %v", name, l.at, save, moving)
			}
		}
	}
	r, noon, saves := changeActivity{}, time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC), 0
	for i := range int64(3601) {
		if save, moving := r.isDue(noon.Add(time.Duration(i)*time.Second), i+1); save {
			if saves++; !moving {
				t.Fatalf("after %d s of changes it is called rest", i)
			}
		}
	}
	if saves != 60 {
		t.Errorf("%d checkpoints in an hour of changes, want 60", saves)
	}
}
