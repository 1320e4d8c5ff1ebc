package config_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

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

// The last settings that could be read apply while the file cannot be: what is excluded stays
// excluded, and what is kept is kept. Without them nothing is cleaned up.
func TestTheLastSettingsApply(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(`{"exclude": ".env", "keep-within": "90d", "budget": "1GB"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	load := func() *config.Settings {
		s, err := config.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if err := load().KeepCopy(); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{", "null", "[]"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s := load()
		if s.Damage() == nil || s.KeepCopy() != nil || len(s.Policy("").Exclude) != 1 || s.KeepWithin("") != 90*24*time.Hour || s.Budget(1<<40) != 1e9 {
			t.Errorf("%q: %v, %v, %v, %v", text, s.Damage(), s.Policy(""), s.KeepWithin(""), s.Budget(1<<40))
		}
	}
	if err := os.Remove(path + ".last"); err != nil {
		t.Fatal(err)
	}
	if s := load(); s.KeepWithin("") != 0 || s.GoneAfter("") != 0 || s.Budget(1<<40) < 1<<40 {
		t.Errorf("without a copy: %v, %v, %v", s.KeepWithin(""), s.GoneAfter(""), s.Budget(1<<40))
	}
}
