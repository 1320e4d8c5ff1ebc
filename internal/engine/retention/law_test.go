package retention_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/retention"
)

// anyTimeline is a timeline with gaps in its numbers, pauses, a clock that may jump
// either way, restores, and things that keep.
func anyTimeline(t *rapid.T) []retention.Row {
	n := rapid.IntRange(1, 120).Draw(t, "rows")
	at, number := now.Add(-time.Duration(rapid.IntRange(0, 100).Draw(t, "since"))*day), int64(0)
	rows := make([]retention.Row, 0, n)
	for range n {
		number += int64(rapid.IntRange(1, 3).Draw(t, "number"))
		switch rapid.IntRange(0, 9).Draw(t, "step") {
		case 0:
			at = at.Add(time.Duration(rapid.IntRange(1, 500).Draw(t, "pause")) * hour)
		case 1:
			at = at.Add(-time.Duration(rapid.IntRange(1, 100).Draw(t, "back")) * hour)
		default:
			at = at.Add(time.Duration(rapid.IntRange(0, 7200).Draw(t, "seconds")) * time.Second)
		}
		rows = append(rows, anyRow(t, rows, number, at))
	}
	return rows
}

// triggers are mostly automatic ones, so that there is something to thin.
var triggers = []retake.Trigger{
	retake.TriggerQuiet, retake.TriggerPrompt, retake.TriggerRisk, retake.TriggerCall, retake.TriggerSession, retake.TriggerQuiet,
	retake.TriggerManual, retake.TriggerTask, retake.TriggerTurn,
}

func anyRow(t *rapid.T, before []retention.Row, number int64, at time.Time) retention.Row {
	r := retention.Row{ID: id(number), Number: number, Time: at, Trigger: rapid.SampledFrom(triggers).Draw(t, "trigger"), Bytes: 100}
	one := func(name string, of int) bool { return rapid.IntRange(1, of).Draw(t, name) == 1 }
	r.Partial, r.Pinned, r.Good, r.Base, r.InUse = one("partial", 6), one("pinned", 20), one("good", 12), one("base", 20), one("held", 30)
	r.ResultChanged = one("turned", 10)
	if one("safety", 8) {
		r.Trigger = retake.TriggerSafety
	}
	if len(before) > 0 && one("return", 8) {
		pick := func(name string) retake.CheckpointID {
			return before[rapid.IntRange(0, len(before)-1).Draw(t, name)].ID
		}
		r.Trigger, r.Return = retake.TriggerReturn, &retake.Return{Course: retake.CourseUndo, Target: pick("target"), Before: pick("before")}
	}
	return r
}

func anyPolicy(t *rapid.T) retention.Policy {
	return retention.Policy{Within: time.Duration(rapid.IntRange(0, 60).Draw(t, "within")) * day}
}

// anyEdges may have a last day, too.
func anyEdges(t *rapid.T, at time.Time) retention.Policy {
	p := anyPolicy(t)
	if rapid.Bool().Draw(t, "edge") {
		p.GoneBefore = at.Add(-time.Duration(rapid.IntRange(1, 100).Draw(t, "gone after")) * day)
	}
	return p
}

// droppedNumbers are the numbers that a need lets go.
func droppedNumbers(rows []retention.Row, p retention.Policy, at time.Time, need retention.KeepLevel) map[int64]bool {
	out := map[int64]bool{}
	for _, d := range retention.SelectToFree([]retention.History{{Verdicts: retention.Evaluate(rows, p, at)}}, 1<<60, need) {
		out[d.Number] = true
	}
	return out
}

func without(rows []retention.Row, gone map[int64]bool) []retention.Row {
	var out []retention.Row
	for _, r := range rows {
		if !gone[r.Number] {
			out = append(out, r)
		}
	}
	return out
}

// latest is when the newest of the rows was taken, or now.
func latest(rows []retention.Row) time.Time {
	at := now
	for _, r := range rows {
		if r.Time.After(at) {
			at = r.Time
		}
	}
	return at
}

// T1, told again in other words than the code's.
func TestNothingThatIsKeptOnPurposeGoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := anyTimeline(t)
		need := retention.KeepLevel(rapid.IntRange(0, 5).Draw(t, "need"))
		gone := droppedNumbers(rows, anyPolicy(t), latest(rows), need)
		if gone[rows[len(rows)-1].Number] {
			t.Fatal("the newest goes")
		}
		complete, good := false, int64(0)
		for _, r := range rows {
			if (r.Pinned || r.Base || r.InUse) && gone[r.Number] {
				t.Fatalf("%+v goes", r)
			}
			if !r.Partial && !complete {
				complete = true
				if gone[r.Number] {
					t.Fatalf("the start goes: %+v", r)
				}
			}
			if r.Good {
				good = r.Number
			}
		}
		if gone[good] {
			t.Fatalf("the latest good one goes: %d", good)
		}
		last := rows[len(rows)-1]
		if last.Return != nil {
			for _, r := range rows {
				if (r.ID == last.Return.Target || r.ID == last.Return.Before) && gone[r.Number] {
					t.Fatalf("%+v is needed by the newest restore", r)
				}
			}
		}
	})
}

// T2: twice is once; and a timeline that was thinned on the way wants nothing that
// was dropped, as it goes on.
func TestThinningIsDoneOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows, p := anyTimeline(t), anyPolicy(t)
		at := latest(rows)
		gone := droppedNumbers(rows, p, at, retention.Loose)
		left := without(rows, gone)
		if again := droppedNumbers(left, p, at, retention.Loose); len(again) > 0 {
			t.Fatalf("the second time %v go, of %v", again, gone)
		}
		later := at.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "later")) * hour)
		wanted := droppedNumbers(rows, p, later, retention.Loose)
		grown := rows
		for i := range rapid.IntRange(0, 5).Draw(t, "more") {
			n := rows[len(rows)-1].Number + int64(i) + 1
			grown = append(grown[:len(grown):len(grown)], retention.Row{ID: id(n), Number: n, Time: later, Trigger: retake.TriggerManual, Bytes: 100})
		}
		more := droppedNumbers(grown, p, later, retention.Loose)
		for n := range gone {
			if !wanted[n] || !more[n] {
				t.Fatalf("%d was dropped and would stay later: %v %v", n, wanted[n], more[n])
			}
		}
	})
}

// T3: whatever is thinned, the newest of each hour in the week and of each day in
// the window is there.
func TestTheNewestOfEachStays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := rowsEvery(time.Duration(rapid.IntRange(60, 7200).Draw(t, "step"))*time.Second, rapid.IntRange(1, 800).Draw(t, "n"), now)
		left := without(rows, droppedNumbers(rows, month, now, retention.Loose))
		kept := map[int64]bool{}
		for _, r := range left {
			kept[r.Number] = true
		}
		for i, r := range rows {
			age := now.Sub(r.Time)
			next := now
			if i+1 < len(rows) {
				next = rows[i+1].Time
			}
			lastOfHour := next.Truncate(hour) != r.Time.Truncate(hour)
			lastOfDay := next.Truncate(day) != r.Time.Truncate(day)
			switch {
			case age < day, age < 7*day && lastOfHour, age < 30*day && lastOfDay:
				if !kept[r.Number] {
					t.Fatalf("%d, %v old, went", r.Number, age)
				}
			}
		}
	})
}

// T4: one step of the clock, however far, drops at most what a day would.
func TestAJumpIsADay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows, p := anyTimeline(t), anyPolicy(t)
		at := rows[len(rows)-1].Time
		far := at.Add(time.Duration(rapid.IntRange(24, 1_000_000).Draw(t, "hours")) * hour)
		byDay, byJump := droppedNumbers(rows, p, at.Add(day), retention.Loose), droppedNumbers(rows, p, far, retention.Loose)
		for n := range byJump {
			if !byDay[n] {
				t.Fatalf("%d goes by the jump alone", n)
			}
		}
	})
}

// T5, told again in other words than the code's, for a clock that goes on.
func TestR1_WhatSomebodyAskedForStaysForTheWindow(t *testing.T) {
	t.Parallel()
	asked := map[retake.Trigger]bool{retake.TriggerManual: true, retake.TriggerTask: true, retake.TriggerTurn: true}
	rapid.Check(t, func(t *rapid.T) {
		rows := rowsEvery(time.Duration(rapid.IntRange(1, 300).Draw(t, "step"))*time.Minute, rapid.IntRange(30, 200).Draw(t, "rows"), now)
		for i := range rows {
			rows[i].Trigger = rapid.SampledFrom(triggers).Draw(t, "trigger")
			rows[i].ResultChanged = rapid.IntRange(1, 10).Draw(t, "turned") == 1
		}
		p := anyPolicy(t)
		gone := droppedNumbers(rows, p, now, retention.Loose)
		for _, r := range rows {
			if inside := p.Within == 0 || now.Sub(r.Time) < p.Within; inside && gone[r.Number] && (asked[r.Trigger] || r.ResultChanged) {
				t.Fatalf("%+v goes inside of %v", r, p.Within)
			}
		}
		named := false
		for _, d := range retention.SelectToFree([]retention.History{{Verdicts: retention.Evaluate(rows, p, now)}}, 1<<60, retention.Kept) {
			if named && d.Level != retention.Kept {
				t.Fatalf("%+v goes after something that was asked for", d)
			}
			named = d.Level == retention.Kept
		}
	})
}

// T6: nothing from before the last day is left but what nobody may take.
func TestR2_NothingIsOlderThanTheLastDay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := anyTimeline(t)
		at := latest(rows)
		p := anyEdges(t, at)
		gone := droppedNumbers(rows, p, at, retention.Loose)
		high := time.Time{} // a row is no older than one before it
		for i, r := range rows {
			if r.Time.After(high) {
				high = r.Time
			}
			may := i < len(rows)-1 && !r.Pinned && !r.Base && !r.InUse
			if may && high.Before(p.GoneBefore) && !gone[r.Number] {
				t.Fatalf("%+v stays, and all before %v go", r, p.GoneBefore)
			}
			if !may && gone[r.Number] {
				t.Fatalf("%+v goes", r)
			}
		}
		if again := droppedNumbers(without(rows, gone), p, at, retention.Loose); len(again) > 0 && p.GoneBefore.IsZero() {
			t.Fatalf("the second time %v go", again)
		}
	})
}
