package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake/internal/platform/config"
)

// A settings file that was cut anywhere never ends the work: its values apply, or the defaults and
// a reason. What nobody could read is not overwritten.
func TestSettingsThatWereCut(t *testing.T) {
	t.Parallel()
	whole := "{\n  \"gitignore\": \"true\",\n  \"quiet\": \"on\"\n}\n"
	path := filepath.Join(t.TempDir(), "config.json")
	damaged := 0
	for n := range len(whole) + 1 {
		if err := os.WriteFile(path, []byte(whole[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := config.Load(path)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		value, err := s.Value("gitignore")
		if err != nil {
			t.Fatal(err)
		}
		switch damage := s.Damage(); {
		case damage == nil && value != "true":
			t.Errorf("cut at %d: the default applies and nobody says so", n)
		case damage != nil && value != "false":
			t.Errorf("cut at %d: half of the file applies", n)
		case damage != nil:
			damaged++
			if err := s.Set("quiet", "off"); err == nil {
				t.Errorf("cut at %d: the file was overwritten", n)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != whole[:n] {
				t.Errorf("cut at %d: the file is %q, %v", n, b, err)
			}
		}
	}
	if damaged < 40 {
		t.Errorf("only %d cuts were found", damaged)
	}
}

// Who mends the file is heard by a process that runs.
func TestMendedSettingsApply(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := config.Load(path)
	if err != nil || s.Damage() == nil {
		t.Fatalf("half a file: %v, %v", err, s.Damage())
	}
	if err := os.WriteFile(path, []byte(`{"quiet": "on"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Damage(); err != nil {
		t.Errorf("mended, and still %v", err)
	}
	if v, err := s.Value("quiet"); err != nil || v != "on" {
		t.Errorf("quiet is %q, %v", v, err)
	}
}
