package main

import (
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
)

// Programs that read every file they can find.
const (
	readByPython = `import os
for d, _, names in os.walk("."):
    for n in names:
        with open(os.path.join(d, n), "rb") as f:
            f.read()
`
	readByNode = `const fs = require("fs"), path = require("path")
const walk = d => { for (const e of fs.readdirSync(d, {withFileTypes: true})) {
  const p = path.join(d, e.name); if (e.isDirectory()) walk(p); else if (e.isFile()) fs.readFileSync(p) } }
walk(".")`
)

// reading lets an agent look around for a while. It must cost nothing: no event, and
// no checkpoint.
func (b *bench) reading(ctx context.Context) error {
	if !b.can.daemon {
		b.miss(record.Daemon, "this build has none")
		return nil
	}
	f, err := b.tracked(ctx, "reading", record.Retake, grow.Project(max(b.size.files/10, 1000), b.size.seed))
	if err != nil {
		return err
	}
	h := b.newHome(f.home, f.ws)
	if err := b.repository(ctx, h); err != nil {
		return err
	}
	if _, err := f.capture(ctx); err != nil {
		return err
	}
	if err := h.settled(ctx); err != nil {
		return err
	}
	before, ok, err := h.tracks(ctx)
	if err != nil || !ok {
		return err
	}
	rounds, err := b.readFor(ctx, h.ws)
	if err != nil {
		return err
	}
	after, _, err := h.tracks(ctx)
	if err != nil {
		return err
	}
	b.row("g", record.ReadRounds, record.Count, "rounds of reading in %s", b.size.reading).Add(record.Retake, float64(rounds))
	b.row("g", record.ReadEvents, record.Count, "events that the tracker told of meanwhile").Add(record.Retake, float64(after.Events-before.Events))
	kept, err := h.unchanged(ctx)
	if err != nil {
		return err
	}
	b.row("g", record.ReadKept, record.Count, "checkpoints recorded after that").Add(record.Process, kept)
	b.fact("The tracker was in doubt %d times meanwhile.", after.Doubts-before.Doubts)
	return h.stop()
}

// repository makes the workspace one of git's, and lets git settle: it writes its
// index again while time stamps are young.
func (b *bench) repository(ctx context.Context, h *home) error {
	git, err := exec.LookPath("git")
	if err != nil {
		b.miss("git", "not on the path; nobody asks for its status")
		return nil
	}
	run := func(args ...string) error {
		_, err := command{argv: append([]string{git, "-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"}, args...), dir: h.ws, env: b.shell()}.output(ctx)
		return err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "src"}, {"commit", "-q", "-m", "start"}} {
		if err := run(args...); err != nil {
			return err
		}
	}
	if err := pause(ctx, settle); err != nil {
		return err
	}
	return run("status", "--short")
}

// readFor reads until the time is over, and answers how often it went round.
func (b *bench) readFor(ctx context.Context, ws string) (int, error) {
	var readers [][]string
	for _, argv := range [][]string{
		{"find", ".", "-type", "f", "-newer", "/etc/hostname"},
		{"grep", "-rc", "return", "src"},
		{"sh", "-c", "find src -type f -exec cat {} + >/dev/null"},
		{"git", "--no-optional-locks", "status", "--short"},
		{"python3", "-c", readByPython},
		{"node", "-e", readByNode},
	} {
		bin, err := exec.LookPath(argv[0])
		if err != nil {
			b.miss(argv[0], "not on the path; it does not read")
			continue
		}
		readers = append(readers, append([]string{bin}, argv[1:]...))
	}
	b.fact("An agent reads with find, grep -r, cat, git status, python and node, as far as they are there.")
	rounds := 0
	for start := time.Now(); time.Since(start) < b.size.reading; rounds++ {
		for _, argv := range readers {
			c := command{argv: argv, dir: ws, env: b.shell()}
			if _, err := c.output(ctx); err != nil {
				return rounds, fmt.Errorf("read: %w", err)
			}
		}
	}
	return rounds, nil
}
