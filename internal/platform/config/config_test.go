package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/config"
)

func loadSettings(t *testing.T, path string) *config.Settings {
	t.Helper()
	s, err := config.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPolicyComesFromTheUsersFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "deep", "config.json")
	s := loadSettings(t, path)
	ws := retake.WorkspaceID("ws_01a1dd17-0813-7494-ba9f-b5002a6f32a6")
	if !s.Policy(ws).IsZero() {
		t.Error("by default something is left out")
	}
	for key, value := range map[string]string{"exclude": "*.iso, tmp/", "gitignore": "true", string(ws) + ".max-new-file": "2MB"} {
		if err := s.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	want := retake.Policy{GitIgnore: true, MaxNewFile: 2e6, Exclude: []string{"*.iso", "tmp/"}}
	if d := cmp.Diff(want, loadSettings(t, path).Policy(ws)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got := loadSettings(t, path).Policy("ws_of-another"); got.MaxNewFile != 0 {
		t.Error("a setting of one workspace is everybody's")
	}
	if err := s.Unset("exclude"); err != nil {
		t.Fatal(err)
	}
	if v, err := loadSettings(t, path).Value("exclude"); v != "" || err != nil {
		t.Errorf("after unset: %q %v", v, err)
	}
	if i, err := os.Stat(path); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("mode of the file: %v %v", i, err)
	}
}

func TestSettingsRefuseNonsense(t *testing.T) {
	t.Parallel()
	s := loadSettings(t, filepath.Join(t.TempDir(), "c"))
	for key, value := range map[string]string{"floor": "much", "gitignore": "perhaps", "max-new-file": "-1"} {
		if err := s.Set(key, value); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%s = %s: %v", key, value, err)
		}
	}
	if err := s.Set("colour", "red"); !retake.IsKind(err, retake.NotFound) {
		t.Errorf("an unknown key: %v", err)
	}
}

func TestSizesAndFloor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"": 0, "500": 500, "20KB": 20e3, "1.5 GB": 15e8, "2t": 2e12, "10M": 10e6} {
		if got, err := config.ParseSize(text); err != nil || got != want {
			t.Errorf("%q is %d (%v), want %d", text, got, err, want)
		}
	}
	s := loadSettings(t, filepath.Join(t.TempDir(), "c"))
	if got := s.Floor(1e9); got != 5e7 {
		t.Errorf("floor of a small disk: %d", got)
	}
	if got := s.Floor(1e13); got != 10e9 {
		t.Errorf("floor of a large disk: %d", got)
	}
	if err := s.Set("floor", "1GB"); err != nil || s.Floor(1e13) != 1e9 {
		t.Errorf("floor as set: %d %v", s.Floor(1e13), err)
	}
}
