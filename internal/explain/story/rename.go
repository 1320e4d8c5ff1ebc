package story

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// tiny files are often equal by chance: where several are, only a name proves a rename.
const tiny = 64

// same is what two paths must share to be one that was renamed.
type same struct {
	object retake.ObjectID
	kind   retake.Kind
}

// twins are the paths that went and those that came with the same bytes.
type twins struct{ went, came []*record }

// pair finds what was renamed, by equal bytes alone.
func (t *teller) pair() {
	groups := map[same]*twins{}
	for _, r := range t.all {
		if e := r.movable(); e != nil && r.what == retake.Deleted {
			k := same{e.Object, e.Kind}
			if groups[k] == nil {
				groups[k] = &twins{}
			}
			groups[k].went = append(groups[k].went, r)
		}
	}
	if len(groups) == 0 {
		return
	}
	var order []*twins
	for _, r := range t.all {
		e := r.movable()
		if e == nil || r.what != retake.Added {
			continue
		}
		if g := groups[same{e.Object, e.Kind}]; g != nil {
			if len(g.came) == 0 {
				order = append(order, g)
			}
			g.came = append(g.came, r)
		}
	}
	for _, g := range order {
		g.match()
	}
	t.settle()
}

// movable is the entry of a file or link that can be found again by its bytes. What
// programs fill is left out: there, equal files say nothing.
func (r *record) movable() *retake.Entry {
	e := r.after
	if r.what == retake.Deleted {
		e = r.before
	}
	if e == nil || e.Object == "" || e.Size == 0 || e.Kind != retake.KindFile && e.Kind != retake.KindSymlink || !own(r.class) {
		return nil
	}
	return e
}

// own are the classes of what people, and not programs, keep.
func own(c pathclass.Class) bool {
	switch c.Theme() {
	case retake.ThemeSource, retake.ThemeSettings, retake.ThemeDatabase:
		return true
	default:
		return false
	}
}

// match pairs by the nearest name first: the same name in a directory of the same name,
// the same name, the same directory, then in order.
func (g *twins) match() {
	common := len(g.went) > 1 || len(g.came) > 1
	small := g.went[0].before.Size <= tiny || g.went[0].before.Kind == retake.KindSymlink
	g.by(func(r *record) string { return base(parent(r.path)) + "/" + base(r.path) })
	g.by(func(r *record) string { return base(r.path) })
	if common && small {
		return
	}
	g.by(func(r *record) string { return parent(r.path) })
	g.by(func(*record) string { return "" })
}

// by pairs those that are still alone and have the same key, in order.
func (g *twins) by(key func(*record) string) {
	if len(g.went) == 0 || len(g.came) == 0 {
		return
	}
	waiting := map[string][]*record{}
	for _, w := range g.went {
		waiting[key(w)] = append(waiting[key(w)], w)
	}
	g.came = slices.DeleteFunc(g.came, func(r *record) bool {
		k := key(r)
		if len(waiting[k]) == 0 {
			return false
		}
		r.become(waiting[k][0])
		waiting[k] = waiting[k][1:]
		return true
	})
	g.went = slices.DeleteFunc(g.went, func(w *record) bool { return w.gone })
}

// become makes r the rename of what went.
func (r *record) become(went *record) {
	r.what, r.from, r.before = retake.Renamed, went.path, went.before
	went.gone = true
}

// settle drops the records that became one with another.
func (t *teller) settle() {
	t.all = slices.DeleteFunc(t.all, func(r *record) bool { return r.gone })
}

func parent(path string) string {
	path = strings.TrimSuffix(path, "/")
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

func base(path string) string {
	path = strings.TrimSuffix(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}
