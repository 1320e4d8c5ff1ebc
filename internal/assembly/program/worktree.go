package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/hook"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// makeWorktree makes a fork for Claude Code instead of a git worktree, with everything in
// it that git does not know. In a directory that is not protected git makes one:
// who asked gets a path there too.
func (h *hookHandler) makeWorktree(ctx context.Context, w hook.WorktreeRequest) (string, error) {
	if w.Remove != "" {
		return "", h.dropWorktree(ctx, w.Remove)
	}
	path, err := h.forkForWorktree(ctx, w)
	if err == nil || !retake.IsKind(err, retake.NotFound) {
		return path, err // git would run what a protected workspace holds
	}
	path = filepath.Join(w.Dir, ".claude", "worktrees", cleanName(w.Name))
	git, ok := h.conf.LookPath("git")
	if !ok {
		return "", errors.Join(err, errors.New("git is not here either"))
	}
	exit, gerr := proc.RunMounted(ctx, proc.MountedCommand{
		Args: []string{git, "-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", path}, Dir: w.Dir, Env: h.conf.Environ, Out: io.Discard, Err: io.Discard,
	})
	if gerr != nil || exit != 0 {
		return "", errors.Join(err, gerr, fmt.Errorf("git worktree ends with %d", exit))
	}
	return path, nil
}

// worktreesSuffix ends the name of the directory that holds the forks made for worktrees.
const worktreesSuffix = ".worktrees"

func (h *hookHandler) forkForWorktree(ctx context.Context, w hook.WorktreeRequest) (string, error) {
	svc, err := h.daemonService(ctx)
	if err != nil {
		return "", err
	}
	defer svc.Close() //nolint:errcheck // the answer is there
	ws, err := svc.Locate(ctx, w.Dir)
	if err != nil {
		return "", err
	}
	saved, err := svc.Save(ctx, retake.SaveRequest{Workspace: ws.ID, Intent: "before worktree " + cleanName(w.Name), IfChanged: true})
	if err != nil {
		return "", err
	}
	dir := ws.Root + worktreesSuffix
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	name := cleanName(w.Name)
	for n := 2; ; n++ { // an agent may ask for the same name again
		f, err := svc.Fork(ctx, retake.ForkRequest{Workspace: ws.ID, Ref: string(saved.Checkpoint.ID), Dir: filepath.Join(dir, name)})
		if !retake.IsKind(err, retake.Exists) || n > maxWorktreeNames {
			return f.Workspace.Root, err
		}
		name = fmt.Sprintf("%s-%d", cleanName(w.Name), n)
	}
}

const maxWorktreeNames = 100

// dropWorktree removes a fork that was made for a worktree. It goes out of the way first,
// and is deleted only when a checkpoint holds every file of it.
func (h *hookHandler) dropWorktree(ctx context.Context, path string) error {
	path = filepath.Clean(path)
	if !strings.HasSuffix(filepath.Dir(path), worktreesSuffix) {
		return nil // git's own
	}
	svc, err := h.daemonService(ctx)
	if err != nil {
		return err
	}
	defer svc.Close() //nolint:errcheck // the answer is there
	ws, err := svc.Locate(ctx, path)
	if err != nil {
		return err
	}
	if ws.Root != path || ws.Origin == nil {
		return fmt.Errorf("%s is not a Retake fork", path)
	}
	away := path + ".removed"
	if err := os.Rename(path, away); err != nil {
		return err
	}
	if ws, err = svc.Locate(ctx, away); err != nil { // it is known at its new place
		return err
	}
	res, err := svc.Save(ctx, retake.SaveRequest{Workspace: ws.ID, Intent: "before the worktree is removed"})
	if err != nil {
		return err
	}
	if c := res.Checkpoint.Coverage; c.Grade != retake.Complete || len(c.Gaps) > 0 {
		return fmt.Errorf("%s holds what no checkpoint does, and stays", away)
	}
	return removeAll(away)
}

// cleanName makes one plain part of a path of what an agent calls a worktree.
func cleanName(name string) string {
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
	if out = strings.Trim(out, "-"); out == "" {
		return "worktree"
	}
	return out[:min(len(out), 64)]
}
