package story

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// tinySize is the size in bytes up to which files are often equal by chance. If several
// such files are equal, only an equal name proves a rename.
const tinySize = 64

// contentKey is what two paths must have in common to be one renamed path.
type contentKey struct {
	object retake.ObjectID
	kind   retake.Kind
}

// renameCandidates are the deleted and the added paths with the same bytes.
type renameCandidates struct{ deleted, added []*pathRecord }

// findExactRenames pairs deleted and added paths that have equal bytes.
func (t *storyBuilder) findExactRenames() {
	groups := map[contentKey]*renameCandidates{}
	for _, r := range t.records {
		if e := r.renamableEntry(); e != nil && r.what == retake.Deleted {
			k := contentKey{e.Object, e.Kind}
			if groups[k] == nil {
				groups[k] = &renameCandidates{}
			}
			groups[k].deleted = append(groups[k].deleted, r)
		}
	}
	if len(groups) == 0 {
		return
	}
	var order []*renameCandidates
	for _, r := range t.records {
		e := r.renamableEntry()
		if e == nil || r.what != retake.Added {
			continue
		}
		if g := groups[contentKey{e.Object, e.Kind}]; g != nil {
			if len(g.added) == 0 {
				order = append(order, g)
			}
			g.added = append(g.added, r)
		}
	}
	for _, g := range order {
		g.pairByName()
	}
	t.dropAbsorbed()
}

// renamableEntry returns the entry of a file or link that can be recognized by its bytes,
// else nil. Files that programs generate are left out: equal bytes prove nothing there.
func (r *pathRecord) renamableEntry() *retake.Entry {
	e := r.after
	if r.what == retake.Deleted {
		e = r.before
	}
	if e == nil || e.Object == "" || e.Size == 0 || e.Kind != retake.KindFile && e.Kind != retake.KindSymlink || !isUserContent(r.class) {
		return nil
	}
	return e
}

// isUserContent reports whether people, and not programs, keep files of a class.
func isUserContent(c pathclass.Class) bool {
	switch c.Theme() {
	case retake.ThemeSource, retake.ThemeSettings, retake.ThemeDatabase:
		return true
	default:
		return false
	}
}

// pairByName pairs the nearest names first: the same name in a directory of the same name,
// the same name, the same directory, then in order.
func (g *renameCandidates) pairByName() {
	common := len(g.deleted) > 1 || len(g.added) > 1
	small := g.deleted[0].before.Size <= tinySize || g.deleted[0].before.Kind == retake.KindSymlink
	g.pairByKey(func(r *pathRecord) string { return baseName(parentDir(r.path)) + "/" + baseName(r.path) })
	g.pairByKey(func(r *pathRecord) string { return baseName(r.path) })
	if common && small {
		return
	}
	g.pairByKey(func(r *pathRecord) string { return parentDir(r.path) })
	g.pairByKey(func(*pathRecord) string { return "" })
}

// pairByKey pairs those that are still unpaired and have the same key, in order.
func (g *renameCandidates) pairByKey(key func(*pathRecord) string) {
	if len(g.deleted) == 0 || len(g.added) == 0 {
		return
	}
	waiting := map[string][]*pathRecord{}
	for _, w := range g.deleted {
		waiting[key(w)] = append(waiting[key(w)], w)
	}
	g.added = slices.DeleteFunc(g.added, func(r *pathRecord) bool {
		k := key(r)
		if len(waiting[k]) == 0 {
			return false
		}
		r.markRenamedFrom(waiting[k][0])
		waiting[k] = waiting[k][1:]
		return true
	})
	g.deleted = slices.DeleteFunc(g.deleted, func(w *pathRecord) bool { return w.absorbed })
}

// markRenamedFrom makes r the rename of a deleted record, which it absorbs.
func (r *pathRecord) markRenamedFrom(went *pathRecord) {
	r.what, r.oldPath, r.before = retake.Renamed, went.path, went.before
	went.absorbed = true
}

// dropAbsorbed removes the records that became part of a rename.
func (t *storyBuilder) dropAbsorbed() {
	t.records = slices.DeleteFunc(t.records, func(r *pathRecord) bool { return r.absorbed })
}

func parentDir(path string) string {
	path = strings.TrimSuffix(path, "/")
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		return path[:i]
	}
	return ""
}

func baseName(path string) string {
	path = strings.TrimSuffix(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}
