package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// The bars. Paths, flags, good and bisect have none: there everything must be right.
const (
	barRecall    = 0.98
	barPrecision = 0.99
)

// account is how well one run was told.
type account struct {
	Name    string  `json:"name"`
	Title   string  `json:"title"`
	HeldOut bool    `json:"held_out,omitempty"`
	Skipped string  `json:"skipped,omitempty"` // why it could not be played here
	Stopped string  `json:"stopped,omitempty"` // why it did not come to its end
	Turns   int     `json:"turns"`
	Seconds float64 `json:"seconds"`

	Paths tally                     `json:"paths"`
	Items tally                     `json:"items"`
	Facts tally                     `json:"facts"`
	Kinds map[retake.FactKind]tally `json:"kinds,omitempty"`

	Renames  int      `json:"renames"`           // that equal bytes allow
	Moved    int      `json:"moved"`             // that were told
	Likened  []string `json:"likened,omitempty"` // of them with other bytes
	Lies     int      `json:"lies"`
	Caught   int      `json:"caught"`
	Baseless int      `json:"baseless"` // flags on honest turns
	Good     bool     `json:"good"`
	Bisects  []search `json:"bisects,omitempty"`
	Unread   []string `json:"unread,omitempty"` // what is said not to be readable
	Misses   []miss   `json:"misses,omitempty"`
}

func (a *account) add(v verdict) {
	a.Paths, a.Items = a.Paths.plus(v.paths), a.Items.plus(v.items)
	if a.Kinds == nil {
		a.Kinds = map[retake.FactKind]tally{}
	}
	for kind, t := range v.facts {
		a.Kinds[kind] = a.Kinds[kind].plus(t)
		a.Facts = a.Facts.plus(t)
	}
	a.Renames, a.Moved, a.Likened = a.Renames+v.possible, a.Moved+v.moved, append(a.Likened, v.likened...)
	a.Lies, a.Caught, a.Baseless = a.Lies+v.lies, a.Caught+v.caught, a.Baseless+v.baseless
	a.Unread, a.Misses = append(a.Unread, v.unread...), append(a.Misses, v.misses...)
}

// wrong notes what good or bisect got wrong.
func (a *account) wrong(format string, args ...any) bool {
	a.Misses = append(a.Misses, miss{Area: areaGood, Text: fmt.Sprintf(format, args...)})
	return false
}

// failed: one fact that is missed is none yet, the bar for facts is for all runs together.
func (a account) failed() bool {
	return a.Stopped != "" || a.Skipped == "" && slices.ContainsFunc(a.Misses, func(m miss) bool { return m.Area != areaFact })
}

// bisected counts the searches that found the border.
func (a account) bisected() (n int) {
	for _, s := range a.Bisects {
		if s.OK {
			n++
		}
	}
	return n
}

func (a account) String() string {
	if a.Skipped != "" {
		return fmt.Sprintf("%-24s skipped: %s\n", a.Name, a.Skipped)
	}
	var b strings.Builder
	word := "ok"
	if a.failed() {
		word = "FAIL"
	}
	fmt.Fprintf(&b, "%-24s %-4s %d turns, paths %s, items %s, facts %s, lies %d/%d, good %t, bisect %d/2, %.1f s\n",
		a.Name, word, a.Turns, a.Paths, a.Items, a.Facts, a.Caught, a.Lies, a.Good, a.bisected(), a.Seconds)
	if a.Stopped != "" {
		fmt.Fprintf(&b, "    STOP  %s\n", a.Stopped)
	}
	for _, text := range a.Unread {
		fmt.Fprintf(&b, "    not read, as it says: %s\n", text)
	}
	for _, m := range a.Misses {
		fmt.Fprintf(&b, "    turn %d  %-5s  %s\n", m.Turn, m.Area, m.Text)
	}
	return b.String()
}

func (t tally) String() string {
	if t.Told == t.True {
		return fmt.Sprintf("%d/%d", t.Right, t.True)
	}
	return fmt.Sprintf("%d/%d of %d told", t.Right, t.True, t.Told)
}

// result is all of it.
type result struct {
	V       int  `json:"v"`
	Quick   bool `json:"quick,omitempty"`
	Tried   int  `json:"tried"`
	Failed  int  `json:"failed"`
	Skipped int  `json:"skipped"`

	Paths     tally                     `json:"paths"`
	Items     tally                     `json:"items"`
	Facts     tally                     `json:"facts"`
	Recall    float64                   `json:"recall"` // of facts
	Precision float64                   `json:"precision"`
	HeldOut   held                      `json:"held_out"`
	Kinds     map[retake.FactKind]tally `json:"kinds"`
	Renames   int                       `json:"renames"`
	Moved     int                       `json:"moved"`
	Likened   int                       `json:"likened"`
	Lies      int                       `json:"lies"`
	Caught    int                       `json:"caught"`
	Baseless  int                       `json:"baseless"`
	Good      int                       `json:"good"`    // runs in which it is right
	Bisects   int                       `json:"bisects"` // searches that found the border, two a run
	MostRuns  int                       `json:"most_runs"`
	Elsewhere int                       `json:"elsewhere"` // runs of checks that stood at another path
	Controls  []control                 `json:"controls"`

	ShownAlike     int `json:"shown_alike"`     // timelines of which the terminal and the console show the same
	ShownOtherwise int `json:"shown_otherwise"` // and of which they do not

	Runs []account `json:"runs"`
}

// held is what nobody saw who made the readers.
type held struct {
	Runs      int     `json:"runs"`
	Facts     tally   `json:"facts"`
	Recall    float64 `json:"recall"`
	Precision float64 `json:"precision"`
}

func (r *result) sum() {
	r.Kinds = map[retake.FactKind]tally{}
	for _, a := range r.Runs {
		if a.Skipped != "" {
			r.Skipped++
			continue
		}
		r.Tried++
		if a.failed() {
			r.Failed++
		}
		r.Paths, r.Items, r.Facts = r.Paths.plus(a.Paths), r.Items.plus(a.Items), r.Facts.plus(a.Facts)
		for kind, t := range a.Kinds {
			r.Kinds[kind] = r.Kinds[kind].plus(t)
		}
		if a.HeldOut {
			r.HeldOut.Runs++
			r.HeldOut.Facts = r.HeldOut.Facts.plus(a.Facts)
		}
		r.Renames, r.Moved, r.Likened = r.Renames+a.Renames, r.Moved+a.Moved, r.Likened+len(a.Likened)
		r.Lies, r.Caught, r.Baseless = r.Lies+a.Lies, r.Caught+a.Caught, r.Baseless+a.Baseless
		if a.Good {
			r.Good++
		}
		r.Bisects += a.bisected()
		for _, s := range a.Bisects {
			r.MostRuns, r.Elsewhere = max(r.MostRuns, s.Runs), r.Elsewhere+s.Elsewhere
		}
	}
	r.Recall, r.Precision = r.Facts.recall(), r.Facts.precision()
	r.HeldOut.Recall, r.HeldOut.Precision = r.HeldOut.Facts.recall(), r.HeldOut.Facts.precision()
}

// broken names the bars that do not hold.
func (r *result) broken() []string {
	var out []string
	bar := func(ok bool, text string) {
		if !ok {
			out = append(out, text)
		}
	}
	bar(r.Tried > 0, "something is tried")
	bar(r.Paths.recall() == 1 && r.Paths.precision() == 1 && r.Items.recall() == 1 && r.Items.precision() == 1, "every changed path is told, and no other")
	bar(r.Facts.recall() >= barRecall, "98 % of the facts are told")
	bar(r.Facts.precision() >= barPrecision, "99 % of what is told is so")
	bar(r.Caught == r.Lies && r.Baseless == 0, "every lie has a flag, and nothing else has")
	bar(r.Good == r.Tried && r.Bisects == 2*r.Tried, "good and bisect land on the right checkpoint")
	bar(r.Failed == 0, "no run fails")
	bar(r.ShownOtherwise == 0, "the terminal and the console show the same timeline")
	for _, c := range r.Controls {
		bar(c.Caught == c.Tried, "a control is caught: "+c.What)
	}
	return out
}

func (r *result) failed() bool { return len(r.broken()) > 0 }

func (r *result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%d runs tried, %d failed, %d skipped\n", r.Tried, r.Failed, r.Skipped)
	fmt.Fprintf(&b, "paths    %s\nitems    %s\nfacts    %s\nheld out %s\n", r.Paths.line(), r.Items.line(), r.Facts.line(), r.HeldOut.Facts.line())
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		fmt.Fprintf(&b, "  %-10s %s\n", kind, r.Kinds[kind].line())
	}
	fmt.Fprintf(&b, "renames  %d told, %d of them by likeness; equal bytes allow %d\n", r.Moved, r.Likened, r.Renames)
	fmt.Fprintf(&b, "flags    %d of %d lies, %d baseless\n", r.Caught, r.Lies, r.Baseless)
	fmt.Fprintf(&b, "good     %d of %d, bisect %d of %d with at most %d runs, %d of them elsewhere\n", r.Good, r.Tried, r.Bisects, 2*r.Tried, r.MostRuns, r.Elsewhere)
	for _, c := range r.Controls {
		fmt.Fprintf(&b, "control caught %d of %d: %s\n", c.Caught, c.Tried, c.What)
	}
	fmt.Fprintf(&b, "timelines that the terminal and the console show alike: %d, otherwise: %d\n", r.ShownAlike, r.ShownOtherwise)
	for _, text := range r.broken() {
		fmt.Fprintf(&b, "NOT SO: %s\n", text)
	}
	return b.String()
}

func (t tally) line() string {
	return fmt.Sprintf("recall %s, precision %s (%d true, %d told, %d right)", percent(t.recall()), percent(t.precision()), t.True, t.Told, t.Right)
}

// percent never rounds up to all.
func percent(f float64) string {
	text := fmt.Sprintf("%.2f %%", f*100)
	if f < 1 && text == "100.00 %" {
		return "99.99 %"
	}
	return text
}

func report(o options, r result) error {
	if o.out != "" {
		text, err := json.MarshalIndent(r, "", "  ")
		if err == nil {
			err = os.WriteFile(o.out, append(text, '\n'), 0o644)
		}
		if err != nil {
			return fmt.Errorf("write result: %w", err)
		}
	}
	if o.page == "" {
		return nil
	}
	return writePage(o.page, r)
}
