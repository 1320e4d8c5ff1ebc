package restore

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/tree"
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

// leaveGit keeps a repository, and notes when it is elsewhere in the checkpoint gone to. It
// reads files and runs nothing.
func (p *planner) leaveGit(ctx context.Context, path string, s sides) error {
	if s.base != nil && s.want != nil && s.base.Kind == s.want.Kind && s.base.Object == s.want.Object {
		return nil // nothing is asked of it
	}
	now, err := p.head(ctx, s.now)
	if err != nil {
		return err
	}
	then, err := p.head(ctx, s.want)
	if err != nil {
		return err
	}
	detail := now.String() + " in both"
	if now != then {
		detail = fmt.Sprintf("%s, was %s", now, then)
	}
	if now != then && then.Commit != "" && p.Course != retake.CourseAdopt { // a fork's repository is its own
		p.plan.Git = append(p.plan.Git, retake.GitLeft{Path: path, Now: now, Then: then})
	}
	p.keep(path, s, retake.KeepGit, detail)
	return nil
}

// askGit: an item that changed nothing but git takes commits and branches back. Else git
// stays, and files of one commit on the branch of another are committed wrongly before
// anybody notices.
func (p *planner) askGit() {
	moves := p.GitAlone && slices.ContainsFunc(p.touched(), func(s retake.Step) bool { return InRepository(s.Path) })
	switch {
	case moves:
		p.plan.Obstacles = append(p.plan.Obstacles, retake.Obstacle{Class: retake.ObstacleGit, Text: "git itself goes back: commits, branches and the index"})
	case len(p.plan.Git) > 0 && p.plan.Total() > 0:
		p.plan.Obstacles = append(p.plan.Obstacles, gitStays(p.plan.Git))
	}
}

func gitStays(left []retake.GitLeft) retake.Obstacle {
	o := retake.Obstacle{Class: retake.ObstacleGit, Text: fmt.Sprintf("git stays on %s; then it was %s (--git moves it too)", left[0].Now, left[0].Then)}
	for _, g := range left {
		o.Paths = append(o.Paths, g.Path)
	}
	if n := len(left) - 1; n > 0 {
		o.Text += fmt.Sprintf(", and %d more repositories stay", n)
	}
	return o
}

const (
	maxRef     = 4 << 10
	maxPacked  = 1 << 20
	shortRef   = 7
	branchMark = "ref: "
	branchDir  = "refs/heads/"
)

// head tells the branch and the commit that HEAD leads to, as far as they can be read.
func (p *planner) head(ctx context.Context, git *retake.Entry) (retake.GitHead, error) {
	var h retake.GitHead
	if !isDir(git) {
		return h, nil
	}
	text, err := p.small(ctx, *git, "HEAD", maxRef)
	if err != nil {
		return h, err
	}
	ref, ok := strings.CutPrefix(text, branchMark)
	if !ok {
		h.Commit = shorten(text)
		return h, nil
	}
	h.Branch = strings.TrimPrefix(ref, branchDir)
	id, err := p.small(ctx, *git, ref, maxRef)
	if err != nil || id != "" {
		h.Commit = shorten(id)
		return h, err
	}
	packed, err := p.small(ctx, *git, "packed-refs", maxPacked)
	for line := range strings.Lines(packed) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			h.Commit = shorten(id)
		}
	}
	return h, err
}

// shorten gives the short form of a commit id; "" when it is none.
func shorten(id string) string {
	if len(id) < shortRef || strings.Trim(id, "0123456789abcdef") != "" {
		return ""
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
