// Package story says what the changes between two trees mean.
//
// It works on what it is handed: changes, facts, and a way to open stored bytes. It
// opens no store, no file and no clock, and calls nobody else.
//
// Invariants:
//  1. Nothing is cut: the files of the groups add up to the counts, and the files of
//     the items to their group. A path is told once.
//  2. A rename takes one path that went and one that came, and no other rename has them.
//  3. What cannot be read is said; it is never a reason to fail.
//  4. Work grows with the changes; the bytes read and the lines compared are bounded.
//  5. Words that people read are made of paths and facts, and never hold a value of a
//     .env file.
package story

import (
	"context"
	"io"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
)

// Version is that of the rules that make a gist. Other rules, another version: gists
// that are stored say by which they were made.
const Version = 4

// Bytes opens what the store keeps at an address. A nil reader cannot be read.
type Bytes func(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error)

// Input is what a story is made of.
type Input struct {
	From, To *retake.Checkpoint // may be nil
	Changes  []retake.Change    // of tree.Compare, in path order
	Gaps     []retake.Gap       // of To
	Facts    []retake.Fact
	Unread   []retake.Unread
	Bytes    Bytes                  // nil: no lines are counted
	Volatile func(path string) bool // files that keep changing outside turns; nil: by their names alone
	Full     bool                   // every path is an item; else directories are folded
}

// Tell makes the story. The error is that of ctx, or nil.
func Tell(ctx context.Context, in Input) (retake.Story, error) {
	t := collect(in)
	t.pair()
	if err := t.liken(ctx); err != nil {
		return retake.Story{}, err
	}
	t.place()
	if err := t.count(ctx); err != nil {
		return retake.Story{}, err
	}
	t.remark(ctx)
	in.Facts = append(slices.Clone(in.Facts), gitFacts(ctx, in)...)
	st := retake.Story{
		From: in.From, To: in.To, Counts: t.sum(), Groups: t.groups(),
		Facts: append([]retake.Fact{}, in.Facts...), Unread: append([]retake.Unread{}, in.Unread...), Flags: []retake.Flag{},
	}
	st.Gist = Gist(st)
	return st, ctx.Err()
}

// record is one path that counts, with what was found out about it.
type record struct {
	path          string
	from          string // of what was renamed
	what          retake.Difference
	before, after *retake.Entry
	dir           bool
	class         pathclass.Class
	theme         retake.Theme
	plus, minus   int64
	notes         []string
	torn          bool
	gone          bool // it became one with a record that was renamed
}

// teller holds the records of one story.
type teller struct {
	in    Input
	all   []*record
	timed int64
	ended map[string]bool // directories that went
	texts texts
}

// collect keeps the changes that count. A directory counts by itself when it is empty,
// or when its own mode changed.
func collect(in Input) *teller {
	t := &teller{in: in, ended: map[string]bool{}, texts: texts{open: in.Bytes, left: maxRead, kept: map[retake.ObjectID][]byte{}}}
	full := parents(in.Changes)
	t.all = make([]*record, 0, len(in.Changes))
	for i := range in.Changes {
		ch := &in.Changes[i]
		r := &record{path: ch.Path, what: known(ch.What), before: ch.Before, after: ch.After}
		r.dir = isDir(ch)
		switch {
		case r.what == retake.Timed:
			if !r.dir {
				t.timed++
			}
			continue
		case r.dir && (r.what == retake.Added || r.what == retake.Deleted):
			if r.what == retake.Deleted {
				t.ended[ch.Path] = true
			}
			if full[ch.Path] {
				continue
			}
			r.path += "/"
		}
		r.class = pathclass.Of(asDir(r))
		t.all = append(t.all, r)
	}
	return t
}

// asDir is the path as theme wants it.
func asDir(r *record) string {
	if r.dir && r.path != "" && r.path[len(r.path)-1] != '/' {
		return r.path + "/"
	}
	return r.path
}

// known keeps a difference that this version does not know from being lost.
func known(d retake.Difference) retake.Difference {
	switch d {
	case retake.Added, retake.Deleted, retake.Edited, retake.Retyped, retake.Moded, retake.Timed:
		return d
	default:
		return retake.Edited
	}
}

func isDir(ch *retake.Change) bool {
	switch {
	case ch.What == retake.Retyped:
		return false
	case ch.After != nil:
		return ch.After.Kind == retake.KindDir
	}
	return ch.Before != nil && ch.Before.Kind == retake.KindDir
}

// parents are the directories in which something changed, at any depth.
func parents(changes []retake.Change) map[string]bool {
	all := map[string]bool{}
	last := ""
	for i := range changes {
		ch := &changes[i]
		if ch.What == retake.Timed {
			continue
		}
		dir := parent(ch.Path)
		if dir == last {
			continue
		}
		for last = dir; dir != "" && !all[dir]; dir = parent(dir) {
			all[dir] = true
		}
	}
	return all
}

// place gives each record its theme. Deletions are told first, but for packages, for what
// git keeps, and for what always moves; that a file changes outside turns is no reason to
// hide that it is gone.
func (t *teller) place() {
	for _, r := range t.all {
		r.theme = r.class.Theme()
		switch {
		case pathclass.Moving(r.path):
			r.theme = retake.ThemeMoving
		case r.what == retake.Deleted && r.theme != retake.ThemePackages && r.theme != retake.ThemeGit:
			r.theme = retake.ThemeDeleted
		case r.what != retake.Deleted && t.in.Volatile != nil && r.theme != retake.ThemePackages && r.theme != retake.ThemeGit && t.in.Volatile(r.path):
			r.theme = retake.ThemeMoving
		}
	}
}

// sum counts the records. Lines of lock files are in no sum.
func (t *teller) sum() retake.StoryCounts {
	c := retake.StoryCounts{Timed: t.timed}
	for _, r := range t.all {
		switch r.what {
		case retake.Added:
			c.Added++
		case retake.Deleted:
			c.Deleted++
		case retake.Renamed:
			c.Renamed++
		case retake.Moded:
			c.Moded++
		case retake.Retyped:
			c.Retyped++
		case retake.Edited, retake.Timed:
			c.Edited++
		}
		if r.class != pathclass.Lock {
			c.Plus += r.plus
			c.Minus += r.minus
		}
	}
	return c
}

// bytes are those that came, less those that went.
func (r *record) bytes() int64 {
	var n int64
	if r.after != nil && r.what != retake.Deleted {
		n += r.after.Size
	}
	if r.before != nil && r.what != retake.Added {
		n -= r.before.Size
	}
	return n
}
