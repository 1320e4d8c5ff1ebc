// Package tree compares, searches and walks stored trees.
//
// It reads directories through a Lister and touches nothing else: no files, no
// clock, no store of its own. It never reads the bytes of a file.
//
//	T1  A directory whose address is the same on both sides is not listed.
//	T2  Changes come in path order: a directory before what is below it, names
//	    of one directory by their bytes.
//	T3  A path is one change at most.
//	T4  The root is ".", and is neither added nor deleted.
package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"

	"github.com/retake-dev/retake"
)

// Root is the path of the root of a tree.
const Root = "."

// Lister lists stored directories. Entries are sorted by the bytes of their names.
type Lister interface {
	Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error)
}

// Find returns the entry at a path below root. It follows no links. The error wraps
// fs.ErrNotExist if there is none.
func Find(ctx context.Context, l Lister, root retake.Entry, path string) (retake.Entry, error) {
	at := root
	for name := range strings.SplitSeq(path, "/") {
		if name == "" || name == "." {
			continue
		}
		if at.Kind != retake.KindDir {
			return retake.Entry{}, fmt.Errorf("find %q: %w", path, fs.ErrNotExist)
		}
		entries, err := l.Dir(ctx, at.Object)
		if err != nil {
			return retake.Entry{}, fmt.Errorf("find %q: %w", path, err)
		}
		i := sort.Search(len(entries), func(i int) bool { return entries[i].Name >= name })
		if i == len(entries) || entries[i].Name != name {
			return retake.Entry{}, fmt.Errorf("find %q: %w", path, fs.ErrNotExist)
		}
		at = entries[i]
	}
	return at, nil
}

// Walk calls f for everything below root, in path order, and not for root itself. If f returns
// fs.SkipDir for a directory, everything below it is skipped.
func Walk(ctx context.Context, l Lister, root retake.Entry, f func(path string, e retake.Entry) error) error {
	if root.Kind != retake.KindDir {
		return nil
	}
	return walkDir(ctx, l, "", root.Object, f)
}

func walkDir(ctx context.Context, l Lister, dir string, id retake.ObjectID, f func(string, retake.Entry) error) error {
	entries, err := listDir(ctx, l, dir, id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := joinPath(dir, e.Name)
		err := f(path, e)
		if e.Kind == retake.KindDir {
			if errors.Is(err, fs.SkipDir) {
				continue
			}
			if err == nil {
				err = walkDir(ctx, l, path, e.Object, f)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func listDir(ctx context.Context, l Lister, path string, id retake.ObjectID) ([]retake.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := l.Dir(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("list %q: %w", displayPath(path), err)
	}
	return entries, nil
}

func joinPath(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// displayPath returns "." for the root.
func displayPath(path string) string {
	if path == "" {
		return Root
	}
	return path
}
