package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/record"
)

// packages is the install: exact versions, about 60,000 files with what they need.
const packages = `{"name":"bench","version":"1.0.0","private":true,"dependencies":{
"@babel/preset-env":"7.24.4","@mui/icons-material":"5.15.15","@mui/material":"5.15.15","core-js":"3.37.0","date-fns":"3.6.0",
"eslint":"8.57.0","jest":"29.7.0","lodash":"4.17.21","lodash-es":"4.17.21","react":"18.2.0","react-dom":"18.2.0","rxjs":"7.8.1",
"typescript":"5.4.5","webpack":"5.91.0"}}
`

// install is something that writes very many files into a workspace, again and again.
type install struct {
	what string
	argv []string
	tree string // what it makes, below the workspace
}

// tax measures what an install pays for being watched.
func (b *bench) tax(ctx context.Context) error {
	if !b.can.daemon {
		b.miss(record.Daemon, "this build has none")
		return nil
	}
	h := b.newHome(filepath.Join(b.tmp, "install", "home"), filepath.Join(b.tmp, "install", "ws"))
	if err := os.MkdirAll(h.ws, 0o755); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	in, err := b.installer(ctx, h.ws)
	if err != nil {
		return err
	}
	if ok, err := h.watched(ctx); err != nil || !ok {
		return err
	}
	on := b.row("f", record.TaxOn, record.Millis, "%s, the tracker on", in.what)
	off := b.row("f", record.TaxOff, record.Millis, "%s, the daemon stopped", in.what)
	for i := range b.size.installs {
		for _, r := range turns([]*record.Row{on, off}, i) {
			u, err := b.installed(ctx, h, in, r == on)
			if err != nil {
				return err
			}
			say("%s: %.0f ms", r.Title, u.millis)
			r.Add(record.Retake, u.millis)
		}
	}
	_, files, err := weighDir(filepath.Join(h.ws, in.tree))
	b.fact("The install writes %d files.", files)
	if err != nil {
		return err
	}
	return h.stop()
}

// watched protects the workspace, and reports whether a tracker looks after it.
func (h *home) watched(ctx context.Context) (bool, error) {
	h.b.closers = append(h.b.closers, func() error { return os.RemoveAll(h.dir) }, h.stop)
	if _, err := h.command("init", "--no-input", h.ws).output(ctx); err != nil {
		return false, err
	}
	if err := h.settled(ctx); err != nil {
		return false, err
	}
	_, ok, err := h.tracks(ctx)
	return ok, err
}

// installed removes what is there and measures one install. The daemon has learnt of
// the removal before the clock starts.
func (b *bench) installed(ctx context.Context, h *home, in install, watched bool) (usage, error) {
	if err := os.RemoveAll(filepath.Join(h.ws, in.tree)); err != nil {
		return usage{}, fmt.Errorf("remove install: %w", err)
	}
	if watched {
		if _, err := h.command("save", "--no-input", "removed").output(ctx); err != nil {
			return usage{}, err
		}
		if _, _, err := h.tracks(ctx); err != nil {
			return usage{}, err
		}
	} else if err := h.stop(); err != nil {
		return usage{}, err
	}
	writeBack()
	return b.steps(ctx, []command{{argv: in.argv, dir: h.ws, env: b.installEnv()}})
}

func (b *bench) installEnv() []string {
	return append(b.shell(), "npm_config_update_notifier=false", "npm_config_cache="+filepath.Join(b.tmp, "npm"))
}

// installer fills the cache of npm once; when npm does not answer, or in a quick
// run, an archive is unpacked instead.
func (b *bench) installer(ctx context.Context, ws string) (install, error) {
	npm, err := exec.LookPath("npm")
	if err != nil || b.quick {
		return b.archive(ctx, "npm is not on the path, or the run is quick")
	}
	if err := os.WriteFile(filepath.Join(ws, "package.json"), []byte(packages), 0o644); err != nil {
		return install{}, fmt.Errorf("write packages: %w", err)
	}
	say("filling the cache of npm")
	args := []string{"--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps"}
	warm := command{argv: append([]string{npm, "install"}, args...), dir: ws, env: b.installEnv()}
	if _, err := warm.output(ctx); err != nil {
		if ctx.Err() != nil {
			return install{}, ctx.Err()
		}
		return b.archive(ctx, "npm does not answer")
	}
	b.fact("A real install: npm ci of %d pinned packages and all they need, from a cache that is warm, without the network.", 14)
	return install{what: "npm ci", argv: append([]string{npm, "ci", "--offline"}, args...), tree: "node_modules"}, nil
}

// archive packs a tree that tar unpacks into the workspace.
func (b *bench) archive(ctx context.Context, why string) (install, error) {
	b.fact("An archive is unpacked instead of a real install: %s.", why)
	from := filepath.Join(b.tmp, "install", "from", "unpacked")
	if err := os.MkdirAll(from, 0o755); err != nil {
		return install{}, fmt.Errorf("make archive: %w", err)
	}
	if err := grow.Project(b.size.tar, b.size.seed).Write(ctx, from); err != nil {
		return install{}, err
	}
	tar, err := exec.LookPath("tar")
	if err != nil {
		return install{}, fmt.Errorf("make archive: %w", err)
	}
	file := filepath.Join(b.tmp, "install", "archive.tar")
	if _, err := (command{argv: []string{tar, "-cf", file, "-C", filepath.Dir(from), "unpacked"}, dir: b.tmp, env: b.shell()}).output(ctx); err != nil {
		return install{}, err
	}
	return install{what: "tar", argv: []string{tar, "-xf", file}, tree: "unpacked"}, nil
}
