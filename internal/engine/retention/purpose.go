package retention

import "github.com/retake-dev/retake"

// purposes finds what is kept on purpose. The first reason that is found stands.
func (t *timeline) purposes() {
	t.purpose = map[int]Why{}
	if len(t.rows) == 0 {
		return
	}
	t.hold(len(t.rows)-1, Latest)
	t.hold(t.start(), Start)
	good := -1
	for i, r := range t.rows {
		if r.Pinned {
			t.hold(i, Pinned)
		}
		if r.Base {
			t.hold(i, Base)
		}
		if r.Held {
			t.hold(i, Held)
		}
		if r.Good {
			good = i
		}
	}
	if good >= 0 {
		t.hold(good, Good)
	}
	t.safeties()
}

func (t *timeline) hold(i int, why Why) {
	if _, ok := t.purpose[i]; !ok {
		t.purpose[i] = why
	}
}

// start is the first complete one; when there is none, the first.
func (t *timeline) start() int {
	for i, r := range t.rows {
		if !r.Partial {
			return i
		}
	}
	return 0
}

// safeties keeps what was there before a restore, for a day, and all that taking
// back and bringing again of the last restores needs: the checkpoint itself, what was
// there before it, where it led, and the one before that.
func (t *timeline) safeties() {
	at := make(map[retake.CheckpointID]int, len(t.rows))
	numbers := make(map[int64]int, len(t.rows))
	for i, r := range t.rows {
		at[r.ID], numbers[r.Number] = i, i
	}
	seen := 0
	for i := len(t.rows) - 1; i >= 0; i-- {
		r, fresh := t.rows[i], t.ages[i] < Whole
		if r.Trigger == retake.TriggerSafety && fresh {
			t.hold(i, Safety)
		}
		if r.Return == nil {
			continue
		}
		before, known := at[r.Return.Before]
		if known && fresh {
			t.hold(before, Safety)
		}
		if seen++; seen > returns {
			continue
		}
		t.hold(i, Undo)
		if known {
			t.hold(before, Undo)
		}
		if target, ok := at[r.Return.Target]; ok {
			t.hold(target, Undo)
			if prior, ok := numbers[t.rows[target].Number-1]; ok {
				t.hold(prior, Undo)
			}
		}
	}
}
