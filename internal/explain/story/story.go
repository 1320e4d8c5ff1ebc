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

// ObjectOpener opens what the store keeps at an address. A nil reader cannot be read.
type ObjectOpener func(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error)

// Input is what a story is made of.
type Input struct {
	From, To   *retake.Checkpoint // may be nil
	Changes    []retake.Change    // of tree.Compare, in path order
	Gaps       []retake.Gap       // of To
	Facts      []retake.Fact
	Unread     []retake.Unread
	OpenObject ObjectOpener           // nil: no lines are counted
	IsVolatile func(path string) bool // files that keep changing outside turns; nil: by their names alone
	Full       bool                   // every path is an item; else directories are folded
}

// Build makes the story. The error is that of ctx, or nil.
func Build(ctx context.Context, in Input) (retake.Story, error) {
	t := newStoryBuilder(in)
	t.findExactRenames()
	if err := t.findSimilarRenames(ctx); err != nil {
		return retake.Story{}, err
	}
	t.assignThemes()
	if err := t.countLines(ctx); err != nil {
		return retake.Story{}, err
	}
	t.addNotes(ctx)
	in.Facts = append(slices.Clone(in.Facts), readGitFacts(ctx, in)...)
	st := retake.Story{
		From: in.From, To: in.To, Counts: t.countChanges(), Groups: t.buildGroups(),
		Facts: append([]retake.Fact{}, in.Facts...), Unread: append([]retake.Unread{}, in.Unread...), Flags: []retake.Flag{},
	}
	st.Gist = BuildGist(st)
	return st, ctx.Err()
}

// pathRecord is one path that counts, with what was found out about it.
type pathRecord struct {
	path          string
	oldPath       string // of what was renamed
	what          retake.Difference
	before, after *retake.Entry
	isDir         bool
	class         pathclass.Class
	theme         retake.Theme
	plus, minus   int64
	notes         []string
	torn          bool
	absorbed      bool // it became one with a record that was renamed
}

// storyBuilder holds the records of one story.
type storyBuilder struct {
	input       Input
	records     []*pathRecord
	timeOnly    int64
	deletedDirs map[string]bool // directories that went
	texts       textReader
}

// newStoryBuilder keeps the changes that count. A directory counts by itself when it is empty,
// or when its own mode changed.
func newStoryBuilder(in Input) *storyBuilder {
	t := &storyBuilder{input: in, deletedDirs: map[string]bool{}, texts: textReader{open: in.OpenObject, budget: maxTotalRead, cache: map[retake.ObjectID][]byte{}}}
	full := changedParents(in.Changes)
	t.records = make([]*pathRecord, 0, len(in.Changes))
	for i := range in.Changes {
		ch := &in.Changes[i]
		r := &pathRecord{path: ch.Path, what: knownDifference(ch.What), before: ch.Before, after: ch.After}
		r.isDir = isDir(ch)
		switch {
		case r.what == retake.Timed:
			if !r.isDir {
				t.timeOnly++
			}
			continue
		case r.isDir && (r.what == retake.Added || r.what == retake.Deleted):
			if r.what == retake.Deleted {
				t.deletedDirs[ch.Path] = true
			}
			if full[ch.Path] {
				continue
			}
			r.path += "/"
		}
		r.class = pathclass.Of(pathWithSlash(r))
		t.records = append(t.records, r)
	}
	return t
}

// pathWithSlash is the path as theme wants it.
func pathWithSlash(r *pathRecord) string {
	if r.isDir && r.path != "" && r.path[len(r.path)-1] != '/' {
		return r.path + "/"
	}
	return r.path
}

// knownDifference keeps a difference that this version does not know from being lost.
func knownDifference(d retake.Difference) retake.Difference {
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

// changedParents are the directories in which something changed, at any depth.
func changedParents(changes []retake.Change) map[string]bool {
	all := map[string]bool{}
	last := ""
	for i := range changes {
		ch := &changes[i]
		if ch.What == retake.Timed {
			continue
		}
		dir := parentDir(ch.Path)
		if dir == last {
			continue
		}
		for last = dir; dir != "" && !all[dir]; dir = parentDir(dir) {
			all[dir] = true
		}
	}
	return all
}

// assignThemes gives each record its theme. Deletions are told first, but for packages, for what
// git keeps, and for what always moves; that a file changes outside turns is no reason to
// hide that it is gone.
func (t *storyBuilder) assignThemes() {
	for _, r := range t.records {
		r.theme = r.class.Theme()
		switch {
		case pathclass.IsVolatile(r.path):
			r.theme = retake.ThemeMoving
		case r.what == retake.Deleted && r.theme != retake.ThemePackages && r.theme != retake.ThemeGit:
			r.theme = retake.ThemeDeleted
		case r.what != retake.Deleted && t.input.IsVolatile != nil && r.theme != retake.ThemePackages && r.theme != retake.ThemeGit && t.input.IsVolatile(r.path):
			r.theme = retake.ThemeMoving
		}
	}
}

// countChanges counts the records. Lines of lock files are in no sum.
func (t *storyBuilder) countChanges() retake.StoryCounts {
	c := retake.StoryCounts{Timed: t.timeOnly}
	for _, r := range t.records {
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

// sizeDelta are those that came, less those that went.
func (r *pathRecord) sizeDelta() int64 {
	var n int64
	if r.after != nil && r.what != retake.Deleted {
		n += r.after.Size
	}
	if r.before != nil && r.what != retake.Added {
		n -= r.before.Size
	}
	return n
}
