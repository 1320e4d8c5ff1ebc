//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake/internal/platform/config"
)

const password = "damage"

// notes say how a tool was used.
type notes struct {
	Repository string   `json:"repository"`
	Restore    string   `json:"restore"`
	Repair     []string `json:"repair"`
	Flags      string   `json:"flags_that_are_not_default"`
	Pause      string   `json:"pause_after_the_last_save,omitempty"`
}

// built is a peer that is built from its module.
type built struct{ module, version, pkg, stamp string }

var (
	kopiaModule  = built{"github.com/kopia/kopia", "0.23.1", ".", "github.com/kopia/kopia/repo.BuildVersion=v0.23.1"}
	resticModule = built{"github.com/restic/restic", "0.18.1", "./cmd/restic", "main.version=0.18.1"}
)

// findTools builds what is not there yet.
func findTools(ctx context.Context, f flags, tmp string) ([]tool, error) {
	makers := []struct {
		name string
		make func() (tool, error)
	}{
		{"retake", func() (tool, error) { return newRetake(ctx, f.retake, tmp, false) }},
		{"retake-hurried", func() (tool, error) { return newRetake(ctx, f.retake, tmp, true) }},
		{"restic", func() (tool, error) {
			bin, err := resticModule.find(ctx, tmp)
			return &restic{bin: bin}, err
		}},
		{"borg", func() (tool, error) { return newBorg(ctx) }},
		{"kopia", func() (tool, error) {
			bin, err := kopiaModule.find(ctx, tmp)
			return &kopia{bin: bin}, err
		}},
	}
	var out []tool
	for _, m := range makers {
		if f.only != "" && f.only != m.name {
			continue
		}
		t, err := m.make()
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", m.name, err)
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%q is not one of the tools", f.only)
	}
	return out, nil
}

// find takes the program that was built before, or builds it in the user's cache.
func (p built) find(ctx context.Context, tmp string) (string, error) {
	conf, err := config.Read()
	if err != nil || conf.Home == "" {
		return "", fmt.Errorf("no home directory to keep it in")
	}
	kept := filepath.Join(conf.Home, ".cache", "retake-bench", filepath.Base(p.module)+"-"+p.version)
	if _, err := os.Stat(kept); err == nil {
		return kept, nil
	}
	say("building %s %s", p.module, p.version)
	text, err := goCommand(ctx, tmp, "mod", "download", "-json", p.module+"@v"+p.version)
	if err != nil {
		return "", err
	}
	var at struct{ Dir string }
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		return "", fmt.Errorf("read module: %w", err)
	}
	source := filepath.Join(tmp, "source")
	defer os.RemoveAll(source) //nolint:errcheck // is in our own directory, which is removed anyway
	if err := os.CopyFS(source, os.DirFS(at.Dir)); err != nil {
		return "", fmt.Errorf("copy source: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		return "", fmt.Errorf("make directory: %w", err)
	}
	// A new name first: an interrupted build must not be taken for a complete one.
	if _, err := goCommand(ctx, source, "build", "-buildvcs=false", "-ldflags", "-X "+p.stamp, "-o", kept+".new", p.pkg); err != nil {
		return "", err
	}
	return kept, os.Rename(kept+".new", kept)
}

// goCommand runs the go command in the environment of the caller.
func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = dir
	var errs strings.Builder
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %.500s", args[0], err, errs.String())
	}
	return string(out), nil
}

// firstDir is the first directory of a path, or the name of a file that is in none.
func firstDir(rel string) string {
	first, _, _ := strings.Cut(rel, "/")
	return first
}

// listed is a snapshot as restic and kopia list it.
type listed struct {
	ID   string `json:"id"`
	Tags any    `json:"tags"` // restic: a list, kopia: an object
}

// parseIDs returns the ids of snapshots by the name of their state; of several, the last.
func parseIDs(text string) map[string]string {
	var all []listed
	if json.Unmarshal([]byte(text), &all) != nil {
		return nil
	}
	out := map[string]string{}
	for _, s := range all {
		switch tags := s.Tags.(type) {
		case []any:
			for _, t := range tags {
				out[fmt.Sprint(t)] = s.ID
			}
		case map[string]any:
			for _, t := range tags {
				out[fmt.Sprint(t)] = s.ID
			}
		}
	}
	return out
}
