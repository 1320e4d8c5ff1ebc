//go:build linux

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// thing is what is at a path. A directory has no text.
type thing struct {
	dir  bool
	mode uint32
	text string
}

// world is all there is below a root.
type world map[string]thing

func (w world) has(p string) bool { _, ok := w[p]; return ok }

func (w world) paths() []string {
	out := slices.Collect(maps.Keys(w))
	slices.Sort(out)
	return out
}

// full reports whether something lies below a directory.
func (w world) full(dir string) bool {
	for p := range w {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}

// differs names the first paths in which two worlds are not the same.
func (w world) differs(got world) []string {
	var out []string
	for _, p := range w.paths() {
		if g, ok := got[p]; !ok {
			out = append(out, p+" is missing")
		} else if g != w[p] {
			out = append(out, fmt.Sprintf("%s is %o %q, want %o %q", p, g.mode, g.text, w[p].mode, w[p].text))
		}
	}
	for _, p := range got.paths() {
		if !w.has(p) {
			out = append(out, fmt.Sprintf("%s is there: %q", p, got[p].text))
		}
	}
	return out
}

// era is a checkpoint of the model. Checkpoints are known by their numbers.
type era struct {
	files  world
	course retake.Course // "": nobody went anywhere
	target int64
	before int64
	auto   bool // nobody asked for it: what was there before a restore
}

// chronicle is a timeline. Number 1 is the first.
type chronicle struct {
	eras []era
	lie  string // what the model forgets, for the control
}

func (c *chronicle) tip() *era            { return &c.eras[len(c.eras)-1] }
func (c *chronicle) latest() int64        { return int64(len(c.eras)) }
func (c *chronicle) at(number int64) *era { return &c.eras[number-1] }

// item: a checkpoint that somebody asked for and that changed something.
func (c *chronicle) item(n int64) bool {
	return n > 1 && !c.at(n).auto && len(c.at(n).files.differs(c.at(n-1).files)) > 0
}

// way: a checkpoint that undo or redo made.
func (c *chronicle) way(n int64) bool {
	return c.at(n).course == retake.CourseUndo || c.at(n).course == retake.CourseRedo
}

// undone answers what the newest word about each item is, back to a number.
func (c *chronicle) undone(down int64) map[int64]bool {
	out := map[int64]bool{}
	for n := c.latest(); n >= down; n-- {
		if _, known := out[c.at(n).target]; c.way(n) && !known {
			out[c.at(n).target] = c.at(n).course == retake.CourseUndo
		}
	}
	return out
}

// undoes are the items that were not taken back, the newest first.
func (c *chronicle) undoes() (out []int64) {
	undone := c.undone(1)
	if c.lie == "undo forgets" {
		undone = nil
	}
	for n := c.latest(); n > 1; n-- {
		if !c.way(n) && c.item(n) && !undone[n] {
			out = append(out, n)
		}
	}
	return out
}

// redoes are the undos since the newest item that were not brought again, the last one first.
func (c *chronicle) redoes() []int64 {
	first := int64(1)
	for n := c.latest(); n > 1; n-- {
		if !c.way(n) && c.item(n) {
			first = n
			break
		}
	}
	var stack []int64
	for n := first; n <= c.latest(); n++ {
		switch {
		case !c.way(n):
		case c.at(n).course == retake.CourseUndo:
			stack = append(stack, n)
		case len(stack) > 0:
			stack = stack[:len(stack)-1]
		}
	}
	slices.Reverse(stack)
	return stack
}

// from is the state that an item began with.
func (c *chronicle) from(n int64) world {
	if b := c.at(n).before; b != 0 {
		return c.at(b).files
	}
	return c.at(n - 1).files
}

// restored is now with the chosen paths as they were; none: all of them.
func restored(now, then world, chosen []string) world {
	if len(chosen) == 0 {
		return maps.Clone(then)
	}
	hit := func(p string) bool {
		return slices.ContainsFunc(chosen, func(q string) bool { return p == q || strings.HasPrefix(p, q+"/") })
	}
	out := maps.Clone(now)
	for p := range now {
		if hit(p) {
			delete(out, p)
		}
	}
	for p, t := range then {
		if !hit(p) {
			continue
		}
		out[p] = t
		for i, c := range p { // with what they lie in
			if c == '/' && !out.has(p[:i]) {
				out[p[:i]] = then[p[:i]]
			}
		}
	}
	return out
}

// brought is now with what changed from base to want, where nobody changed it since.
// Texts have one line: what changed on both sides is a conflict.
func brought(now, base, want world, side, lie string) world {
	out := maps.Clone(now)
	all := maps.Clone(now)
	maps.Copy(all, base)
	maps.Copy(all, want)
	var gone, leave []string
	for _, p := range all.paths() {
		if slices.ContainsFunc(gone, func(d string) bool { return strings.HasPrefix(p, d+"/") }) {
			continue
		}
		switch {
		case !all[p].dir:
			bring(out, now, base, want, p, side, lie)
		case base.has(p) && want.has(p) && !now.has(p): // it went meanwhile
			gone = append(gone, p)
		case base.has(p) && !want.has(p) && now.has(p):
			leave = append(leave, p)
		case !base.has(p) && want.has(p) && !now.has(p):
			out[p] = want[p]
		}
	}
	for _, p := range slices.Backward(leave) {
		if !out.full(p) {
			delete(out, p)
		}
	}
	return out
}

// bring decides about one file.
func bring(out, now, base, want world, p, side, lie string) {
	n, b, w := now[p], base[p], want[p]
	switch {
	case n == b && want.has(p):
		out[p] = w
	case n == b:
		delete(out, p)
	case b == w || n == w || !want.has(p) || !now.has(p):
	case !base.has(p):
		beside(out, now, p+side, w)
	default:
		then := n
		if w.mode != b.mode {
			then.mode = w.mode
		}
		switch {
		case n.text == b.text, n.text == w.text:
			then.text = w.text
		case w.text == b.text:
		case lie == "conflicts forgotten":
			then.text = w.text
		default:
			beside(out, now, p+side, w)
			return
		}
		out[p] = then
	}
}

// beside puts a side copy to a free name.
func beside(out, now world, name string, t thing) {
	free := name
	for n := 2; now.has(free) || out.has(free); n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	out[free] = t
}
