package main

import (
	"slices"

	"github.com/retake-dev/retake"
)

// control is a mistake that was planted into answers, to see that it is noticed.
type control struct {
	What   string `json:"what"`
	Tried  int    `json:"tried"`
	Caught int    `json:"caught"`
}

// controls plant mistakes into what was told and judge it again.
func controls(books []book) []control {
	out := []control{
		withoutReader(books, retake.FactPackage),
		{What: "a changed path is left out of the comparison"},
		{What: "a changed path is left out of the story"},
		{What: "a fact is told that nobody made"},
		{What: "an honest turn is marked as a lie"},
		{What: "an honest turn has a flag"},
	}
	for _, b := range books {
		out[1].plant(b, areaPath, func(c *chapter) bool { return c.told.dropChange() })
		out[2].plant(b, areaItem, func(c *chapter) bool { return c.told.dropItem() })
		out[3].plant(b, areaFact, func(c *chapter) bool {
			c.told.own.Facts = append(c.told.own.Facts, retake.Fact{Kind: retake.FactSetting, What: retake.Added, Name: "planted", Path: "planted.json"})
			return true
		})
		out[4].plant(b, areaFlag, func(c *chapter) bool {
			honest := c.turn.Lie == "" && len(c.told.flags) == 0
			c.turn.Lie = "planted"
			return honest
		})
		out[5].plant(b, areaFlag, func(c *chapter) bool {
			honest := c.turn.Lie == "" && len(c.told.flags) == 0
			c.told.flags = []retake.Flag{{Kind: "mismatch", Why: "planted"}}
			return honest
		})
	}
	return out
}

// withoutReader leaves out one kind of facts, everywhere: the bar for facts must not hold.
func withoutReader(books []book, kind retake.FactKind) control {
	c := control{What: "the reader of " + string(kind) + " facts is switched off"}
	var all tally
	for _, b := range books {
		for _, ch := range b.chapters {
			ch.told = ch.told.clone()
			ch.told.own.Facts = slices.DeleteFunc(ch.told.own.Facts, func(f retake.Fact) bool { return f.Kind == kind })
			v := judge(ch)
			if v.facts[kind].True > 0 {
				c.Tried = 1
			}
			for _, t := range v.facts {
				all = all.plus(t)
			}
		}
	}
	if c.Tried == 1 && all.recall() < barRecall {
		c.Caught = 1
	}
	return c
}

// plant makes a mistake in the first turn of a run in which it can be made. It is caught
// when one more thing is missed there than before.
func (c *control) plant(b book, area string, mistake func(*chapter) bool) {
	for _, ch := range b.chapters {
		before := missed(judge(ch), area)
		ch.told = ch.told.clone()
		if !mistake(&ch) {
			continue
		}
		c.Tried++
		if missed(judge(ch), area) > before {
			c.Caught++
		}
		return
	}
}

func missed(v verdict, area string) (n int) {
	for _, m := range v.misses {
		if m.Area == area {
			n++
		}
	}
	return n
}

// dropChange forgets one path that counts.
func (t *told) dropChange() bool {
	i := slices.IndexFunc(t.changes, func(c retake.Change) bool { return len(changedPaths([]retake.Change{c})) > 0 })
	if i < 0 {
		return false
	}
	t.changes = slices.Delete(t.changes, i, i+1)
	return true
}

// dropItem forgets one item of the tree that is a file.
func (t *told) dropItem() bool {
	for i := range t.full.Groups {
		g := &t.full.Groups[i]
		at := slices.IndexFunc(g.Items, func(it retake.Item) bool { return it.Path[len(it.Path)-1] != '/' && it.What != retake.Moded })
		if g.Theme != retake.ThemeMachine && at >= 0 {
			g.Items = slices.Delete(g.Items, at, at+1)
			return true
		}
	}
	return false
}
