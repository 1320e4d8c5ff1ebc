package tree

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// Compare calls f for every path that differs between two trees whose addresses
// come from one store; nil is the empty tree. The work grows with the changes
// and not with the trees.
//
// A directory is Moded for its own mode, owner and attributes. It is Timed only
// when it differs in nothing else: one with changes below it has another time
// anyway. What lies below an added, deleted or retyped directory is a change of
// its own, path by path.
func Compare(ctx context.Context, a Lister, from *retake.Entry, b Lister, to *retake.Entry, f func(retake.Change) error) error {
	return CompareAfter(ctx, a, from, b, to, "", f)
}

// CompareAfter does so for the paths behind one; an empty path is before all. Directories
// that lie before it are not listed, so the next part of a long answer costs as much as
// it holds.
func CompareAfter(ctx context.Context, a Lister, from *retake.Entry, b Lister, to *retake.Entry, after string, f func(retake.Change) error) error {
	c := comparison{a: a, b: b, f: f, after: after}
	if from != nil && to != nil {
		return c.pair(ctx, "", from, to)
	}
	return c.below(ctx, "", from, to)
}

type comparison struct {
	a, b  Lister
	f     func(retake.Change) error
	after string
}

// pair compares two entries at the same path.
func (c *comparison) pair(ctx context.Context, path string, x, y *retake.Entry) error {
	if c.passed(path) {
		return nil
	}
	if what := Differ(x, y); what != "" {
		if err := c.say(path, what, x, y); err != nil {
			return err
		}
	}
	if x.Kind == retake.KindDir && y.Kind == retake.KindDir && sameDir(x, y) {
		return nil
	}
	return c.below(ctx, path, x, y)
}

// below compares what lies below two entries; nil and every kind but a
// directory have nothing below.
func (c *comparison) below(ctx context.Context, path string, x, y *retake.Entry) error {
	left, err := c.children(ctx, c.a, path, x)
	if err != nil {
		return err
	}
	right, err := c.children(ctx, c.b, path, y)
	if err != nil {
		return err
	}
	for len(left) > 0 || len(right) > 0 {
		switch order(left, right) {
		case -1:
			err = c.single(ctx, path, &left[0], nil)
			left = left[1:]
		case 1:
			err = c.single(ctx, path, nil, &right[0])
			right = right[1:]
		default:
			err = c.pair(ctx, join(path, left[0].Name), &left[0], &right[0])
			left, right = left[1:], right[1:]
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *comparison) single(ctx context.Context, dir string, x, y *retake.Entry) error {
	e, what := x, retake.Deleted
	if y != nil {
		e, what = y, retake.Added
	}
	path := join(dir, e.Name)
	if c.passed(path) {
		return nil
	}
	if err := c.say(path, what, x, y); err != nil {
		return err
	}
	return c.below(ctx, path, x, y)
}

// passed reports whether a path and all that lies below it come before what was asked for.
func (c *comparison) passed(path string) bool {
	return !Behind(show(path), c.after) && path != "" && path != c.after && !strings.HasPrefix(c.after, path+"/")
}

func (c *comparison) say(path string, what retake.Difference, x, y *retake.Entry) error {
	if !Behind(show(path), c.after) {
		return nil
	}
	ch := retake.Change{Path: show(path), What: what}
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

func (c *comparison) children(ctx context.Context, l Lister, path string, e *retake.Entry) ([]retake.Entry, error) {
	if e == nil || e.Kind != retake.KindDir {
		return nil, nil
	}
	return list(ctx, l, path, e.Object)
}

func order(left, right []retake.Entry) int {
	switch {
	case len(right) == 0:
		return -1
	case len(left) == 0:
		return 1
	}
	return strings.Compare(left[0].Name, right[0].Name)
}

// sameDir trusts equal addresses; an entry without one has nothing to trust.
func sameDir(x, y *retake.Entry) bool { return x.Object != "" && x.Object == y.Object }

// Differ returns how two entries at one path differ: empty if they are equal, or if only
// what is below them differs.
func Differ(x, y *retake.Entry) retake.Difference {
	dir := y.Kind == retake.KindDir
	switch {
	case x.Kind != y.Kind:
		return retake.Retyped
	case !dir && x.Object != y.Object:
		return retake.Edited
	case x.Mode != y.Mode || x.UID != y.UID || x.GID != y.GID || !sameExtra(x.Extra, y.Extra):
		return retake.Moded
	case x.ModTime != y.ModTime && (!dir || sameDir(x, y)):
		return retake.Timed
	}
	return ""
}

// Sort brings changes below a root into the order in which Compare tells them.
func Sort(changes []retake.Change) {
	slices.SortFunc(changes, func(a, b retake.Change) int { return byNames(a.Path, b.Path) })
}

// Behind reports whether a path comes after another in that order; the root is the first
// of all, and every path is behind an empty one.
func Behind(path, after string) bool {
	switch {
	case after == "":
		return true
	case path == Root:
		return false
	}
	return after == Root || byNames(path, after) > 0
}

// byNames compares two paths name by name: the slash comes before every byte of a name.
func byNames(a, b string) int {
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

func sameExtra(x, y *retake.Extra) bool {
	var none retake.Extra
	if x == nil {
		x = &none
	}
	if y == nil {
		y = &none
	}
	return x.Group == y.Group && slices.Equal(x.Holes, y.Holes) && maps.EqualFunc(x.Xattrs, y.Xattrs, bytes.Equal)
}
