package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/retake-dev/retake/bench/record"
)

// gitHere is git on a repository in a workspace; "" when it is not there.
func (b *bench) gitHere() (bin string, env []string) {
	for _, k := range b.kits {
		if k.name == record.Git {
			bin, _ = exec.LookPath(record.Git) // it was found there
			return bin, append(b.shell(), k.env...)
		}
	}
	for _, m := range b.absent {
		if m.Name == record.Git {
			b.miss(m.Name, m.Why)
		}
	}
	return "", nil
}

// wholeRepository commits the whole workspace into one pack, as a clone has it. Git
// looks once more after that, and writes its index no more.
func (b *bench) wholeRepository(ctx context.Context, ws, git string, env []string) error {
	say("fork: committing all files to a repository")
	for _, args := range [][]string{
		{"init", "-q"},
		{"-c", "core.bigFileThreshold=1", "add", "-A"}, // straight into a pack
		{"-c", "gc.auto=0", "commit", "-q", "-m", "start"},
		{"-c", "core.bigFileThreshold=1", "repack", "-a", "-d", "-q"},
		{"status", "--porcelain"},
	} {
		if _, err := (command{argv: append([]string{git}, args...), dir: ws, env: env}).output(ctx); err != nil {
			return err
		}
	}
	b.fact("Where blocks can be shared, all files are tracked in a repository with one pack, which is copied too.")
	return nil
}

// readAll reads every file, as a build does that begins anew.
const readAll = "find . -name .git -prune -o -type f -exec cat {} + >/dev/null"

// workIn looks whether one works in a fork as in the workspace that it grew from.
func (b *bench) workIn(ctx context.Context, n *nursery) error {
	dir := n.beside(record.Retake)
	if _, err := n.call(ctx, dir); err != nil {
		return err
	}
	writeBack()
	if git, env := b.gitHere(); git != "" {
		if err := b.statuses(ctx, n.ws, dir, git, env); err != nil {
			return err
		}
	}
	read := func(at string) (usage, error) {
		return b.steps(ctx, []command{{argv: []string{"/bin/sh", "-c", readAll}, dir: at, env: b.shell()}})
	}
	home := b.row("j", record.ReadHome, record.Millis, "every file read, in the workspace that it was forked from")
	fork := b.row("j", record.ReadFork, record.Millis, "every file read, in the fork")
	if err := b.beside(n.ws, dir, read, func(h, f usage) { home.Add(record.Cat, h.millis); fork.Add(record.Cat, f.millis) }); err != nil {
		return err
	}
	b.rec.AddTool(record.Tool{Name: record.Cat, Version: "-", How: "find with cat: reads every file but those of the repository"})
	return n.remove(ctx, dir)
}

// status asks git, and measures.
func (b *bench) status(ctx context.Context, at, git string, env []string) (usage, error) {
	return b.steps(ctx, []command{{argv: []string{git, "status", "--porcelain"}, dir: at, env: env}})
}

// statuses asks git in both. The first time it does not know the files of the fork
// and reads them all; it must find that nothing changed.
func (b *bench) statuses(ctx context.Context, ws, dir, git string, env []string) error {
	status := func(at string) (usage, error) { return b.status(ctx, at, git, env) }
	home := b.row("j", record.StatusHome, record.Millis, "git status, in the workspace that it was forked from")
	fork := b.row("j", record.StatusFork, record.Millis, "git status, in the fork")
	first := b.row("j", record.StatusFirst, record.Millis, "- the first one there")
	u, err := status(dir)
	if err != nil {
		return err
	}
	first.Add(record.Git, u.millis)
	out, err := command{argv: []string{git, "status", "--porcelain"}, dir: dir, env: env}.output(ctx)
	if err == nil && out != "" {
		err = errors.New("a file is not as it was committed")
	}
	if err != nil {
		return fmt.Errorf("ask git in the fork: %w", err)
	}
	return b.beside(ws, dir, status, func(h, f usage) { home.Add(record.Git, h.millis); fork.Add(record.Git, f.millis) })
}

// beside does the same in both places, each time twice; the second time counts.
func (b *bench) beside(ws, dir string, do func(at string) (usage, error), add func(home, fork usage)) error {
	for i := range b.size.statuses {
		took := map[string]usage{}
		for _, at := range turns([]string{ws, dir}, i) {
			for range 2 {
				u, err := do(at)
				if err != nil {
					return err
				}
				took[at] = u
			}
		}
		add(took[ws], took[dir])
	}
	return nil
}
