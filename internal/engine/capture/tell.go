package capture

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// tell compares the rows of a directory with the index: it counts files, and
// emits changes when somebody listens. A name with a gap says nothing.
func (v *visitor) tell() error {
	j := 0 // old rows and names are both sorted
	for i, name := range v.names {
		for ; j < len(v.old) && v.old[j].entry.Name < name; j++ {
			if v.n.part != nil {
				continue // not in question
			}
			if err := v.tellGone(v.n.path, &v.old[j], v.n.all); err != nil {
				return err
			}
		}
		var old *row
		if j < len(v.old) && v.old[j].entry.Name == name {
			old = &v.old[j]
			j++
		}
		if err := v.tellName(i, old); err != nil {
			return err
		}
	}
	for ; j < len(v.old) && v.n.part == nil; j++ {
		if err := v.tellGone(v.n.path, &v.old[j], v.n.all); err != nil {
			return err
		}
	}
	return nil
}

func (v *visitor) tellName(i int, old *row) error {
	switch {
	case v.state[i] == kept:
		if old != nil && (old.ino != v.rows[i].ino || !linked(&v.rows[i])) {
			v.noteLoss(join(v.n.path, v.names[i]), old, v.n.all)
		}
		return v.tellRow(old, &v.rows[i])
	case v.state[i] == vanished && old != nil:
		return v.tellGone(v.n.path, old, v.n.all)
	}
	return nil
}

func (v *visitor) tellRow(old, now *row) error {
	path := join(v.n.path, now.entry.Name)
	isDir := now.entry.Kind == retake.KindDir
	switch {
	case old == nil:
		v.count(isDir, retake.Counts{Added: 1})
		return v.say(retake.Change{Path: path, What: retake.Added, After: &now.entry})
	case old.entry.Kind != now.entry.Kind:
		return v.tellRetyped(path, old, now)
	}
	what := difference(&old.entry, &now.entry)
	if what == "" {
		v.noteGroup(path, old, now)
		return nil
	}
	if what == retake.Edited || old.entry.Mode != now.entry.Mode {
		v.count(isDir, retake.Counts{Edited: 1})
	}
	return v.say(retake.Change{Path: path, What: what, Before: &old.entry, After: &now.entry})
}

func (v *visitor) tellRetyped(path string, old, now *row) error {
	if old.entry.Kind != retake.KindDir && now.entry.Kind != retake.KindDir {
		v.count(false, retake.Counts{Edited: 1})
		return v.say(retake.Change{Path: path, What: retake.Retyped, Before: &old.entry, After: &now.entry})
	}
	v.count(now.entry.Kind == retake.KindDir, retake.Counts{Added: 1})
	if err := v.say(retake.Change{Path: path, What: retake.Retyped, Before: &old.entry, After: &now.entry}); err != nil {
		return err
	}
	if old.entry.Kind == retake.KindDir {
		return v.tellBelow(path)
	}
	v.count(false, retake.Counts{Deleted: 1})
	return nil
}

// difference names how two entries of one kind differ; "" when they do not. A
// directory's content is told by what lies in it.
func difference(a, b *retake.Entry) retake.Difference {
	switch {
	case holdsBytes(a.Kind) && (a.Object != b.Object || a.Size != b.Size):
		return retake.Edited
	case a.Mode != b.Mode || a.UID != b.UID || a.GID != b.GID || !sameExtra(ungrouped(a), ungrouped(b)):
		return retake.Moded
	case a.ModTime != b.ModTime:
		return retake.Timed
	}
	return ""
}

// holdsBytes: the object of a FIFO or a socket is that of no bytes, and unknown while
// nothing is stored.
func holdsBytes(k retake.Kind) bool { return k == retake.KindFile || k == retake.KindSymlink }

// ungrouped leaves the group of hard links out: while rows are told it is not
// known yet.
func ungrouped(e *retake.Entry) *retake.Extra {
	if e.Extra == nil || e.Extra.Group == "" {
		return e.Extra
	}
	c := *e
	setGroup(&c, "")
	return c.Extra
}

func (v *visitor) tellGone(dir string, r *row, below bool) error {
	path := join(dir, r.entry.Name)
	v.noteLoss(path, r, below)
	isDir := r.entry.Kind == retake.KindDir
	v.count(isDir, retake.Counts{Deleted: 1})
	if err := v.say(retake.Change{Path: path, What: retake.Deleted, Before: &r.entry}); err != nil || !isDir {
		return err
	}
	return v.tellBelow(path)
}

// tellBelow tells everything that the index had below a directory as deleted.
func (v *visitor) tellBelow(path string) error {
	rec := v.record(path)
	if rec == nil {
		return nil
	}
	rows, err := rec.decode()
	if err != nil {
		return err
	}
	for i := range rows {
		if err := v.tellGone(path, &rows[i], true); err != nil {
			return err
		}
	}
	return nil
}

func (v *visitor) count(isDir bool, c retake.Counts) {
	if isDir {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.counts.Added += c.Added
	v.counts.Deleted += c.Deleted
	v.counts.Edited += c.Edited
}

func (v *visitor) say(c retake.Change) error {
	if v.emit == nil {
		return nil
	}
	return v.emit(c)
}

// Look tells what differs between the index and the workspace as it is now, by
// path, without storing anything. equal compares the live bytes of a file with
// stored ones.
func Look(ctx context.Context, root fsx.Dir, x *Index, o Options, equal func(context.Context, retake.ObjectID, io.Reader) (bool, error)) ([]retake.Change, retake.Coverage, error) {
	o.Only = x.only(o)
	out, cov, err := look(ctx, root, x, o, equal)
	if errors.Is(err, errUnclear) {
		o.Only = nil
		out, cov, err = look(ctx, root, x, o, equal)
	}
	if err != nil {
		return nil, cov, fmt.Errorf("look at workspace: %w", err)
	}
	return out, cov, nil
}

func look(ctx context.Context, root fsx.Dir, x *Index, o Options, equal func(context.Context, retake.ObjectID, io.Reader) (bool, error)) ([]retake.Change, retake.Coverage, error) {
	w, err := newWalker(ctx, root, x, o)
	if err != nil {
		return nil, retake.Coverage{}, err
	}
	var mu sync.Mutex
	var out []retake.Change
	w.equal = equal
	w.emit = func(c retake.Change) error {
		mu.Lock()
		defer mu.Unlock()
		out = append(out, c)
		return nil
	}
	if _, err := w.walk(ctx, root); err != nil {
		return nil, retake.Coverage{}, err
	}
	out = w.tellGroups(out)
	slices.SortFunc(out, func(a, b retake.Change) int { return strings.Compare(a.Path, b.Path) })
	return out, retake.Cover(w.sortedGaps()), nil
}
