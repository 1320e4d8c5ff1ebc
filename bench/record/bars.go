package record

import (
	"fmt"
	"io"
	"slices"
)

// bar is a number to hold: the median of one tool in one row, as a multiple of
// another when there is one. What a store grows by is held save by save against what
// that save had to store, and the median of these ratios counts: a sum would let one
// large file hide what all the small saves cost.
//
// Quick is the limit of a quick run, which is small and shares its machine: it
// holds ratios inside that run, with slack. Beside the engine and over time the
// slack is two; beside git it is larger, because with 10,000 files git has a tenth
// of the work and a process of ours still has to start; counts have none. 0 means
// that a quick run says nothing about it.
type bar struct {
	letter      Letter
	what        string
	own, other  ref
	limit       float64
	unit        Unit // of an absolute limit
	quick       float64
	quickMillis float64 // beside the ratio, for what does not grow with the files: a process starts, opens the store, looks at all others
	base        bool    // the other is the base of the own row
	most        bool    // the largest sample counts, not the median: not one may be above
	tail        bool    // 95 of 100 samples are not above it
}

// ref is one tool in one row.
type ref struct {
	key  Key
	tool string
}

var bars = []bar{
	{letter: "a", what: "save in the daemon, shared directories, to the engine bare", own: ref{Shared, Retake}, other: ref{Shared, Engine}, limit: 3, quick: 6},
	{letter: "a", what: "save in the daemon, random places, to the engine bare", own: ref{Random, Retake}, other: ref{Random, Engine}, limit: 5, quick: 10},
	{letter: "a", what: "save in the daemon, shared directories, to shadow git", own: ref{Shared, Retake}, other: ref{Shared, Git}, limit: 1.0 / 15, quick: 1},
	{letter: "a", what: "save in the daemon, random places, to shadow git", own: ref{Random, Retake}, other: ref{Random, Git}, limit: 1.0 / 15, quick: 1},
	{letter: "a", what: "fsyncs of one save in the daemon", own: ref{Syncs, Retake}, limit: 4, unit: Count, quick: 4},
	{letter: "a", what: "fsyncs of the store for one save without a daemon", own: ref{SyncsStore, Solo}, limit: 4, unit: Count, quick: 4},
	{letter: "a", what: "the store grows, shared directories, to the changed bytes compressed", own: ref{SharedStore, Retake}, base: true, limit: 1.5, quick: 5},
	{letter: "a", what: "the store grows, random places, to the changed bytes compressed", own: ref{RandomStore, Retake}, base: true, limit: 4, quick: 10},
	{letter: "a", what: "retake --solo save, random places, to shadow git", own: ref{Random, Solo}, other: ref{Random, Git}, quick: 3, quickMillis: 400},
	{letter: "b", what: "retake save, whole process, shared directories, to shadow git", own: ref{Shared, Process}, other: ref{Shared, Git}, limit: 1.0 / 8, quick: 2},
	{letter: "b", what: "retake save, whole process, random places, to shadow git", own: ref{Random, Process}, other: ref{Random, Git}, limit: 1.0 / 8, quick: 2},
	{letter: "b", what: "nothing changed, whole process", own: ref{Same, Process}, limit: 25, unit: Millis, quick: 75},
	{letter: "b", what: "nothing changed: checkpoints recorded", own: ref{SameKept, Process}, limit: 0, unit: Count, quick: exact},
	{letter: "c", what: "ten times the files, shared directories, to its own figure", own: ref{BigShared, Retake}, other: ref{SmallShared, Retake}, limit: 1.5, quick: 3},
	{letter: "c", what: "ten times the files, random places, to its own figure", own: ref{BigRandom, Retake}, other: ref{SmallRandom, Retake}, limit: 1.5, quick: 6},
	{letter: "d", what: "first capture to kopia's command line", own: ref{First, Process}, other: ref{First, Kopia}, limit: 1.3, quick: 2, quickMillis: 400},
	{letter: "d", what: "first capture to shadow git", own: ref{First, Process}, other: ref{First, Git}, limit: 1, quick: 1.5, quickMillis: 400},
	{letter: "d", what: "first capture without a daemon to shadow git", own: ref{First, Solo}, other: ref{First, Git}, quick: 1.5, quickMillis: 400},
	{letter: "e", what: "save at the last hundred checkpoints to the first hundred", own: ref{LineLate, Retake}, other: ref{LineEarly, Retake}, limit: 1.5, quick: 3},
	{letter: "e", what: "the store grows per checkpoint, shared directories, to the changed bytes compressed", own: ref{LineGrowth, Retake}, base: true, limit: 1.5, quick: 4},
	{letter: "e", what: "the same after maintenance (retake space --free)", own: ref{LineFreed, Retake}, base: true, limit: 1.3},
	{letter: "f", what: "an install with the tracker to one without", own: ref{TaxOn, Retake}, other: ref{TaxOff, Retake}, limit: 1.1, quick: 2.5},
	{letter: "g", what: "events told while somebody only reads", own: ref{ReadEvents, Retake}, limit: 0, unit: Count, quick: exact},
	{letter: "g", what: "checkpoints recorded after that", own: ref{ReadKept, Process}, limit: 0, unit: Count, quick: exact},
	{letter: "i", what: "ten files taken back in the daemon, shared directories, to shadow git", own: ref{BackShared, Retake}, other: ref{BackShared, Git}, limit: 1.0 / 5, quick: 3, quickMillis: 400},
	{letter: "i", what: "ten files taken back in the daemon, random places, to shadow git", own: ref{BackRandom, Retake}, other: ref{BackRandom, Git}, limit: 1.0 / 5, quick: 3, quickMillis: 400},
	{letter: "i", what: "the same with a safety checkpoint, shared directories, to shadow git", own: ref{LooseShared, Retake}, other: ref{LooseShared, Git}, limit: 1.0 / 5, quick: 3, quickMillis: 400},
	{letter: "i", what: "the same with a safety checkpoint, random places, to shadow git", own: ref{LooseRandom, Retake}, other: ref{LooseRandom, Git}, limit: 1.0 / 5, quick: 3, quickMillis: 400},
	{letter: "i", what: "paths touched besides the plan, in any round, in the daemon", own: ref{BackTouched, Retake}, limit: 0, unit: Count, quick: exact, most: true},
	{letter: "i", what: "paths touched besides the plan, in any round, by a process", own: ref{BackTouched, Process}, limit: 0, unit: Count, quick: exact, most: true},
	{letter: "j", what: "fork in the daemon, shared blocks, to cp -a", own: ref{Fork, Retake}, other: ref{Fork, Copy}, limit: 1.0 / 3, quick: 1.5, quickMillis: 400},
	{letter: "j", what: "retake fork, whole process, shared blocks, to cp -a", own: ref{Fork, Process}, other: ref{Fork, Copy}, limit: 1.0 / 3, quick: 1.5, quickMillis: 400},
	{letter: "j", what: "git status in a fork to the workspace that it was forked from", own: ref{StatusFork, Git}, other: ref{StatusHome, Git}, limit: 1.5, quick: 3, quickMillis: 200},
	{letter: "j", what: "every file read in a fork to the workspace that it was forked from", own: ref{ReadFork, Cat}, other: ref{ReadHome, Cat}, limit: 1.5, quick: 3},
	{letter: "k", what: "the hook at a prompt, nothing changed, whole process", own: ref{HookSame, Process}, limit: 25, unit: Millis, quick: 75},
	{letter: "k", what: "the hook at a prompt after ten files, shared directories, 95 of 100", own: ref{HookShared, Process}, limit: 60, unit: Millis, quick: 240, tail: true},
	{letter: "k", what: "the hook at a prompt after ten files, random places, 95 of 100", own: ref{HookRandom, Process}, limit: 60, unit: Millis, quick: 240, tail: true},
	{letter: "k", what: "the hook in a directory that was never protected", own: ref{HookForeign, Process}, limit: 12, unit: Millis, quick: 36},
	{letter: "l", what: "until ten changed files are told, shared directories", own: ref{StoryShared, Retake}, limit: 10, unit: Millis, quick: 60},
	{letter: "l", what: "until ten changed files are told, random places", own: ref{StoryRandom, Retake}, limit: 10, unit: Millis, quick: 60},
	{letter: "l", what: "until an install of 1,200 files is told", own: ref{StoryInstall, Retake}, limit: 300, unit: Millis, quick: 900},
	{letter: "l", what: "retake, the first screen, whole process", own: ref{StoryScreen, Process}, limit: 100, unit: Millis, quick: 300},
}

// exact is a limit of nothing at all, also in a quick run.
const exact = -1

// Verdict is a bar held against what was measured.
type Verdict struct {
	Letter   Letter
	What     string
	Bar      string
	Measured string
	Ratio    string
	There    bool
	Reached  bool
	excused  bool // the scenario says that something it needs was not there
}

func (v Verdict) word() string {
	switch {
	case !v.There:
		return "not measured"
	case v.Reached:
		return "yes"
	default:
		return "**no**"
	}
}

// Verdicts holds the record against every bar of the scenarios that ran.
func (r *Record) Verdicts() []Verdict {
	var out []Verdict
	for _, b := range bars {
		s := r.Scenario(b.letter)
		if s == nil {
			continue
		}
		limit, plus := b.limit, 0.0
		if s.Quick {
			limit, plus = b.quick, b.quickMillis
			if limit == exact {
				limit = 0
			}
		}
		if b.skip(s.Quick) {
			continue
		}
		v := r.judge(b, limit, plus)
		v.excused = slices.ContainsFunc(s.Missing, func(m Missing) bool { return slices.Contains(b.needs(), m.Name) })
		out = append(out, v)
	}
	return out
}

// skip: some bars are of quick runs only, and some of full ones only.
func (b bar) skip(quick bool) bool {
	if quick {
		return b.quick == 0
	}
	return b.limit == 0 && b.unit == ""
}

func (r *Record) judge(b bar, limit, plus float64) Verdict {
	v := Verdict{Letter: b.letter, What: b.what, Measured: "-", Ratio: "-"}
	w := r.Find(b.own.key)
	own, ok := w.Median(b.own.tool)
	if b.most && ok {
		own = slices.Max(w.Samples[b.own.tool])
	}
	if b.tail && ok {
		own, _ = Tail(w.Samples[b.own.tool])
	}
	if b.unit != "" {
		v.Bar = "≤ " + show(limit, b.unit)
		if v.There = ok; ok {
			v.Measured, v.Reached = show(own, b.unit), own <= limit
		}
		return v
	}
	v.Bar = "≤ " + times(limit)
	if plus > 0 {
		v.Bar += " + " + show(plus, Millis)
	}
	if b.base {
		ratio, ok := w.paired(b.own.tool)
		if v.There = ok; ok {
			base, _ := Median(w.Base)
			v.Measured, v.Ratio, v.Reached = show(own, w.Unit)+" to "+show(base, w.Unit), times(ratio), ratio <= limit
		}
		return v
	}
	other, there := r.Find(b.other.key).Median(b.other.tool)
	if v.There = ok && there && other > 0; !v.There {
		return v
	}
	v.Measured = show(own, w.Unit) + " to " + show(other, w.Unit)
	v.Ratio, v.Reached = times(own/other), own <= limit*other+plus
	return v
}

// paired is the median of the ratios of each sample to its own base.
func (w *Row) paired(tool string) (float64, bool) {
	if w == nil || len(w.Base) != len(w.Samples[tool]) {
		return 0, false
	}
	var ratios []float64
	for i, v := range w.Samples[tool] {
		if w.Base[i] <= 0 {
			return 0, false
		}
		ratios = append(ratios, v/w.Base[i])
	}
	return Median(ratios)
}

// times shows a ratio; below one as a fraction, as the bars are said.
func times(v float64) string {
	if v > 0 && v < 0.5 {
		return "1/" + significant(1/v)
	}
	return significant(v) + "×"
}

// Names of parts of retake that may be missing.
const (
	Daemon  = "the daemon"
	Tracker = "the tracker"
	Strace  = "strace"
)

// File systems that are made in an image for a scenario.
const (
	XFS  = "xfs"
	Ext4 = "ext4"
)

// needs are the names without which the bar cannot be measured.
func (b bar) needs() []string {
	out := []string{b.own.tool, b.other.tool}
	if b.letter != "e" && (b.own.tool == Retake || b.own.tool == Process) {
		out = append(out, Daemon)
	}
	if b.letter == "j" {
		out = append(out, Daemon, XFS)
	}
	if b.letter == "f" || b.letter == "g" {
		out = append(out, Tracker)
	}
	if b.own.key == Syncs {
		out = append(out, Strace)
	}
	return out
}

// Check prints every bar and reports whether all hold. One that was not measured
// does not hold, unless the scenario says what was missing.
func (r *Record) Check(w io.Writer) bool {
	fmt.Fprintln(w)
	held := true
	for _, v := range r.Verdicts() {
		word := "held"
		switch {
		case !v.There && v.excused:
			word = "not measured"
		case !v.There || !v.Reached:
			word, held = "BROKEN", false
		}
		fmt.Fprintf(w, "%-12s  %s  %s: %s, measured %s, ratio %s\n", word, v.Letter, v.What, v.Bar, v.Measured, v.Ratio)
	}
	return held
}
