package history

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/storage/store"
)

// CheckedOutCommit returns the git commit that was checked out at a checkpoint, or "". It
// is read from the stored .git: git is never run on untrusted files.
func (s *History) CheckedOutCommit(ctx context.Context, cp retake.Checkpoint) string {
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return ""
	}
	root, err := s.TreeRoot(ctx, st, cp)
	if err != nil {
		return ""
	}
	sha, _ := ReadCommit(ctx, st, root)
	return sha
}

// Files that the checked-out commit is read from.
const (
	gitHead       = ".git/HEAD"
	gitPackedRefs = ".git/packed-refs"
	gitRefs       = ".git/refs/"
)

// ReadCommit reads the checked-out commit from a tree. sure is false if a file could not be
// read.
func ReadCommit(ctx context.Context, t store.Trees, root retake.Entry) (sha string, sure bool) {
	g := treeFileReader{trees: t, finder: tree.NewFinder(t, root), complete: true}
	head := strings.TrimSpace(g.readText(ctx, gitHead, 1<<10))
	name, branch := strings.CutPrefix(head, "ref: ")
	if !branch {
		return commitHash(head), g.complete
	}
	if name = CleanPath(name); !strings.HasPrefix(name, "refs/") {
		return "", g.complete
	}
	if sha := commitHash(strings.TrimSpace(g.readText(ctx, ".git/"+name, 1<<10))); sha != "" {
		return sha, g.complete
	}
	lines := bufio.NewScanner(strings.NewReader(g.readText(ctx, gitPackedRefs, 4<<20)))
	for lines.Scan() {
		if sha, ref, ok := strings.Cut(lines.Text(), " "); ok && ref == name {
			return commitHash(sha), g.complete
		}
	}
	return "", g.complete
}

// treeFileReader reads small files of a tree.
type treeFileReader struct {
	trees    store.Trees
	finder   *tree.Finder
	complete bool
}

// readText returns the beginning of a file, or "". An error other than a missing file
// clears complete.
func (g *treeFileReader) readText(ctx context.Context, path string, most int64) string {
	e, err := g.finder.Find(ctx, path)
	if err != nil || e.Kind != retake.KindFile {
		g.complete = g.complete && (err == nil || errors.Is(err, fs.ErrNotExist))
		return ""
	}
	r, err := g.trees.File(ctx, e.Object)
	if err != nil {
		g.complete = false
		return ""
	}
	defer r.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(r, most))
	g.complete = g.complete && err == nil
	return string(b)
}

// MayMoveHead reports whether one of the changes can mean another checked-out commit.
func MayMoveHead(changes []retake.Change) bool {
	for i := range changes {
		if p := changes[i].Path; p == gitHead || p == gitPackedRefs || strings.HasPrefix(p, gitRefs) {
			return true
		}
	}
	return false
}

// commitHash returns the text if it is a commit hash, else "".
func commitHash(s string) string {
	if (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == "" {
		return s
	}
	return ""
}
