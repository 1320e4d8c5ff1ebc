//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// retakeTool is Retake. Its daemon copies metadata in a pause after the saves; hurried is measured
// with a daemon that was stopped before such a pause.
type retakeTool struct {
	bin     string
	hurried bool
}

// settleTime is how long the daemon is left alone after the last save.
const settleTime = 20 * time.Second

func newRetake(ctx context.Context, dir, tmp string, hurried bool) (tool, error) {
	built := filepath.Join(tmp, "programs") // beside the directories of the tools, one of which is called retake
	if _, err := os.Stat(filepath.Join(built, "retake")); dir == "" && err == nil {
		dir = built
	}
	if dir == "" {
		say("building retake")
		dir = built
		if _, err := goCommand(ctx, ".", "build", "-buildvcs=false", "-o", built+"/", "./cmd/retake", "./cmd/retaked"); err != nil {
			return nil, err
		}
	}
	return &retakeTool{filepath.Join(dir, "retake"), hurried}, nil
}

func (r *retakeTool) name() string {
	if r.hurried {
		return "retake-hurried"
	}
	return "retake"
}

// workers have a daemon each; all of them only read the workspace.
func (r *retakeTool) workers() int {
	if r.hurried {
		return 1
	}
	return 3
}

func (r *retakeTool) version() string { return firstLineOf(r.bin, "version") }

func firstLineOf(argv ...string) string {
	out, _ := exec.Command(argv[0], argv[1:]...).Output()
	line, _, _ := strings.Cut(string(out), "\n")
	line, _, _ = strings.Cut(line, " compiled with")
	line, _, _ = strings.Cut(line, " build:")
	return strings.TrimSpace(line)
}

func (r *retakeTool) notes() notes {
	return notes{
		Repository: "retake init; the store has a random password of its own; damage below data/store only, which contains the password, its copy and the copies of metadata",
		Restore:    "retake export to a tar archive, unpacked with tar; the states it refuses are read from retake mount",
		Repair:     []string{"retake doctor --repair --yes --no-input", "retake save"},
		Flags:      "none",
		Pause:      map[bool]string{false: settleTime.String() + " between the last save and retake daemon stop", true: "none: retake daemon stop right after the last save"}[r.hurried],
	}
}

// kind is the directory and, of an engine's blob, its first letter.
func (r *retakeTool) kind(rel string) string {
	dir, base := path.Split(rel)
	switch {
	case dir == "damaged/":
		return ""
	case strings.HasSuffix(base, ".f") && !strings.HasPrefix(base, "kopia."):
		return dir + base[:1]
	}
	return rel
}

func (r *retakeTool) store(b *bed) string { return filepath.Join(b.repo(), "data", "store") }

func (r *retakeTool) setup(b *bed) { b.env = []string{"RETAKE_HOME=" + b.repo()} }

func (r *retakeTool) create(ctx context.Context, b *bed) error {
	_, err := b.run(ctx, b.ws, r.bin, "init", "--no-input", b.ws)
	return err
}

// save has nothing to do for the first state: init has saved it.
func (r *retakeTool) save(ctx context.Context, b *bed, name string) error {
	if name == stateName(0) {
		return nil
	}
	_, err := b.run(ctx, b.ws, r.bin, "save", "--no-input", name)
	return err
}

func (r *retakeTool) open(context.Context, *bed) error { return nil }

func (r *retakeTool) settle() {
	if !r.hurried {
		time.Sleep(settleTime)
	}
}

func (r *retakeTool) restore(ctx context.Context, b *bed, i int, to string) (string, error) {
	archive := filepath.Join(b.local(), "export.tar")
	if err := fresh(b.local()); err != nil {
		return to, err
	}
	if _, err := b.run(ctx, b.ws, r.bin, "export", "--no-input", fmt.Sprint(i+1), archive); err != nil {
		return to, err
	}
	_, err := b.run(ctx, to, "tar", "-xf", archive)
	return to, err
}

func (r *retakeTool) mount(b *bed) []string { return []string{r.bin, "mount", b.point()} }

// mountedRoot is the directory whose name begins with the checkpoint's number.
func (r *retakeTool) mountedRoot(b *bed, i int) string {
	all, _ := filepath.Glob(filepath.Join(b.point(), fmt.Sprintf("%04d *", i+1)))
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

func (r *retakeTool) repair(ctx context.Context, b *bed) {
	b.run(ctx, b.ws, r.bin, "doctor", "--repair", "--yes", "--no-input") //nolint:errcheck // what it did not repair is counted
	r.save(ctx, b, stateName(newBackup))                                 //nolint:errcheck // the same
}

// close waits until the daemon has stopped: it must not write while its home is copied or removed.
func (r *retakeTool) close(ctx context.Context, b *bed) error {
	_, err := b.run(context.WithoutCancel(ctx), "/", r.bin, "daemon", "stop")
	return err
}
