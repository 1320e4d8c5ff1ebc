package tree

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// Compare calls f for every path that differs between two trees whose addresses come from one
// store; nil is the empty tree. The work grows with the changes and not with the trees.
//
// A directory is Moded for its own mode, owner and attributes. It is Timed only if nothing
// else differs: one with changes below it has another time anyway. Everything below an added,
// deleted or retyped directory is a change of its own, path by path.
func Compare(ctx context.Context, a Lister, from *retake.Entry, b Lister, to *retake.Entry, f func(retake.Change) error) error {
	return CompareAfter(ctx, a, from, b, to, "", f)
}

// CompareAfter is Compare for the paths after a given one; the empty path is before all.
// Directories before it are not listed, so the next page of a long result costs as much as it
// contains.
func CompareAfter(ctx context.Context, a Lister, from *retake.Entry, b Lister, to *retake.Entry, after string, f func(retake.Change) error) error {
	c := comparison{a: a, b: b, f: f, after: after}
	if from != nil && to != nil {
		return c.comparePair(ctx, "", from, to)
	}
	return c.compareChildren(ctx, "", from, to)
}

type comparison struct {
	a, b  Lister
	f     func(retake.Change) error
	after string
}

// comparePair compares two entries at the same path, and what is below them.
func (c *comparison) comparePair(ctx context.Context, path string, x, y *retake.Entry) error {
	if c.isBefore(path) {
		return nil
	}
	if what := DifferenceOf(x, y); what != "" {
		if err := c.emitChange(path, what, x, y); err != nil {
			return err
		}
	}
	if x.Kind == retake.KindDir && y.Kind == retake.KindDir && isSameDir(x, y) {
		return nil
	}
	return c.compareChildren(ctx, path, x, y)
}

// compareChildren compares what is below two entries; nil and anything but a directory have
// nothing below.
func (c *comparison) compareChildren(ctx context.Context, path string, x, y *retake.Entry) error {
	left, err := c.listChildren(ctx, c.a, path, x)
	if err != nil {
		return err
	}
	right, err := c.listChildren(ctx, c.b, path, y)
	if err != nil {
		return err
	}
	for len(left) > 0 || len(right) > 0 {
		switch compareFirst(left, right) {
		case -1:
			err = c.compareOneSided(ctx, path, &left[0], nil)
			left = left[1:]
		case 1:
			err = c.compareOneSided(ctx, path, nil, &right[0])
			right = right[1:]
		default:
			err = c.comparePair(ctx, joinPath(path, left[0].Name), &left[0], &right[0])
			left, right = left[1:], right[1:]
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// compareOneSided handles an entry that exists on one side only.
func (c *comparison) compareOneSided(ctx context.Context, dir string, x, y *retake.Entry) error {
	e, what := x, retake.Deleted
	if y != nil {
		e, what = y, retake.Added
	}
	path := joinPath(dir, e.Name)
	if c.isBefore(path) {
		return nil
	}
	if err := c.emitChange(path, what, x, y); err != nil {
		return err
	}
	return c.compareChildren(ctx, path, x, y)
}

// isBefore reports whether a path and everything below it come before what was asked for.
func (c *comparison) isBefore(path string) bool {
	return !IsAfter(displayPath(path), c.after) && path != "" && path != c.after && !strings.HasPrefix(c.after, path+"/")
}

// emitChange calls f with copies of the entries, unless the path is before what was asked for.
func (c *comparison) emitChange(path string, what retake.Difference, x, y *retake.Entry) error {
	if !IsAfter(displayPath(path), c.after) {
		return nil
	}
	ch := retake.Change{Path: displayPath(path), What: what}
	if x != nil {
		before := *x
		ch.Before = &before
	}
	if y != nil {
		after := *y
		ch.After = &after
	}
	return c.f(ch)
}

func (c *comparison) listChildren(ctx context.Context, l Lister, path string, e *retake.Entry) ([]retake.Entry, error) {
	if e == nil || e.Kind != retake.KindDir {
		return nil, nil
	}
	return listDir(ctx, l, path, e.Object)
}

func compareFirst(left, right []retake.Entry) int {
	switch {
	case len(right) == 0:
		return -1
	case len(left) == 0:
		return 1
	}
	return strings.Compare(left[0].Name, right[0].Name)
}

// isSameDir relies on equal addresses. Entries without an address are never the same.
func isSameDir(x, y *retake.Entry) bool { return x.Object != "" && x.Object == y.Object }

// DifferenceOf returns how two entries at one path differ: empty if they are equal, or if only
// what is below them differs.
func DifferenceOf(x, y *retake.Entry) retake.Difference {
	dir := y.Kind == retake.KindDir
	switch {
	case x.Kind != y.Kind:
		return retake.Retyped
	case !dir && x.Object != y.Object:
		return retake.Edited
	case x.Mode != y.Mode || x.UID != y.UID || x.GID != y.GID || !isSameExtra(x.Extra, y.Extra):
		return retake.Moded
	case x.ModTime != y.ModTime && (!dir || isSameDir(x, y)):
		return retake.Timed
	}
	return ""
}

// Sort sorts changes below a root in the order of Compare.
func Sort(changes []retake.Change) {
	slices.SortFunc(changes, func(a, b retake.Change) int { return comparePaths(a.Path, b.Path) })
}

// IsAfter reports whether a path comes after another in that order. The root is the first of
// all, and every path is after an empty one.
func IsAfter(path, after string) bool {
	switch {
	case after == "":
		return true
	case path == Root:
		return false
	}
	return after == Root || comparePaths(path, after) > 0
}

// comparePaths compares two paths name by name: the slash sorts before every byte of a name.
func comparePaths(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		switch x, y := a[i], b[i]; {
		case x == y:
		case x == '/':
			return -1
		case y == '/':
			return 1
		default:
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

func isSameExtra(x, y *retake.Extra) bool {
	var none retake.Extra
	if x == nil {
		x = &none
	}
	if y == nil {
		y = &none
	}
	return x.Group == y.Group && slices.Equal(x.Holes, y.Holes) && maps.EqualFunc(x.Xattrs, y.Xattrs, bytes.Equal)
}
