//go:build linux

package g25

import (
	"maps"
	"slices"

	"github.com/retake-dev/retake/test/ordeal/playbed"
)

// item is something that undo can take back. An automatic checkpoint is one only when it is named.
type item struct {
	number    int64
	from, to  playbed.World
	counts    bool  // somebody can point at it without naming it
	ways      []way // undo and redo of it, or of a part of it
	contested bool  // another session worked at the same time
}

// way is an undo or a redo; paths are the part that it was about.
type way struct {
	undo  bool
	paths []string
}

// changed reports whether it changed something below the paths; none: at all.
func (i *item) changed(paths []string) bool {
	for p := range mergedKeys(i.from, i.to) {
		if (i.from[p] != i.to[p] || i.from.Has(p) != i.to.Has(p)) && amongNamed(p, paths) {
			return true
		}
	}
	return false
}

// undone reports whether it was taken back, with all of the paths; none: as a whole.
func (i *item) undone(paths []string) bool {
	for _, w := range slices.Backward(i.ways) {
		if len(w.paths) == 0 || len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return !amongNamed(p, w.paths) }) {
			return w.undo
		}
	}
	return false
}

// going is a turn that has not ended.
type going struct {
	item      *item // nil: it has no checkpoint yet, or none since somebody went back
	contested bool
}

// undone is an item that was taken back, with the files before and after.
type undone struct {
	item          *item
	paths         []string
	before, after playbed.World
	at            int64 // the newest checkpoint then
}

// oracle knows every checkpoint and every item, in plain maps. It shares nothing with the
// service but the rule.
type oracle struct {
	lie   string
	marks []playbed.World // the files of every checkpoint; number 1 is the first
	auto  map[int64]bool
	ways  map[int64]bool // checkpoints that undo and redo made
	items []*item
	owner map[int64]*item // of every checkpoint that belongs to one
	redo  []undone        // the last one last
	turns map[string]*going
	heard []string // sessions, the one that was heard last is last
}

func (o *oracle) latest() int64      { return int64(len(o.marks)) }
func (o *oracle) tip() playbed.World { return o.marks[len(o.marks)-1] }

// mark adds a checkpoint.
func (o *oracle) mark(files playbed.World) int64 {
	o.marks = append(o.marks, maps.Clone(files))
	return o.latest()
}

// automatic adds a checkpoint that nobody asked for.
func (o *oracle) automatic(files playbed.World) {
	from := o.tip()
	n := o.mark(files)
	o.auto[n] = true
	o.owner[n] = &item{number: n, from: from, to: o.tip(), counts: o.lie == editsCount}
	o.items = append(o.items, o.owner[n])
}

// recorded adds a change that somebody can point at.
func (o *oracle) recorded(from, files playbed.World) *item {
	i := &item{number: o.mark(files), from: from, to: o.tip(), counts: true}
	o.owner[i.number] = i
	o.items = append(o.items, i)
	return i
}

// inTurn adds a checkpoint of a turn: all of them are one item.
func (o *oracle) inTurn(who string, files playbed.World) {
	t := o.turns[who]
	if t.item == nil {
		t.item = o.recorded(o.tip(), files)
	} else {
		t.item.number = o.mark(files)
		t.item.to, o.owner[t.item.number] = o.tip(), t.item
	}
	t.item.contested = t.contested
}

// redoable is what redo brings again: the last undo, unless something was recorded since. A
// turn that changed nothing in the end recorded nothing. Unsure is a matter of attribution:
// sessions that worked beside each other.
func (o *oracle) redoable() (last *undone, unsure bool) {
	if len(o.redo) == 0 {
		return nil, false
	}
	last = &o.redo[len(o.redo)-1]
	for _, i := range o.items {
		switch {
		case !i.counts || i.number <= last.at:
		case i.changed(nil):
			return nil, i.contested
		case i.contested:
			unsure = true
		}
	}
	return last, unsure
}

// begins and ends follow a turn.
func (o *oracle) begins(who string) {
	o.turns[who] = &going{contested: len(o.turns) > 0}
	for _, t := range o.turns {
		if t.contested = t.contested || len(o.turns) > 1; t.item != nil {
			t.item.contested = t.contested
		}
	}
	o.hears(who)
}

func (o *oracle) hears(who string) {
	o.heard = append(slices.DeleteFunc(o.heard, func(s string) bool { return s == who }), who)
}

// worker is the session that a checkpoint by hand belongs to: of those in a turn, the one that
// was heard last.
func (o *oracle) worker() string {
	for _, who := range slices.Backward(o.heard) {
		if o.turns[who] != nil {
			return who
		}
	}
	return ""
}

// interrupted: what a turn did before somebody went back is one item, what it does then another.
func (o *oracle) interrupted() {
	for _, t := range o.turns {
		t.item = nil
	}
}

// pointed is what undo takes back: the newest recorded change that was not taken back, below
// a number and of some paths. nil is nothing.
func (o *oracle) pointed(below int64, paths []string) *item {
	var out *item
	for _, i := range o.items {
		if i.counts && !i.undone(paths) && i.changed(paths) && (below == 0 || i.number < below) && (out == nil || i.number > out.number) {
			out = i
		}
	}
	return out
}

// apart reports whether it takes attribution to say what is newest: another session worked
// beside a turn that is not older than the item.
func (o *oracle) apart(i *item) bool {
	return slices.ContainsFunc(o.items, func(c *item) bool {
		return c.contested && !c.undone(nil) && (i == nil || c.number >= i.number)
	})
}

// kept are the automatic checkpoints after a number whose edits stay.
func (o *oracle) kept(after int64, paths []string) []int64 {
	var out []int64
	for _, i := range o.items {
		if o.auto[i.number] && i.number > after && !i.undone(paths) && i.changed(paths) {
			out = append(out, i.number)
		}
	}
	slices.Sort(out)
	return out
}

// before is what the rule before would take back; loose are edits in no checkpoint.
func (o *oracle) before(now playbed.World) (target int64, loose bool) {
	counts := func(a, b playbed.World) bool {
		for p := range mergedKeys(a, b) {
			if k := kindOf(p); a[p] != b[p] && k == "text" {
				return true
			}
		}
		return false
	}
	if counts(o.tip(), now) {
		return 0, true
	}
	for _, i := range o.items {
		if !i.undone(nil) && counts(i.from, i.to) {
			target = max(target, i.number)
		}
	}
	return target, false
}
