package restore

import (
	"context"
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// sides are the three versions of one path: now is on disk, base is where the change that is
// undone or brought started, want is the result. A nil entry means that there is nothing.
type sides struct{ now, base, want *retake.Entry }

// treeWalker visits the paths where want differs from base, a directory before its contents.
// It does not descend if visit returns false.
type treeWalker struct {
	trees  store.Trees
	twoWay bool // base is what is there now
	visit  func(path string, s sides, kin map[string]string) (deeper bool, err error)
}

// walkDir compares the contents of the directories of s.
func (w *treeWalker) walkDir(ctx context.Context, path string, s sides) error {
	if isDir(s.base) && isDir(s.want) && s.base.Object == s.want.Object {
		return nil
	}
	var lists [3][]retake.Entry
	for i, e := range []*retake.Entry{s.now, s.want, s.base} {
		if i == 2 && w.twoWay {
			break
		}
		var err error
		if lists[i], err = w.listDir(ctx, path, e); err != nil {
			return err
		}
	}
	kin := databaseUnits(path, lists[0], lists[1])
	for len(lists[0])+len(lists[1])+len(lists[2]) > 0 {
		name := smallestName(lists[:]...)
		var k sides
		k.now, lists[0] = popEntry(lists[0], name)
		k.want, lists[1] = popEntry(lists[1], name)
		if k.base, lists[2] = popEntry(lists[2], name); w.twoWay {
			k.base = k.now
		}
		if err := w.walkName(ctx, joinPath(path, name), k, kin); err != nil {
			return err
		}
	}
	return nil
}

// walkName visits one name and what is below it.
func (w *treeWalker) walkName(ctx context.Context, path string, s sides, kin map[string]string) error {
	deeper, err := w.visit(path, s, kin)
	if err != nil || !deeper || !isDir(s.now) && !isDir(s.base) && !isDir(s.want) {
		return err
	}
	return w.walkDir(ctx, path, s)
}

func (w *treeWalker) listDir(ctx context.Context, path string, e *retake.Entry) ([]retake.Entry, error) {
	if !isDir(e) {
		return nil, nil
	}
	entries, err := w.trees.Dir(ctx, e.Object)
	if err != nil {
		return nil, fmt.Errorf("list %q: %w", path, err)
	}
	return entries, ctx.Err()
}

func smallestName(lists ...[]retake.Entry) string {
	out, found := "", false
	for _, l := range lists {
		if len(l) > 0 && (!found || l[0].Name < out) {
			out, found = l[0].Name, true
		}
	}
	return out
}

func popEntry(l []retake.Entry, name string) (*retake.Entry, []retake.Entry) {
	if len(l) == 0 || l[0].Name != name {
		return nil, l
	}
	return &l[0], l[1:]
}

func isDir(e *retake.Entry) bool { return e != nil && e.Kind == retake.KindDir }

// databaseUnits finds the databases of a directory: it maps the path of each member to the
// path of its database.
func databaseUnits(dir string, lists ...[]retake.Entry) map[string]string {
	there, dirs := map[string]bool{}, map[string]bool{}
	var beside []string
	for _, l := range lists {
		for i := range l {
			there[l[i].Name] = true
			if isDir(&l[i]) {
				dirs[l[i].Name] = true
			}
			for _, c := range retake.Companions {
				if strings.HasSuffix(l[i].Name, c) {
					beside = append(beside, l[i].Name)
				}
			}
		}
	}
	var out map[string]string
	for _, name := range beside {
		for _, c := range retake.Companions {
			base, ok := strings.CutSuffix(name, c)
			if !ok || base == "" || !there[base] || dirs[base] || dirs[name] {
				continue
			}
			if out == nil {
				out = map[string]string{}
			}
			out[joinPath(dir, name)], out[joinPath(dir, base)] = joinPath(dir, base), joinPath(dir, base)
		}
	}
	return out
}
