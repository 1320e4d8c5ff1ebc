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

// reportChanges compares the rows of a directory with the index, counts the changes and emits
// them. A name with a gap is skipped.
func (v *visitor) reportChanges() error {
	j := 0 // old rows and names are both sorted
	for i, name := range v.names {
		for ; j < len(v.old) && v.old[j].entry.Name < name; j++ {
			if v.node.scanned != nil {
				continue // not in question
			}
			if err := v.reportDeleted(v.node.path, &v.old[j], v.node.scanAll); err != nil {
				return err
			}
		}
		var old *row
		if j < len(v.old) && v.old[j].entry.Name == name {
			old = &v.old[j]
			j++
		}
		if err := v.reportName(i, old); err != nil {
			return err
		}
	}
	for ; j < len(v.old) && v.node.scanned == nil; j++ {
		if err := v.reportDeleted(v.node.path, &v.old[j], v.node.scanAll); err != nil {
			return err
		}
	}
	return nil
}

func (v *visitor) reportName(i int, old *row) error {
	switch {
	case v.states[i] == stateKept:
		if old != nil && (old.ino != v.rows[i].ino || !hasLinks(&v.rows[i])) {
			v.recordLostLink(joinPath(v.node.path, v.names[i]), old, v.node.scanAll)
		}
		return v.reportRow(old, &v.rows[i])
	case v.states[i] == stateVanished && old != nil:
		return v.reportDeleted(v.node.path, old, v.node.scanAll)
	}
	return nil
}

// reportRow reports a name that is new or differs from the index.
func (v *visitor) reportRow(old, now *row) error {
	path := joinPath(v.node.path, now.entry.Name)
	isDir := now.entry.Kind == retake.KindDir
	switch {
	case old == nil:
		v.addCounts(isDir, retake.Counts{Added: 1})
		return v.emitChange(retake.Change{Path: path, What: retake.Added, After: &now.entry})
	case old.entry.Kind != now.entry.Kind:
		return v.reportRetyped(path, old, now)
	}
	what := classifyDifference(&old.entry, &now.entry)
	if what == "" {
		v.deferGroupChange(path, old, now)
		return nil
	}
	if what == retake.Edited || old.entry.Mode != now.entry.Mode {
		v.addCounts(isDir, retake.Counts{Edited: 1})
	}
	return v.emitChange(retake.Change{Path: path, What: what, Before: &old.entry, After: &now.entry})
}

func (v *visitor) reportRetyped(path string, old, now *row) error {
	if old.entry.Kind != retake.KindDir && now.entry.Kind != retake.KindDir {
		v.addCounts(false, retake.Counts{Edited: 1})
		return v.emitChange(retake.Change{Path: path, What: retake.Retyped, Before: &old.entry, After: &now.entry})
	}
	v.addCounts(now.entry.Kind == retake.KindDir, retake.Counts{Added: 1})
	if err := v.emitChange(retake.Change{Path: path, What: retake.Retyped, Before: &old.entry, After: &now.entry}); err != nil {
		return err
	}
	if old.entry.Kind == retake.KindDir {
		return v.reportDeletedBelow(path)
	}
	v.addCounts(false, retake.Counts{Deleted: 1})
	return nil
}

// classifyDifference returns how two entries of one kind differ, or "" if they do not.
// Directories are compared without their contents.
func classifyDifference(a, b *retake.Entry) retake.Difference {
	switch {
	case hasBytes(a.Kind) && (a.Object != b.Object || a.Size != b.Size):
		return retake.Edited
	case a.Mode != b.Mode || a.UID != b.UID || a.GID != b.GID || !sameExtra(extraWithoutGroup(a), extraWithoutGroup(b)):
		return retake.Moded
	case a.ModTime != b.ModTime:
		return retake.Timed
	}
	return ""
}

// hasBytes reports whether entries of a kind have content. The object of a FIFO or socket is
// the empty one, and unknown while nothing is stored.
func hasBytes(k retake.Kind) bool { return k == retake.KindFile || k == retake.KindSymlink }

// extraWithoutGroup returns the extra fields without the link group, which is not known yet
// while rows are compared.
func extraWithoutGroup(e *retake.Entry) *retake.Extra {
	if e.Extra == nil || e.Extra.Group == "" {
		return e.Extra
	}
	c := *e
	setLinkGroup(&c, "")
	return c.Extra
}

func (v *visitor) reportDeleted(dir string, r *row, below bool) error {
	path := joinPath(dir, r.entry.Name)
	v.recordLostLink(path, r, below)
	isDir := r.entry.Kind == retake.KindDir
	v.addCounts(isDir, retake.Counts{Deleted: 1})
	if err := v.emitChange(retake.Change{Path: path, What: retake.Deleted, Before: &r.entry}); err != nil || !isDir {
		return err
	}
	return v.reportDeletedBelow(path)
}

// reportDeletedBelow reports everything that the index has below a directory as deleted.
func (v *visitor) reportDeletedBelow(path string) error {
	rec := v.findRecord(path)
	if rec == nil {
		return nil
	}
	rows, err := rec.decodeRows()
	if err != nil {
		return err
	}
	for i := range rows {
		if err := v.reportDeleted(path, &rows[i], true); err != nil {
			return err
		}
	}
	return nil
}

func (v *visitor) addCounts(isDir bool, c retake.Counts) {
	if isDir {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.counts.Added += c.Added
	v.counts.Deleted += c.Deleted
	v.counts.Edited += c.Edited
}

func (v *visitor) emitChange(c retake.Change) error {
	if v.emit == nil {
		return nil
	}
	return v.emit(c)
}

// Diff returns the differences between the index and the workspace as it is now, by path,
// without storing anything. equal compares the live bytes of a file with stored ones.
func Diff(ctx context.Context, root fsx.Dir, x *Index, o Options, equal func(context.Context, retake.ObjectID, io.Reader) (bool, error)) ([]retake.Change, retake.Coverage, error) {
	o.Dirty = x.dirtyPaths(o)
	out, cov, err := diffPass(ctx, root, x, o, equal)
	if errors.Is(err, errUnknownLinks) {
		o.Dirty = nil
		out, cov, err = diffPass(ctx, root, x, o, equal)
	}
	if err != nil {
		return nil, cov, fmt.Errorf("look at workspace: %w", err)
	}
	return out, cov, nil
}

// diffPass makes one pass that stores nothing.
func diffPass(ctx context.Context, root fsx.Dir, x *Index, o Options, equal func(context.Context, retake.ObjectID, io.Reader) (bool, error)) ([]retake.Change, retake.Coverage, error) {
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
	if _, err := w.walkTree(ctx, root); err != nil {
		return nil, retake.Coverage{}, err
	}
	out = w.resolveGroupChanges(out)
	slices.SortFunc(out, func(a, b retake.Change) int { return strings.Compare(a.Path, b.Path) })
	return out, retake.Cover(w.sortedGaps()), nil
}
