package retention

import "github.com/retake-dev/retake"

// applyPurposes finds the checkpoints that are kept on purpose. The first reason found counts.
func (t *timeline) applyPurposes() {
	t.purposes = map[int]Why{}
	if len(t.rows) == 0 {
		return
	}
	t.keepFor(len(t.rows)-1, Latest)
	t.keepFor(t.firstComplete(), Start)
	good := -1
	for i, r := range t.rows {
		if r.Pinned {
			t.keepFor(i, Pinned)
		}
		if r.Base {
			t.keepFor(i, Base)
		}
		if r.InUse {
			t.keepFor(i, InUse)
		}
		if r.Good {
			good = i
		}
	}
	if good >= 0 {
		t.keepFor(good, Good)
	}
	t.keepSafetyPoints()
}

func (t *timeline) keepFor(i int, why Why) {
	if _, ok := t.purposes[i]; !ok {
		t.purposes[i] = why
	}
}

// firstComplete returns the index of the first complete checkpoint, or 0 if there is none.
func (t *timeline) firstComplete() int {
	for i, r := range t.rows {
		if !r.Partial {
			return i
		}
	}
	return 0
}

// keepSafetyPoints keeps the state from before a restore for a day, and everything that
// undoing and redoing the last restores needs: the checkpoint itself, the state before it, its
// target, and the one before that.
func (t *timeline) keepSafetyPoints() {
	at := make(map[retake.CheckpointID]int, len(t.rows))
	numbers := make(map[int64]int, len(t.rows))
	for i, r := range t.rows {
		at[r.ID], numbers[r.Number] = i, i
	}
	seen := 0
	for i := len(t.rows) - 1; i >= 0; i-- {
		r, fresh := t.rows[i], t.ages[i] < KeepAllFor
		if r.Trigger == retake.TriggerSafety && fresh {
			t.keepFor(i, Safety)
		}
		if r.Return == nil {
			continue
		}
		before, known := at[r.Return.Before]
		if known && fresh {
			t.keepFor(before, Safety)
		}
		if seen++; seen > restoreDepth {
			continue
		}
		t.keepFor(i, Undo)
		if known {
			t.keepFor(before, Undo)
		}
		if target, ok := at[r.Return.Target]; ok {
			t.keepFor(target, Undo)
			if prior, ok := numbers[t.rows[target].Number-1]; ok {
				t.keepFor(prior, Undo)
			}
		}
	}
}
