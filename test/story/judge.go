package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/retake-dev/retake"
)

// The areas in which something can be missed.
const (
	areaPath  = "path"  // changed paths, as the comparison tells them
	areaItem  = "item"  // changed paths, as the story tells them
	areaCount = "count" // sums of the story
	areaFact  = "fact"
	areaFlag  = "flag"
	areaRow   = "row" // the row of the timeline
	areaGood  = "good"
)

// miss is one thing that was not told as it is.
type miss struct {
	Turn int    `json:"turn,omitempty"`
	Area string `json:"area"`
	Text string `json:"text"`
}

// tally counts what is true, what was told, and what is both.
type tally struct {
	True  int `json:"true"`
	Told  int `json:"told"`
	Right int `json:"right"`
}

func (t tally) plus(o tally) tally { return tally{t.True + o.True, t.Told + o.Told, t.Right + o.Right} }

// recall and precision are shares of 1. Of nothing, all was found.
func (t tally) recall() float64    { return share(t.Right, t.True) }
func (t tally) precision() float64 { return share(t.Right, t.Told) }

func share(n, of int) float64 {
	if of == 0 {
		return 1
	}
	return float64(n) / float64(of)
}

// verdict is how well one turn was told.
type verdict struct {
	paths, items    tally
	facts           map[retake.FactKind]tally
	possible, moved int // renames that equal bytes allow; renames that were told
	likened         []string
	lies, caught    int
	baseless        int // flags on honest turns
	unread          []string
	misses          []miss
}

// judge holds what was told of a turn against the truth.
func judge(c chapter) verdict {
	j := judging{chapter: c, v: verdict{facts: map[retake.FactKind]tally{}}}
	truth := truePaths(c.turn.Paths)
	j.v.paths = j.compare(areaPath, truth, changedPaths(c.told.changes))
	j.v.items = j.compare(areaItem, truth, j.itemPaths())
	j.renames()
	j.counts()
	j.facts()
	j.flags()
	for _, u := range c.told.own.Unread {
		j.v.unread = append(j.v.unread, fmt.Sprintf("turn %d: %s by %s: %s", c.turn.Number, u.Path, u.Reader, u.Why))
	}
	return j.v
}

type judging struct {
	chapter
	v verdict
}

func (j *judging) miss(area, format string, args ...any) {
	j.v.misses = append(j.v.misses, miss{j.turn.Number, area, fmt.Sprintf(format, args...)})
}

// compare finds what is on one side only.
func (j *judging) compare(area string, truth, said map[string]retake.Difference) tally {
	t := tally{True: len(truth), Told: len(said)}
	for _, path := range slices.Sorted(maps.Keys(truth)) {
		switch what, ok := said[path]; {
		case ok && what == truth[path]:
			t.Right++
		case ok:
			j.miss(area, "%s was %s, told as %s", path, truth[path], what)
		default:
			j.miss(area, "%s was %s, not told", path, truth[path])
		}
	}
	for _, path := range slices.Sorted(maps.Keys(said)) {
		if _, ok := truth[path]; !ok {
			j.miss(area, "%s did not change, told as %s", path, said[path])
		}
	}
	return t
}

// flags: every lie has one, and nothing else has.
func (j *judging) flags() {
	flagged := slices.ContainsFunc(j.told.flags, func(f retake.Flag) bool { return f.Kind == "mismatch" })
	if j.turn.Lie != "" {
		j.v.lies++
	}
	switch {
	case j.turn.Lie != "" && flagged:
		j.v.caught++
	case j.turn.Lie != "":
		j.miss(areaFlag, "a lie without a flag: %s", j.turn.Lie)
	case flagged:
		j.v.baseless++
		j.miss(areaFlag, "a flag without a lie: %s", j.told.flags[0].Why)
	}
}
