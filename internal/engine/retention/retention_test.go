package retention_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/retention"
)

var now = time.Date(2026, 11, 3, 12, 30, 0, 0, time.UTC)

const (
	hour = time.Hour
	day  = 24 * time.Hour
)

var month = retention.Policy{Within: 30 * day}

func id(n int64) retake.CheckpointID { return retake.CheckpointID(fmt.Sprintf("cp_%d", n)) }

// rowsEvery makes rows that end at the time given, one after each step.
func rowsEvery(step time.Duration, n int, end time.Time) []retention.Row {
	rows := make([]retention.Row, n)
	for i := range rows {
		at := int64(i + 1)
		rows[i] = retention.Row{ID: id(at), Number: at, Time: end.Add(-time.Duration(n-1-i) * step), Trigger: retake.TriggerQuiet, Bytes: 1000}
	}
	return rows
}

func whyOf(t *testing.T, rows []retention.Row, number int64) retention.Verdict {
	t.Helper()
	for _, v := range retention.Evaluate(rows, month, now) {
		if v.Number == number {
			return v
		}
	}
	t.Fatalf("there is no verdict on %d", number)
	return retention.Verdict{}
}

func TestZones(t *testing.T) {
	t.Parallel()
	rows := rowsEvery(10*time.Minute, 40*24*6, now)
	stay := map[int64]retention.Verdict{}
	hours, days := map[time.Time]int{}, map[time.Time]int{}
	for _, v := range retention.Evaluate(rows, month, now) {
		if v.Level > retention.Loose {
			stay[v.Number] = v
		}
		age := now.Sub(v.Time)
		switch {
		case v.Number == 1:
			if v.Why != retention.Start || v.Level != retention.Always {
				t.Errorf("the start: %+v", v)
			}
		case age < hour:
			if v.Level < retention.Kept || age < 40*time.Minute && v.Level < retention.Firm { // the newest five
				t.Errorf("%v old: %+v", age, v)
			}
		case age < day:
			if v.Level != retention.Soft {
				t.Errorf("%v old: %+v", age, v)
			}
		case v.Level == retention.Loose:
		case age < 7*day:
			hours[v.Time.Truncate(hour)]++
		case age < 30*day:
			days[v.Time.Truncate(day)]++
		default:
			t.Errorf("%v old and kept: %+v", age, v)
		}
	}
	if len(hours) < 6*24-1 || len(hours) > 6*24+1 || len(days) < 22 || len(days) > 24 {
		t.Errorf("%d hours, %d days", len(hours), len(days))
	}
	for at, n := range hours {
		if n != 1 {
			t.Errorf("%d of hour %v", n, at)
		}
	}
	for at, n := range days {
		if n != 1 {
			t.Errorf("%d of day %v", n, at)
		}
	}
	if n := len(stay); n < 24*6+len(hours)+len(days) || n > 24*6+len(hours)+len(days)+4 {
		t.Errorf("%d stay", n)
	}
}

// Each reason to keep is enough alone, and without it the same row goes: a row that
// is two months old, between others of its hour.
func TestEachProtectionCounts(t *testing.T) {
	t.Parallel()
	const at = 100
	plain := func() []retention.Row {
		old := rowsEvery(time.Minute, 200, now.Add(-60*day))
		young := rowsEvery(6*hour, 60*4, now)
		for i := range young {
			young[i].Number += 200
			young[i].ID = id(young[i].Number)
		}
		return append(old, young...)
	}
	if v := whyOf(t, plain(), at); v.Level != retention.Loose || v.Why != retention.None {
		t.Fatalf("without anything that keeps it: %+v", v)
	}
	last := int64(len(plain()))
	back := func(target, before int64) *retake.Return {
		return &retake.Return{Course: retake.CourseUndo, Target: id(target), Before: id(before)}
	}
	for name, c := range map[string]struct {
		why    retention.Why
		change func([]retention.Row) []retention.Row
	}{
		"pin":       {retention.Pinned, func(r []retention.Row) []retention.Row { r[at-1].Pinned = true; return r }},
		"good":      {retention.Good, func(r []retention.Row) []retention.Row { r[at-1].Good = true; return r }},
		"fork base": {retention.Base, func(r []retention.Row) []retention.Row { r[at-1].Base = true; return r }},
		"in use":    {retention.InUse, func(r []retention.Row) []retention.Row { r[at-1].InUse = true; return r }},
		"start": {retention.Start, func(r []retention.Row) []retention.Row {
			for i := range at - 1 {
				r[i].Partial = true
			}
			return r
		}},
		"newest":            {retention.Latest, func(r []retention.Row) []retention.Row { return r[:at] }},
		"before a restore":  {retention.Undo, func(r []retention.Row) []retention.Row { r[last-20].Return = back(7, at); return r }},
		"target":            {retention.Undo, func(r []retention.Row) []retention.Row { r[last-20].Return = back(at, 7); return r }},
		"before the target": {retention.Undo, func(r []retention.Row) []retention.Row { r[last-20].Return = back(at+1, 7); return r }},
		"a restore":         {retention.Undo, func(r []retention.Row) []retention.Row { r[at-1].Return = back(7, 8); return r }},
	} {
		if v := whyOf(t, c.change(plain()), at); v.Why != c.why || v.Level != retention.Always {
			t.Errorf("%s: %q, grip %d", name, v.Why, v.Level)
		}
	}
}

// Only the newest good one counts, and only the last ten restores.
func TestProtectionsEnd(t *testing.T) {
	t.Parallel()
	rows := rowsEvery(6*hour, 60*4, now)
	rows[9].Good, rows[49].Good = true, true
	if v := whyOf(t, rows, 10); v.Why == retention.Good {
		t.Errorf("an older good one is kept: %+v", v)
	}
	if v := whyOf(t, rows, 50); v.Why != retention.Good {
		t.Errorf("the latest good one: %+v", v)
	}
	rows = rowsEvery(6*hour, 60*4, now)
	for i := range 11 {
		rows[20+10*i].Return = &retake.Return{Course: retake.CourseRestore, Target: id(int64(16 + 10*i)), Before: id(int64(19 + 10*i))}
	}
	if v := whyOf(t, rows, 21); v.Level == retention.Always {
		t.Errorf("the eleventh restore: %+v", v)
	}
	for _, n := range []int64{31, 29, 26, 25} {
		if v := whyOf(t, rows, n); v.Why != retention.Undo {
			t.Errorf("%d of the tenth restore: %+v", n, v)
		}
	}
}

// A safety checkpoint stays for a day, whatever else there is.
func TestSafetyPoints(t *testing.T) {
	t.Parallel()
	rows := rowsEvery(time.Minute, 26*60, now)
	for _, n := range []int64{30, 200, 1500} {
		rows[n-1].Trigger = retake.TriggerSafety
	}
	for n, want := range map[int64]retention.Why{200: retention.Safety, 1500: retention.Safety} {
		if v := whyOf(t, rows, n); v.Why != want || v.Level != retention.Always {
			t.Errorf("%d: %+v", n, v)
		}
	}
	if v := whyOf(t, rows, 30); v.Level == retention.Always {
		t.Errorf("after a day: %+v", v)
	}
	for i := range 12 { // more restores in a day than the last ones
		rows[1000+10*i].Return = &retake.Return{Course: retake.CourseRestore, Target: id(3), Before: id(int64(995 + 10*i))}
	}
	if v := whyOf(t, rows, 995); v.Why != retention.Safety || v.Level != retention.Always {
		t.Errorf("what was there before a restore of today: %+v", v)
	}
	rows[199].Trigger = retake.TriggerQuiet
	if v := whyOf(t, rows, 200); v.Level == retention.Always {
		t.Errorf("without the trigger: %+v", v)
	}
}

// A year without work, and a clock that says so, make nothing too old.
func TestAPauseIsADay(t *testing.T) {
	t.Parallel()
	rows := rowsEvery(hour, 100, now)
	for _, jump := range []time.Duration{3 * day, 400 * day, 70 * 365 * day} {
		later := now.Add(jump)
		back := retention.Row{ID: id(101), Number: 101, Time: later, Trigger: retake.TriggerQuiet}
		for _, rows := range [][]retention.Row{rows, append(rows[:100:100], back)} {
			for _, v := range retention.Evaluate(rows, month, later) {
				if v.Level == retention.Loose {
					t.Fatalf("after %v: %+v", jump, v)
				}
			}
		}
	}
	for _, v := range retention.Evaluate(rows, month, now.Add(-400*day)) { // and back
		if v.Level == retention.Loose {
			t.Fatalf("a clock that went back: %+v", v)
		}
	}
}

func TestForEver(t *testing.T) {
	t.Parallel()
	for _, v := range retention.Evaluate(rowsEvery(hour, 3000, now), retention.Policy{}, now) {
		if v.Level == retention.Loose {
			t.Fatalf("%+v", v)
		}
	}
}

// Undo finds the last moments whole after a weekend.
func TestTheLastCheckpointsStay(t *testing.T) {
	t.Parallel()
	rows := rowsEvery(time.Minute, 100, now.Add(-60*day))
	rows = append(rows, retention.Row{ID: id(101), Number: 101, Time: now.Add(-time.Minute)})
	for n := int64(82); n <= 100; n++ {
		if v := whyOf(t, rows, n); v.Level != retention.Soft {
			t.Errorf("%d: %+v", n, v)
		}
	}
	if v := whyOf(t, rows, 50); v.Level != retention.Loose {
		t.Errorf("50: %+v", v)
	}
}

func TestPressTakesTheOldestFirst(t *testing.T) {
	t.Parallel()
	a := rowsEvery(10*time.Minute, 100, now)
	b := rowsEvery(10*time.Minute, 100, now.Add(-5*time.Minute))
	for i := range b {
		b[i].ID = "other_" + b[i].ID
	}
	a[10].Pinned = true
	lines := []retention.History{{Workspace: "a", Verdicts: retention.Evaluate(a, month, now)}, {Workspace: "b", Verdicts: retention.Evaluate(b, month, now)}}
	drops := retention.SelectToFree(lines, 20_000, retention.Soft)
	if len(drops) != 20 {
		t.Fatalf("%d drops for 20 kB of 1 kB each", len(drops))
	}
	for i, d := range drops {
		if i > 0 && d.Time.Before(drops[i-1].Time) {
			t.Errorf("%d: %v after %v", i, d.Time, drops[i-1].Time)
		}
		if d.Level > retention.Soft || d.Pinned || d.Why == retention.Start {
			t.Errorf("%+v goes", d)
		}
	}
	for need, want := range map[retention.KeepLevel]time.Duration{retention.Soft: hour, retention.Firm: 0, retention.Always: 0} {
		for _, d := range retention.SelectToFree(lines, 1e9, need) {
			if age := now.Sub(d.Time); age < want || d.Level == retention.Always {
				t.Errorf("need %d: %v old goes: %+v", need, age, d)
			}
		}
	}
	if got := len(retention.SelectToFree(lines, 1e9, retention.Always)); got != 200-2-2-1 {
		t.Errorf("all that may ever go: %d", got)
	}
}
