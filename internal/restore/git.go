package restore

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/tree"
)

// InRepository reports whether a path lies in a repository; the repository itself does
// not.
func InRepository(path string) bool {
	dir, _ := split(path)
	for name := range strings.SplitSeq(dir, "/") {
		if name == gitDir {
			return true
		}
	}
	return false
}

// heads tells where a repository stands, now and at the moment gone to. It reads
// files and runs nothing.
func (p *planner) heads(ctx context.Context, s sides) (string, error) {
	now, err := p.head(ctx, s.now)
	if err != nil {
		return "", err
	}
	then, err := p.head(ctx, s.want)
	if err != nil {
		return "", err
	}
	if now == then {
		return "HEAD " + now + " at both", nil
	}
	return fmt.Sprintf("HEAD %s, was %s", now, then), nil
}

const (
	maxRef     = 4 << 10
	maxPacked  = 1 << 20
	shortRef   = 7
	noHead     = "none"
	branchMark = "ref: "
)

// head gives the short id of the commit that HEAD leads to; "none" when it leads
// nowhere that can be read.
func (p *planner) head(ctx context.Context, git *retake.Entry) (string, error) {
	if !isDir(git) {
		return noHead, nil
	}
	text, err := p.small(ctx, *git, "HEAD", maxRef)
	if err != nil {
		return "", err
	}
	ref, ok := strings.CutPrefix(text, branchMark)
	if !ok {
		return shorten(text), nil
	}
	id, err := p.small(ctx, *git, ref, maxRef)
	if err != nil || id != "" {
		return shorten(id), err
	}
	packed, err := p.small(ctx, *git, "packed-refs", maxPacked)
	for line := range strings.Lines(packed) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			return shorten(id), err
		}
	}
	return noHead, err
}

func shorten(id string) string {
	if len(id) < shortRef || strings.Trim(id, "0123456789abcdef") != "" {
		return noHead
	}
	return id[:shortRef]
}

// small reads a short text of the repository; "" when there is none.
func (p *planner) small(ctx context.Context, git retake.Entry, path string, limit int64) (string, error) {
	e, err := found(tree.Find(ctx, p.Trees, git, path))
	if err != nil || e == nil || e.Kind != retake.KindFile || e.Size > limit {
		return "", err
	}
	f, err := p.Trees.File(ctx, e.Object)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, limit))
	return strings.TrimSpace(string(b)), err
}
