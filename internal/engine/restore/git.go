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

// InRepository reports whether a path is inside a .git directory; the directory itself is not.
func InRepository(path string) bool {
	dir, _ := splitPath(path)
	for name := range strings.SplitSeq(dir, "/") {
		if name == gitDir {
			return true
		}
	}
	return false
}

// keepRepository keeps a repository and notes if its HEAD differs in the target checkpoint. It
// only reads files and runs no program.
func (p *planner) keepRepository(ctx context.Context, path string, s sides) error {
	if s.base != nil && s.want != nil && s.base.Kind == s.want.Kind && s.base.Object == s.want.Object {
		return nil // nothing is asked of it
	}
	now, err := p.readGitHead(ctx, s.now)
	if err != nil {
		return err
	}
	then, err := p.readGitHead(ctx, s.want)
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
	p.addKeep(path, s, retake.KeepGit, detail)
	return nil
}

// checkGit adds an obstacle if git itself goes back, or if files go back while git stays:
// files of one commit on the branch of another are easily committed by mistake.
func (p *planner) checkGit() {
	moves := p.OnlyGit && slices.ContainsFunc(p.changingSteps(), func(s retake.Step) bool { return InRepository(s.Path) })
	switch {
	case moves:
		p.plan.Obstacles = append(p.plan.Obstacles, retake.Obstacle{Class: retake.ObstacleGit, Text: "git itself goes back: commits, branches and the index"})
	case len(p.plan.Git) > 0 && p.plan.Total() > 0:
		p.plan.Obstacles = append(p.plan.Obstacles, gitObstacle(p.plan.Git))
	}
}

func gitObstacle(left []retake.GitLeft) retake.Obstacle {
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
	maxRefBytes        = 4 << 10
	maxPackedRefsBytes = 1 << 20
	shortCommitLen     = 7
	refPrefix          = "ref: "
	headsPrefix        = "refs/heads/"
)

// readGitHead returns the branch and the commit of HEAD, as far as they can be read.
func (p *planner) readGitHead(ctx context.Context, git *retake.Entry) (retake.GitHead, error) {
	var h retake.GitHead
	if !isDir(git) {
		return h, nil
	}
	text, err := p.readSmallFile(ctx, *git, "HEAD", maxRefBytes)
	if err != nil {
		return h, err
	}
	ref, ok := strings.CutPrefix(text, refPrefix)
	if !ok {
		h.Commit = shortCommit(text)
		return h, nil
	}
	h.Branch = strings.TrimPrefix(ref, headsPrefix)
	id, err := p.readSmallFile(ctx, *git, ref, maxRefBytes)
	if err != nil || id != "" {
		h.Commit = shortCommit(id)
		return h, err
	}
	packed, err := p.readSmallFile(ctx, *git, "packed-refs", maxPackedRefsBytes)
	for line := range strings.Lines(packed) {
		if id, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && name == ref {
			h.Commit = shortCommit(id)
		}
	}
	return h, err
}

// shortCommit returns the short form of a commit id, or "" if it is not one.
func shortCommit(id string) string {
	if len(id) < shortCommitLen || strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return id[:shortCommitLen]
}

// readSmallFile reads a short file of the repository, or returns "" if there is none.
func (p *planner) readSmallFile(ctx context.Context, git retake.Entry, path string, limit int64) (string, error) {
	e, err := entryOrNil(tree.Find(ctx, p.Trees, git, path))
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
