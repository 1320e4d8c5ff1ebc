package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/retake-dev/retake/bench/record"
	"github.com/retake-dev/retake/internal/config"
)

// The engine of the store is also the nearest peer; both are of one version.
const (
	kopiaModule  = "github.com/kopia/kopia"
	kopiaVersion = "0.23.1"
)

// bench is one run.
type bench struct {
	tmp    string
	rec    *record.Record
	kits   []*kit
	retake string // our program
	weigh  string // runs and weighs a process
	strace string // "" when it is not there
}

// findTools builds retake and looks for the peers. In a quick run none is built.
func (b *bench) findTools(ctx context.Context, quick bool) error {
	for _, d := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(b.tmp, d), 0o755); err != nil {
			return fmt.Errorf("make directory: %w", err)
		}
	}
	say("building retake")
	b.retake, b.weigh = filepath.Join(b.tmp, "retake"), filepath.Join(b.tmp, "weigh")
	for to, pkg := range map[string]string{b.retake: "./cmd/retake", b.weigh: "./bench/weigh"} {
		if err := goRun(ctx, ".", "build", "-buildvcs=false", "-o", to, pkg); err != nil {
			return err
		}
	}
	if err := b.join(ctx, retakeKit(b.retake), b.retake, "version"); err != nil {
		return err
	}
	if bin, err := b.findKopia(ctx, quick); err != nil {
		b.miss("kopia", err.Error())
	} else if err := b.join(ctx, kopiaKit(bin), bin, "--version"); err != nil {
		return err
	}
	if quick {
		b.miss("restic", "left out of a quick run")
	} else if err := b.joinIfThere(ctx, "restic", resticKit, "version"); err != nil {
		return err
	}
	if err := b.joinIfThere(ctx, "git", gitKit, "--version"); err != nil {
		return err
	}
	var err error
	if b.strace, err = exec.LookPath("strace"); err != nil {
		b.miss("strace", "not on the path; fsyncs are counted in process only")
	}
	return nil
}

func (b *bench) joinIfThere(ctx context.Context, name string, make func(string) *kit, ask string) error {
	bin, err := exec.LookPath(name)
	if err != nil {
		b.miss(name, "not on the path")
		return nil
	}
	return b.join(ctx, make(bin), bin, ask)
}

func (b *bench) join(ctx context.Context, k *kit, bin, ask string) error {
	out, err := command{argv: []string{bin, ask}, env: b.shell(), dir: b.tmp}.output(ctx)
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(out, "\n")
	line, _, _ = strings.Cut(line, " build:")
	line, _, _ = strings.Cut(line, " compiled with")
	for _, word := range []string{k.name, "version"} {
		line = strings.TrimSpace(strings.TrimPrefix(line, word))
	}
	k.version = line
	b.kits = append(b.kits, k)
	b.rec.Tools = append(b.rec.Tools, record.Tool{Name: k.name, Version: k.version, How: k.how})
	say("%s: %s", k.name, k.version)
	return nil
}

func (b *bench) miss(name, why string) {
	say("%s is not there: %s", name, why)
	b.rec.Missing = append(b.rec.Missing, record.Missing{Name: name, Why: why})
}

// findKopia takes the one that was built before, then one on the path of the right
// version, and builds one otherwise. A quick run takes what is there.
func (b *bench) findKopia(ctx context.Context, quick bool) (string, error) {
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
		if quick || err == nil && strings.Contains(out, kopiaVersion) {
			return onPath, nil
		}
	}
	if quick {
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

var began = time.Now()

// say tells whoever waits what goes on, and since when.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: %4.0f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
}
