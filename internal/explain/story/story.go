// Package story explains what the changes between two trees mean.
//
// It works on its input alone: changes, facts, and a way to open stored bytes. It uses no
// store, no file, no clock and no other package that does.
//
// Invariants:
//  1. Nothing is cut: the files of the groups add up to the counts, and the files of
//     the items to their group. A path is reported once.
//  2. A rename consists of one deleted and one added path, which belong to no other rename.
//  3. What cannot be read is reported; it is never a reason to fail.
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

// Version is the version of the rules that build a gist. It changes with the rules: a
// stored gist records the version that built it.
const Version = 4

// ObjectOpener opens the stored bytes of an object. A nil reader means that the object
// cannot be read.
type ObjectOpener func(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error)

// Input is everything a story is built from.
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

// Build makes the story of the changes in the input. The only error it returns is that of
// ctx.
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

// pathRecord is one changed path that counts, with everything found out about it.
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

// storyBuilder holds the records of one story while it is built.
type storyBuilder struct {
	input       Input
	records     []*pathRecord
	timeOnly    int64
	deletedDirs map[string]bool // deleted directories
	texts       textReader
}

// newStoryBuilder collects the changes that count. A directory counts by itself only if it
// is empty or its own mode changed.
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

// pathWithSlash returns the path of a record in the form pathclass expects: directories end
// in "/".
func pathWithSlash(r *pathRecord) string {
	if r.isDir && r.path != "" && r.path[len(r.path)-1] != '/' {
		return r.path + "/"
	}
	return r.path
}

// knownDifference maps differences that this version does not know to Edited, so that none
// is lost.
func knownDifference(d retake.Difference) retake.Difference {
	switch d {
	case retake.Added, retake.Deleted, retake.Edited, retake.Retyped, retake.Moded, retake.Timed:
		return d
	default:
		return retake.Edited
	}
}

// isDir reports whether a change is about a directory on both sides.
func isDir(ch *retake.Change) bool {
	switch {
	case ch.What == retake.Retyped:
		return false
	case ch.After != nil:
		return ch.After.Kind == retake.KindDir
	}
	return ch.Before != nil && ch.Before.Kind == retake.KindDir
}

// changedParents returns all directories, at any depth, in which something changed.
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

// assignThemes gives each record its theme. Deletions come first, except those of packages,
// of git's own files and of files that always change. A file that also changes outside
// turns is still reported when it is deleted.
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

// countChanges counts the records by kind. Lines of lock files are not counted.
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

// sizeDelta returns the bytes that were added, minus those that were removed.
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
