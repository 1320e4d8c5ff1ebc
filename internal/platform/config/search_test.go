package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake/internal/platform/config"
)

func TestProgramsAreFoundInAbsoluteDirectoriesOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"runs": 0o755, "reads": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	c := config.Config{Environ: []string{"PATH=/nowhere", "PATH=.:relative:" + dir}}
	if path, ok := c.LookPath("runs"); !ok || path != filepath.Join(dir, "runs") {
		t.Errorf("Look: %q, %v", path, ok)
	}
	for _, name := range []string{"reads", "gone", "", "../" + filepath.Base(dir) + "/runs", "search.go"} {
		if path, ok := c.LookPath(name); ok {
			t.Errorf("Look finds %q at %s", name, path)
		}
	}
	if c.EnvValue("HOME") != "" || c.EnvValue("PATH") == "/nowhere" {
		t.Error("Var answers what is not there, or not the last")
	}
}

func TestSearchPathHoldsAbsoluteDirectoriesOnly(t *testing.T) {
	t.Parallel()
	if got := (config.Config{Environ: []string{"PATH=.:/a:relative::/b"}}).SearchPath(); got != "/a:/b" {
		t.Errorf("%q", got)
	}
	if got := (config.Config{Environ: []string{"PATH=."}}).SearchPath(); !filepath.IsAbs(got) {
		t.Errorf("%q", got)
	}
}
