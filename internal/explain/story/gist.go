package story

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// maxPoints is the most points of a gist; the last of them may count the rest.
const maxPoints = 6

// BuildGist shortens a story so that it fits a row. A story without changes has no points.
func BuildGist(st retake.Story) retake.Gist {
	g := retake.Gist{V: Version, Counts: st.Counts, Points: []retake.Point{}, Unread: len(st.Unread)}
	if len(st.Flags) > 0 {
		g.Flags = append(g.Flags, st.Flags...)
	}
	d := newGistBuilder(st)
	if len(d.items) == 0 && len(d.facts) == 0 {
		return g
	}
	d.addDeleted()
	d.addPackages()
	d.addSettings()
	d.addDatabases()
	d.addSource()
	d.addGit()
	d.addBuildOutput()
	d.addMachine()
	d.addQuiet(retake.ThemeGit, "in .git/")
	d.addQuiet(retake.ThemeMoving, "that always move")
	g.Points, g.Lead, g.Moving = d.choosePoints(), d.leadText(), d.hasOnlyMoving()
	return g
}

// gistItem is an item of the story, and whether a point covers it.
type gistItem struct {
	theme   retake.Theme
	item    retake.Item
	class   pathclass.Class
	covered bool
}

// gistPoint is a candidate for the gist, with the number of files it covers.
type gistPoint struct {
	retake.Point
	files int64
}

// gistSection holds the points of one theme, the most important first.
type gistSection struct {
	theme  retake.Theme
	points []gistPoint
}

// gistBuilder makes points of items and facts.
type gistBuilder struct {
	items      []*gistItem
	itemByPath map[string]*gistItem
	facts      []retake.Fact
	sections   []gistSection
}

// newGistBuilder collects the items and facts of a story. Ports of unrelated programs are
// left out.
func newGistBuilder(st retake.Story) *gistBuilder {
	d := &gistBuilder{itemByPath: map[string]*gistItem{}}
	for _, g := range st.Groups {
		if g.Theme == retake.ThemeMachine {
			continue
		}
		for _, it := range g.Items {
			t := &gistItem{theme: g.Theme, item: it, class: pathclass.Of(it.Path)}
			d.items = append(d.items, t)
			d.itemByPath[it.Path] = t
		}
	}
	for _, f := range st.Facts {
		if f.Kind != retake.FactPort || f.Direct { // the ports of others are on the card
			d.facts = append(d.facts, f)
		}
	}
	return d
}

func (d *gistBuilder) startSection(th retake.Theme) {
	d.sections = append(d.sections, gistSection{theme: th})
}

// addPoint adds a point to the current section, and marks its items as covered.
func (d *gistBuilder) addPoint(text string, tales ...*gistItem) {
	s := &d.sections[len(d.sections)-1]
	p := gistPoint{Point: retake.Point{Theme: s.theme, Text: text}}
	for _, t := range tales {
		if t == nil || t.covered {
			continue
		}
		t.covered = true
		p.files += t.item.Files
		if (t.theme == retake.ThemeSource || t.theme == retake.ThemeSettings) && t.class != pathclass.Lock {
			p.Plus += t.item.Plus
			p.Minus += t.item.Minus
		}
	}
	s.points = append(s.points, p)
}

// addFactPoint is addPoint without line counts: a fact says more than they do.
func (d *gistBuilder) addFactPoint(text string, tales ...*gistItem) {
	d.addPoint(text, tales...)
	s := d.sections[len(d.sections)-1]
	p := &s.points[len(s.points)-1]
	p.Plus, p.Minus = 0, 0
}

// themeItems returns the items of a theme. Of deletions it returns either build output or
// everything else.
func (d *gistBuilder) themeItems(th retake.Theme, built bool) []*gistItem {
	var list []*gistItem
	for _, t := range d.items {
		if t.theme == th && (th != retake.ThemeDeleted || built == (t.class == pathclass.Build)) {
			list = append(list, t)
		}
	}
	return list
}

// uncoveredItems returns the items of a theme that no point covers yet.
func (d *gistBuilder) uncoveredItems(th retake.Theme) []*gistItem {
	var list []*gistItem
	for _, t := range d.items {
		if t.theme == th && !t.covered {
			list = append(list, t)
		}
	}
	return list
}

// choosePoints takes one point of every section, then more in the order of sections, and
// counts the files that are left.
func (d *gistBuilder) choosePoints() []retake.Point {
	total, have := int64(0), 0
	for _, t := range d.items {
		total += t.item.Files
	}
	told := int64(0)
	for _, s := range d.sections {
		have += len(s.points)
		for _, p := range s.points {
			told += p.files
		}
	}
	room := maxPoints
	if have > room || told < total {
		room--
	}
	take := d.pointsPerSection(room)
	out := []retake.Point{}
	rest := total
	last := retake.ThemeSource
	for i, s := range d.sections {
		for _, p := range s.points[:take[i]] {
			out = append(out, p.Point)
			rest -= p.files
			last = p.Theme
		}
	}
	switch {
	case rest > 0:
		out = append(out, retake.Point{Theme: last, Text: termtext.Count(rest) + " more"})
	case have > len(out):
		out = append(out, retake.Point{Theme: last, Text: termtext.Count(int64(have-len(out))) + " more"})
	}
	return out
}

// pointsPerSection distributes the room for points over the sections, one round at a time.
func (d *gistBuilder) pointsPerSection(room int) []int {
	take := make([]int, len(d.sections))
	for n := 1; room > 0; n++ {
		more := false
		for i, s := range d.sections {
			if len(s.points) >= n && room > 0 {
				take[i], room, more = n, room-1, true
			}
		}
		if !more {
			break
		}
	}
	return take
}

// hasOnlyMoving reports whether only files changed that always change. Changes inside a
// database other than to its rows, and changes of the machine, do not count as such.
func (d *gistBuilder) hasOnlyMoving() bool {
	for _, t := range d.items {
		if t.theme != retake.ThemeMoving && t.theme != retake.ThemeGit {
			return false
		}
	}
	for _, f := range d.facts {
		if f.Kind != retake.FactRows {
			return false
		}
	}
	return len(d.items) > 0
}

// commonParent returns the deepest directory that holds all items, with "/", or "" for the
// root.
func commonParent(list []*gistItem) string {
	dir := ""
	for i, t := range list {
		p := t.item.Path
		if !strings.HasSuffix(p, "/") {
			p = p[:strings.LastIndexByte(p, '/')+1]
		}
		if i == 0 {
			dir = p
		}
		for !strings.HasPrefix(p, dir) {
			dir = dir[:strings.LastIndexByte(dir[:len(dir)-1], '/')+1]
		}
	}
	return dir
}

func countFiles(list []*gistItem) int64 {
	n := int64(0)
	for _, t := range list {
		n += t.item.Files
	}
	return n
}

func fileCountText(n int64) string {
	if n == 1 {
		return "1 file"
	}
	return termtext.Count(n) + " files"
}
