//go:build linux

package playbed

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// Thing is what is at a path. A directory has no text.
type Thing struct {
	Dir  bool
	Mode uint32
	Text string
}

// World is all there is below a root.
type World map[string]Thing

func (w World) Has(p string) bool { _, ok := w[p]; return ok }

func (w World) Paths() []string {
	out := slices.Collect(maps.Keys(w))
	slices.Sort(out)
	return out
}

// Full reports whether something lies below a directory.
func (w World) Full(dir string) bool {
	for p := range w {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}

// Differs names the first paths in which two worlds are not the same.
func (w World) Differs(got World) []string {
	var out []string
	for _, p := range w.Paths() {
		if g, ok := got[p]; !ok {
			out = append(out, p+" is missing")
		} else if g != w[p] {
			out = append(out, fmt.Sprintf("%s is %o %q, want %o %q", p, g.Mode, g.Text, w[p].Mode, w[p].Text))
		}
	}
	for _, p := range got.Paths() {
		if !w.Has(p) {
			out = append(out, fmt.Sprintf("%s is there: %q", p, got[p].Text))
		}
	}
	return out
}

// Era is a checkpoint of the model. Checkpoints are known by their numbers.
type Era struct {
	Files  World
	Course retake.Course // "": nobody went anywhere
	Target int64
	Before int64
	Auto   bool // nobody asked for it: what was there before a restore
}

// Chronicle is a timeline. Number 1 is the first.
type Chronicle struct {
	Eras []Era
	Lie  string // what the model forgets, for the control
}

func (c *Chronicle) Tip() *Era            { return &c.Eras[len(c.Eras)-1] }
func (c *Chronicle) Latest() int64        { return int64(len(c.Eras)) }
func (c *Chronicle) At(number int64) *Era { return &c.Eras[number-1] }

// item: a checkpoint that somebody asked for and that changed something.
func (c *Chronicle) item(n int64) bool {
	return n > 1 && !c.At(n).Auto && len(c.At(n).Files.Differs(c.At(n-1).Files)) > 0
}

// way: a checkpoint that undo or redo made.
func (c *Chronicle) way(n int64) bool {
	return c.At(n).Course == retake.CourseUndo || c.At(n).Course == retake.CourseRedo
}

// Undone answers what the newest word about each item is, back to a number.
func (c *Chronicle) Undone(down int64) map[int64]bool {
	out := map[int64]bool{}
	for n := c.Latest(); n >= down; n-- {
		if _, known := out[c.At(n).Target]; c.way(n) && !known {
			out[c.At(n).Target] = c.At(n).Course == retake.CourseUndo
		}
	}
	return out
}

// Undoes are the items that were not taken back, the newest first.
func (c *Chronicle) Undoes() (out []int64) {
	undone := c.Undone(1)
	if c.Lie == "undo forgets" {
		undone = nil
	}
	for n := c.Latest(); n > 1; n-- {
		if !c.way(n) && c.item(n) && !undone[n] {
			out = append(out, n)
		}
	}
	return out
}

// Redoes are the undos since the newest item that were not brought again, the last one first.
func (c *Chronicle) Redoes() []int64 {
	first := int64(1)
	for n := c.Latest(); n > 1; n-- {
		if !c.way(n) && c.item(n) {
			first = n
			break
		}
	}
	var stack []int64
	for n := first; n <= c.Latest(); n++ {
		switch {
		case !c.way(n):
		case c.At(n).Course == retake.CourseUndo:
			stack = append(stack, n)
		case len(stack) > 0:
			stack = stack[:len(stack)-1]
		}
	}
	slices.Reverse(stack)
	return stack
}

// From is the state that an item began with.
func (c *Chronicle) From(n int64) World {
	if b := c.At(n).Before; b != 0 {
		return c.At(b).Files
	}
	return c.At(n - 1).Files
}

// Restored is now with the chosen paths as they were; none: all of them.
func Restored(now, then World, chosen []string) World {
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
			if c == '/' && !out.Has(p[:i]) {
				out[p[:i]] = then[p[:i]]
			}
		}
	}
	return out
}

// Brought is now with what changed from base to want, where nobody changed it since.
// Texts have one line: what changed on both sides is a conflict.
func Brought(now, base, want World, side, lie string) World {
	out := maps.Clone(now)
	all := maps.Clone(now)
	maps.Copy(all, base)
	maps.Copy(all, want)
	var gone, leave []string
	for _, p := range all.Paths() {
		if slices.ContainsFunc(gone, func(d string) bool { return strings.HasPrefix(p, d+"/") }) {
			continue
		}
		switch {
		case !all[p].Dir:
			bring(out, now, base, want, p, side, lie)
		case base.Has(p) && want.Has(p) && !now.Has(p): // it went meanwhile
			gone = append(gone, p)
		case base.Has(p) && !want.Has(p) && now.Has(p):
			leave = append(leave, p)
		case !base.Has(p) && want.Has(p) && !now.Has(p):
			out[p] = want[p]
		}
	}
	for _, p := range slices.Backward(leave) {
		if !out.Full(p) {
			delete(out, p)
		}
	}
	return out
}

// bring decides about one file.
func bring(out, now, base, want World, p, side, lie string) {
	n, b, w := now[p], base[p], want[p]
	switch {
	case n == b && want.Has(p):
		out[p] = w
	case n == b:
		delete(out, p)
	case b == w || n == w || !want.Has(p) || !now.Has(p):
	case !base.Has(p):
		Beside(out, now, p+side, w)
	default:
		then := n
		if w.Mode != b.Mode {
			then.Mode = w.Mode
		}
		switch {
		case n.Text == b.Text, n.Text == w.Text:
			then.Text = w.Text
		case w.Text == b.Text:
		case lie == "conflicts forgotten":
			then.Text = w.Text
		default:
			Beside(out, now, p+side, w)
			return
		}
		out[p] = then
	}
}

// Beside puts a side copy to a free name.
func Beside(out, now World, name string, t Thing) {
	free := name
	for n := 2; now.Has(free) || out.Has(free); n++ {
		free = fmt.Sprintf("%s-%d", name, n)
	}
	out[free] = t
}
