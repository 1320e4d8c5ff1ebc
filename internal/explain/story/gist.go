package story

import (
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// maxPoints is the most that a gist holds; one of them may count the rest.
const maxPoints = 6

// Gist makes a story short enough for a row. A story in which nothing changed has no
// points.
func Gist(st retake.Story) retake.Gist {
	g := retake.Gist{V: Version, Counts: st.Counts, Points: []retake.Point{}, Unread: len(st.Unread)}
	if len(st.Flags) > 0 {
		g.Flags = append(g.Flags, st.Flags...)
	}
	d := digest(st)
	if len(d.tales) == 0 && len(d.facts) == 0 {
		return g
	}
	d.deleted()
	d.packages()
	d.settings()
	d.database()
	d.source()
	d.git()
	d.build()
	d.machine()
	d.quiet(retake.ThemeGit, "in .git/")
	d.quiet(retake.ThemeMoving, "that always move")
	g.Points, g.Lead, g.Moving = d.choose(), d.lead(), d.moving()
	return g
}

// tale is one item, and whether a point tells it.
type tale struct {
	theme retake.Theme
	item  retake.Item
	class pathclass.Class
	told  bool
}

// point is one that may be chosen, and the files it tells.
type point struct {
	retake.Point
	files int64
}

// section is what one theme has to say, the most important first.
type section struct {
	theme  retake.Theme
	points []point
}

// digester makes points of items and facts.
type digester struct {
	tales    []*tale
	paths    map[string]*tale
	facts    []retake.Fact
	sections []section
}

func digest(st retake.Story) *digester {
	d := &digester{paths: map[string]*tale{}}
	for _, g := range st.Groups {
		if g.Theme == retake.ThemeMachine {
			continue
		}
		for _, it := range g.Items {
			t := &tale{theme: g.Theme, item: it, class: pathclass.Of(it.Path)}
			d.tales = append(d.tales, t)
			d.paths[it.Path] = t
		}
	}
	for _, f := range st.Facts {
		if f.Kind != retake.FactPort || f.Direct { // the ports of others are on the card
			d.facts = append(d.facts, f)
		}
	}
	return d
}

func (d *digester) open(th retake.Theme) { d.sections = append(d.sections, section{theme: th}) }

// add puts a point into the section that was opened last.
func (d *digester) add(text string, tales ...*tale) {
	s := &d.sections[len(d.sections)-1]
	p := point{Point: retake.Point{Theme: s.theme, Text: text}}
	for _, t := range tales {
		if t == nil || t.told {
			continue
		}
		t.told = true
		p.files += t.item.Files
		if (t.theme == retake.ThemeSource || t.theme == retake.ThemeSettings) && t.class != pathclass.Lock {
			p.Plus += t.item.Plus
			p.Minus += t.item.Minus
		}
	}
	s.points = append(s.points, p)
}

// plain is add without lines: a fact says more than they do.
func (d *digester) plain(text string, tales ...*tale) {
	d.add(text, tales...)
	s := d.sections[len(d.sections)-1]
	p := &s.points[len(s.points)-1]
	p.Plus, p.Minus = 0, 0
}

// pick are the items of a theme; of deletions, those of what programs made or the others.
func (d *digester) pick(th retake.Theme, built bool) []*tale {
	var list []*tale
	for _, t := range d.tales {
		if t.theme == th && (th != retake.ThemeDeleted || built == (t.class == pathclass.Build)) {
			list = append(list, t)
		}
	}
	return list
}

// untold are the items of a theme that no point told yet.
func (d *digester) untold(th retake.Theme) []*tale {
	var list []*tale
	for _, t := range d.tales {
		if t.theme == th && !t.told {
			list = append(list, t)
		}
	}
	return list
}

// choose takes one point of every section, then more in the order of sections, and counts
// the files that are left.
func (d *digester) choose() []retake.Point {
	total, have := int64(0), 0
	for _, t := range d.tales {
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
	take := d.share(room)
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

// share says how many points of each section there is room for.
func (d *digester) share(room int) []int {
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

// moving reports whether only files changed that always move. What changed inside a
// database, but for its rows, and what the machine shows, are no such thing.
func (d *digester) moving() bool {
	for _, t := range d.tales {
		if t.theme != retake.ThemeMoving && t.theme != retake.ThemeGit {
			return false
		}
	}
	for _, f := range d.facts {
		if f.Kind != retake.FactRows {
			return false
		}
	}
	return len(d.tales) > 0
}

// common is the deepest directory that holds all items, with "/"; empty for the root.
func common(list []*tale) string {
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

func files(list []*tale) int64 {
	n := int64(0)
	for _, t := range list {
		n += t.item.Files
	}
	return n
}

func count(n int64) string {
	if n == 1 {
		return "1 file"
	}
	return termtext.Count(n) + " files"
}
