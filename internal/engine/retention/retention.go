// Package retention says which checkpoints of a timeline may go, and why each of the
// others stays. It is given rows and a time; it touches nothing and asks nobody.
//
//	T1  What is kept on purpose is never dropped, however short the room is.
//	T2  To thin twice is to thin once, and what is dropped now is not wanted later.
//	T3  Of an hour and of a day that are thinned the newest stays.
//	T4  A pause makes nothing older than by a day: neither a holiday nor a clock
//	    that jumps ahead empties a timeline.
//	T5  What somebody asked for or named stays for the whole window; only what was
//	    taken automatically is thinned inside it. When room is short it goes last.
//	T6  With a last day set, nothing older is kept but pins, the newest, what forks
//	    were made from and what is in use.
package retention

import (
	"slices"
	"time"

	"github.com/retake-dev/retake"
)

// The zones of age. Days and hours are in UTC, so that they do not depend on the caller.
const (
	KeepAllFor     = 24 * time.Hour     // everything stays
	KeepHourlyFor  = 7 * 24 * time.Hour // one of each hour stays
	DefaultKeepFor = 30 * 24 * time.Hour

	MinDropAge = time.Hour // the newest of them go only when the disk is in danger

	maxCountedGap = 24 * time.Hour // the most that a gap between two checkpoints counts
	undoDepth     = 20             // newest checkpoints that undo finds whole, however old they are
	recentDepth   = 5              // newest checkpoints of the last hour that stay however full the store is
	restoreDepth  = 10             // newest restores that can be taken back, however old they are
)

// Row is a checkpoint as the rules see it.
type Row struct {
	ID      retake.CheckpointID
	Number  int64
	Parent  retake.CheckpointID
	Time    time.Time
	Trigger retake.Trigger
	Partial bool
	Return  *retake.Return
	Bytes   int64 // that it brought; about what dropping it gives back

	Pinned        bool
	Good          bool // it was verified; the newest one of these stays
	ResultChanged bool // the result of a check became another one here
	Base          bool // a live fork is based on it
	InUse         bool // something under way needs it
}

// isAutomatic reports whether a program made the checkpoint without being asked for that
// state: only these are thinned out. Unknown triggers are kept.
func (r Row) isAutomatic() bool {
	switch r.Trigger {
	case retake.TriggerPrompt, retake.TriggerRisk, retake.TriggerCall, retake.TriggerQuiet, retake.TriggerSafety, retake.TriggerSession:
		return !r.ResultChanged
	default:
		return false
	}
}

// Policy is how long the user keeps checkpoints: at least Within, counted in days with
// activity, and nothing from before GoneBefore. Within 0 means forever: nothing expires by
// age. A zero GoneBefore sets no limit.
type Policy struct {
	Within     time.Duration
	GoneBefore time.Time
}

// Why is the reason why a checkpoint stays.
type Why string

// The reasons, the strongest first.
const (
	Latest Why = "newest"
	Start  Why = "start"
	Pinned Why = "pinned"
	Good   Why = "latest good"
	Base   Why = "fork base"
	InUse  Why = "in use"
	Safety Why = "safety point"
	Undo   Why = "undo"
	Recent Why = "last hour"
	Day    Why = "last day"
	Last   Why = "last moments"
	Window Why = "kept for the window"
	Hour   Why = "one an hour"
	Date   Why = "one a day"
	All    Why = "all are kept"
	None   Why = "" // nothing keeps it
)

// KeepLevel is how firmly a checkpoint is kept.
type KeepLevel int

// A checkpoint goes when the need is at least its grip; one that is kept on purpose
// has no need above it.
const (
	Loose  KeepLevel = iota // it goes by its age
	Soft                    // it goes when the store is over its budget
	Kept                    // it goes when that is not enough
	Firm                    // it goes when the disk is below its floor
	Always                  // it stays
)

// Verdict is a checkpoint and why it stays or goes.
type Verdict struct {
	Row
	Why   Why
	Level KeepLevel
}

// Evaluate decides about all checkpoints of one timeline and returns them by number. It needs
// all live checkpoints: the newest, the start and what undo needs are found among them.
func Evaluate(rows []Row, p Policy, now time.Time) []Verdict {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b Row) int { return compareNumbers(a.Number, b.Number) })
	t := &timeline{rows: rows, ages: activeAges(rows, now), times: correctedTimes(rows, now), policy: p}
	t.applyPurposes()
	t.indexPeriods()
	out := make([]Verdict, len(rows))
	for i, r := range rows {
		out[i] = t.evaluate(i)
		out[i].Row = r
	}
	return out
}

func compareNumbers(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// activeAges returns for each row the active time since then: a gap counts for a day at most,
// and a clock that went back for nothing. A row was taken no later than those after it, so that a
// clock which jumps ahead and back, however often, ages nothing.
func activeAges(rows []Row, now time.Time) []time.Duration {
	out := make([]time.Duration, len(rows))
	var age time.Duration
	after := now
	for i, r := range slices.Backward(rows) {
		at := r.Time
		if at.After(after) {
			at = after
		}
		age += min(after.Sub(at), maxCountedGap)
		out[i], after = age, at
	}
	return out
}

// correctedTimes returns when each row was taken, corrected by the rows around it. A clock
// that went back dates a row before its predecessor, one that ran ahead dates it in the
// future; neither may make a row expire too early or never.
func correctedTimes(rows []Row, now time.Time) []time.Time {
	out := make([]time.Time, len(rows))
	var high time.Time
	for i, r := range rows {
		if !r.Time.After(now) && r.Time.After(high) {
			high = r.Time
		}
		out[i] = high
	}
	next := now
	for i, r := range slices.Backward(rows) {
		if r.Time.After(now) {
			out[i] = next // it was taken no later than the one after it
		}
		next = out[i]
	}
	return out
}

type timeline struct {
	rows     []Row
	ages     []time.Duration
	times    []time.Time
	policy   Policy
	purposes map[int]Why       // by index: kept on purpose
	hours    map[time.Time]int // index of the newest of each hour
	days     map[time.Time]int
}

// indexPeriods finds the last checkpoint of each hour and each day.
func (t *timeline) indexPeriods() {
	t.hours, t.days = map[time.Time]int{}, map[time.Time]int{}
	for i, r := range t.rows {
		t.hours[hourOf(r.Time)], t.days[dayOf(r.Time)] = i, i
	}
}

func hourOf(at time.Time) time.Time { return at.UTC().Truncate(time.Hour) }
func dayOf(at time.Time) time.Time  { return at.UTC().Truncate(24 * time.Hour) }

// isPastLimit reports whether a row is older than the user allows. Pins and legal holds, the
// newest, fork bases and what is in use are never past the limit.
func (t *timeline) isPastLimit(i int) bool {
	r := t.rows[i]
	if r.Pinned || r.Base || r.InUse || i == len(t.rows)-1 {
		return false
	}
	return t.times[i].Before(t.policy.GoneBefore)
}

// recentLevel returns how firmly a row of the last hour is kept.
func (t *timeline) recentLevel(i int) KeepLevel {
	if len(t.rows)-i <= recentDepth {
		return Firm
	}
	return Kept
}

// evaluate decides about one row: the limit of age first, which pins and what is in use are
// exempt from, then purposes, then the zones of age.
func (t *timeline) evaluate(i int) Verdict {
	age, r := t.ages[i], t.rows[i]
	if t.isPastLimit(i) {
		return Verdict{Why: None, Level: Loose}
	}
	if why, ok := t.purposes[i]; ok {
		return Verdict{Why: why, Level: Always}
	}
	within := t.policy.Within
	switch {
	case age < MinDropAge:
		return Verdict{Why: Recent, Level: t.recentLevel(i)}
	case !r.isAutomatic() && (within == 0 || age < within):
		return Verdict{Why: Window, Level: Kept}
	case within == 0:
		return Verdict{Why: All, Level: Soft}
	case len(t.rows)-i <= undoDepth:
		return Verdict{Why: Last, Level: Soft}
	case age >= within:
		return Verdict{Why: None, Level: Loose}
	case age < KeepAllFor:
		return Verdict{Why: Day, Level: Soft}
	case age < KeepHourlyFor && t.hours[hourOf(r.Time)] == i:
		return Verdict{Why: Hour, Level: Soft}
	case age >= KeepHourlyFor && t.days[dayOf(r.Time)] == i:
		return Verdict{Why: Date, Level: Soft}
	}
	return Verdict{Why: None, Level: Loose}
}
