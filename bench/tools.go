package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake/bench/record"
	"github.com/retake-dev/retake/internal/platform/config"
)

// The engine of the store is also the nearest peer; both are of one version.
const (
	kopiaModule  = "github.com/kopia/kopia"
	kopiaVersion = "0.23.1"
)

// abilities are what this build of retake can do.
type abilities struct {
	daemon    bool // a process beside the files
	solo      bool // --solo does without it
	ifChanged bool // save --if-changed
	scan      bool // a setting that turns the tracker off
}

// trackerSetting turns the tracker off when it is "scan".
const trackerSetting = "tracker"

// findTools builds retake and looks for the peers. In a quick run none is built.
func (b *bench) findTools(ctx context.Context) error {
	for _, d := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(b.tmp, d), 0o755); err != nil {
			return fmt.Errorf("make directory: %w", err)
		}
	}
	say("building retake")
	b.retake, b.weigh = filepath.Join(b.tmp, "retake"), filepath.Join(b.tmp, "weigh")
	if err := goRun(ctx, ".", "build", "-buildvcs=false", "-o", b.tmp+"/", "./cmd/retake", "./cmd/retaked", "./bench/weigh"); err != nil {
		return err
	}
	if err := b.lookAtRetake(ctx); err != nil {
		return err
	}
	b.strace, _ = exec.LookPath("strace") // "" is said where it is needed
	return b.findPeers(ctx)
}

// lookAtRetake asks the program what it can do and how it is set.
func (b *bench) lookAtRetake(ctx context.Context) error {
	h := b.newHome(filepath.Join(b.tmp, "home", "retake"), b.tmp)
	help, err := h.command("help", "--all").output(ctx)
	if err != nil {
		return err
	}
	save, err := h.command("save", "--help").output(ctx)
	if err != nil {
		return err
	}
	b.can = abilities{daemon: strings.Contains(help, "\n  daemon"), solo: strings.Contains(help, "--solo"), ifChanged: strings.Contains(save, "--if-changed")}
	var conf struct {
		Settings []record.Setting `json:"settings"`
	}
	if err := h.ask(ctx, &conf, "config"); err != nil {
		return err
	}
	b.rec.Config = conf.Settings
	b.can.scan = slices.ContainsFunc(conf.Settings, func(s record.Setting) bool { return s.Key == trackerSetting })
	version, err := h.command("version").output(ctx)
	if err != nil {
		return err
	}
	version = firstLine(version, "retake")
	say("retake: %s, %+v", version, b.can)
	for _, t := range []record.Tool{
		{Name: record.Retake, How: "a save in the daemon, tracked: the round trip of one call over its socket; i and j: see there"},
		{Name: record.Process, How: "retake save, from start to exit, the daemon is up; i and j: see there"},
		{Name: record.Scan, How: "the same with the tracker turned off: a save looks at every file"},
		{Name: record.Solo, How: "retake save without a daemon, from start to exit: opens the store and looks at every file"},
	} {
		t.Version = version
		b.rec.AddTool(t)
	}
	b.rec.AddTool(record.Tool{Name: record.Engine, Version: kopiaVersion,
		How: "the library of kopia alone: writes the changed files and their directories' bytes, then packs, index and directory are synced as the store does; splitter, compressor and encryption of the store"})
	return nil
}

func (b *bench) findPeers(ctx context.Context) error {
	if bin, err := b.findKopia(ctx); err != nil {
		b.absent = append(b.absent, record.Missing{Name: record.Kopia, Why: err.Error()})
	} else if err := b.join(ctx, kopiaKit(bin), bin, "--version"); err != nil {
		return err
	}
	for _, p := range []struct {
		name, ask string
		make      func(string) *kit
	}{{record.Restic, "version", resticKit}, {record.Git, "--version", gitKit}, {record.Btrfs, "--version", btrfsKit}} {
		bin, err := exec.LookPath(p.name)
		why := ""
		switch {
		case err != nil:
			why = "not on the path"
		case b.quick && p.name != record.Git:
			why = "left out of a quick run"
		case p.name == record.Btrfs && os.Geteuid() != 0:
			why = "only root can mount an image"
		}
		if why != "" {
			b.absent = append(b.absent, record.Missing{Name: p.name, Why: why})
			continue
		}
		if err := b.join(ctx, p.make(bin), bin, p.ask); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) join(ctx context.Context, k *kit, bin, ask string) error {
	out, err := command{argv: []string{bin, ask}, env: b.shell(), dir: b.tmp}.output(ctx)
	if err != nil {
		return err
	}
	version := firstLine(out, k.name)
	b.kits = append(b.kits, k)
	b.rec.AddTool(record.Tool{Name: k.name, Version: version, How: k.how})
	say("%s: %s", k.name, version)
	return nil
}

// firstLine is a version without the name of the program and of its compiler.
func firstLine(text, name string) string {
	line, _, _ := strings.Cut(text, "\n")
	line, _, _ = strings.Cut(line, " build:")
	line, _, _ = strings.Cut(line, " compiled with")
	for _, word := range []string{name, "-progs", "version"} {
		line = strings.TrimSpace(strings.TrimPrefix(line, word))
	}
	return line
}

// findKopia takes the one that was built before, then one on the path of the right
// version, and builds one otherwise. A quick run takes what is there.
func (b *bench) findKopia(ctx context.Context) (string, error) {
	conf, err := config.Read()
	if err != nil || conf.Home == "" {
		return "", fmt.Errorf("no home directory to keep it in")
	}
	kept := filepath.Join(conf.Home, ".cache", "retake-bench", "kopia-"+kopiaVersion)
	if _, err := os.Stat(kept); err == nil {
		return kept, nil
	}
	onPath, perr := exec.LookPath("kopia")
	if perr == nil {
		out, err := command{argv: []string{onPath, "--version"}, env: b.shell(), dir: b.tmp}.output(ctx)
		if b.quick || err == nil && strings.Contains(out, kopiaVersion) {
			return onPath, nil
		}
	}
	if b.quick {
		return "", fmt.Errorf("not on the path, and a quick run builds no peer")
	}
	err = b.buildKopia(ctx, kept)
	if err != nil && perr == nil && ctx.Err() == nil {
		say("%v; taking the one on the path", err)
		return onPath, nil
	}
	return kept, err
}

// buildKopia builds the peer from the source of the engine, which is here already.
func (b *bench) buildKopia(ctx context.Context, to string) error {
	say("building kopia %s", kopiaVersion)
	src, err := command{argv: []string{"go", "list", "-m", "-f", "{{.Dir}}", kopiaModule}, dir: "."}.output(ctx)
	if err != nil {
		return err
	}
	here := filepath.Join(b.tmp, "kopia-source")
	defer os.RemoveAll(here) //nolint:errcheck // lies in our own directory, which is removed anyway
	if err := os.CopyFS(here, os.DirFS(src)); err != nil {
		return fmt.Errorf("copy kopia: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("keep kopia: %w", err)
	}
	// A new name first: an interrupted build must not be taken for a whole one.
	if err := goRun(ctx, here, "build", "-buildvcs=false", "-ldflags", "-X "+kopiaModule+"/repo.BuildVersion=v"+kopiaVersion, "-o", to+".new", "."); err != nil {
		return err
	}
	if err := os.Rename(to+".new", to); err != nil {
		return fmt.Errorf("keep kopia: %w", err)
	}
	return nil
}

// goRun runs the go command in the environment of the caller.
func goRun(ctx context.Context, dir string, args ...string) error {
	_, err := command{argv: append([]string{"go"}, args...), dir: dir}.output(ctx)
	return err
}
