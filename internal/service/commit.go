package service

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

// commit is the one that was checked out at a checkpoint, read from the stored .git: no
// program of git's is run on what a workspace holds.
func (s *Service) commit(ctx context.Context, cp retake.Checkpoint) string {
	st, err := s.store(ctx)
	if err != nil {
		return ""
	}
	root, err := s.files(ctx, st, cp)
	if err != nil {
		return ""
	}
	sha, _ := commitIn(ctx, st, root)
	return sha
}

// What the commit that is checked out is read from.
const (
	gitHead   = ".git/HEAD"
	gitPacked = ".git/packed-refs"
	gitRefs   = ".git/refs/"
)

// commitIn reads it from a tree; sure: nothing there refused to be read.
func commitIn(ctx context.Context, t store.Trees, root retake.Entry) (sha string, sure bool) {
	g := gitFiles{t: t, f: tree.NewFinder(t, root), sure: true}
	head := strings.TrimSpace(g.text(ctx, gitHead, 1<<10))
	name, branch := strings.CutPrefix(head, "ref: ")
	if !branch {
		return hash(head), g.sure
	}
	if name = cleanPath(name); !strings.HasPrefix(name, "refs/") {
		return "", g.sure
	}
	if sha := hash(strings.TrimSpace(g.text(ctx, ".git/"+name, 1<<10))); sha != "" {
		return sha, g.sure
	}
	lines := bufio.NewScanner(strings.NewReader(g.text(ctx, gitPacked, 4<<20)))
	for lines.Scan() {
		if sha, ref, ok := strings.Cut(lines.Text(), " "); ok && ref == name {
			return hash(sha), g.sure
		}
	}
	return "", g.sure
}

// gitFiles reads small files of a tree.
type gitFiles struct {
	t    store.Trees
	f    *tree.Finder
	sure bool
}

func (g *gitFiles) text(ctx context.Context, path string, most int64) string {
	e, err := g.f.Find(ctx, path)
	if err != nil || e.Kind != retake.KindFile {
		g.sure = g.sure && (err == nil || errors.Is(err, fs.ErrNotExist))
		return ""
	}
	r, err := g.t.File(ctx, e.Object)
	if err != nil {
		g.sure = false
		return ""
	}
	defer r.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(r, most))
	g.sure = g.sure && err == nil
	return string(b)
}

// movesHead reports whether one of the changes can check out another commit.
func movesHead(changes []retake.Change) bool {
	for i := range changes {
		if p := changes[i].Path; p == gitHead || p == gitPacked || strings.HasPrefix(p, gitRefs) {
			return true
		}
	}
	return false
}

// hash answers the text when it is the name of a commit.
func hash(s string) string {
	if (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == "" {
		return s
	}
	return ""
}
