package config_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/config"
)

const (
	here  = retake.WorkspaceID("ws_01a1dd17-0813-7494-ba9f-b5002a6f32a6")
	there = retake.WorkspaceID("ws_01a1dd17-0813-7494-ba9f-b5002a6f32a7")
)

func setAll(t *testing.T, s *config.Settings, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if err := s.Set(pairs[i], pairs[i+1]); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStandingOfAWorkspaceGoesBefore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "c")
	s := loadSettings(t, path)
	if got := s.Standing(here); len(got) != 0 {
		t.Fatalf("by default %v stand", got)
	}
	setAll(t, s, "verify.test", "make test", "verify.lint", "make lint", "verify.x.budget", "true",
		string(here)+".verify.test", "npm test", string(here)+".verify.lint", "  ", string(there)+".verify.e2e:login", "npm run e2e")
	want := []retake.Standing{{Name: "test", Command: "npm test"}, {Name: "x.budget", Command: "true"}}
	if d := cmp.Diff(want, loadSettings(t, path).Standing(here)); d != "" {
		t.Errorf("here, -want +got:\n%s", d)
	}
	want = []retake.Standing{{Name: "e2e:login", Command: "npm run e2e"}, {Name: "lint", Command: "make lint"}, {Name: "test", Command: "make test"}, {Name: "x.budget", Command: "true"}}
	if d := cmp.Diff(want, s.Standing(there)); d != "" {
		t.Errorf("there, -want +got:\n%s", d)
	}
	for key, want := range map[string]string{string(here) + ".verify.test": "npm test", string(there) + ".verify.test": "make test", "verify.none": ""} {
		if v, err := s.Value(key); v != want || err != nil {
			t.Errorf("%s is %q (%v), want %q", key, v, err, want)
		}
	}
	if err := s.Unset(string(here) + ".verify.test"); err != nil || s.Standing(here)[0].Command != "make test" {
		t.Errorf("after unset: %v %v", s.Standing(here), err)
	}
}

func TestStandingIsListedOnce(t *testing.T) {
	t.Parallel()
	s := loadSettings(t, filepath.Join(t.TempDir(), "c"))
	setAll(t, s, "verify.budget", "true", string(here)+".verify.floor", "x", string(here)+".keep-within", "7d")
	count := map[string]int{}
	for _, e := range s.List() {
		count[e.Key]++
	}
	for _, key := range []string{"verify.budget", string(here) + ".verify.floor", string(here) + ".keep-within", "budget", "verify-limit", "drill"} {
		if count[key] != 1 {
			t.Errorf("%s is listed %d times", key, count[key])
		}
	}
}

func TestStandingNames(t *testing.T) {
	t.Parallel()
	s := loadSettings(t, filepath.Join(t.TempDir(), "c"))
	for _, name := range []string{"t", "e2e:login", "a.b_c-9", strings.Repeat("x", 24)} {
		setAll(t, s, "verify."+name, "true")
	}
	for _, name := range []string{"", "Test", "a b", "a/b", "ä", "a\x1b", strings.Repeat("x", 25)} {
		if err := s.Set("verify."+name, "true"); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, command := range []string{"a\x00b", strings.Repeat("x", 5000)} {
		if err := s.Set("verify.t", command); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("a command of %d bytes: %v", len(command), err)
		}
	}
}

func TestVerifyLimitAndDrill(t *testing.T) {
	t.Parallel()
	s := loadSettings(t, filepath.Join(t.TempDir(), "c"))
	if s.VerifyLimit(here) != 10*time.Minute || !s.DrillsEnabled(here) {
		t.Errorf("by default %v, drills %v", s.VerifyLimit(here), s.DrillsEnabled(here))
	}
	setAll(t, s, "verify-limit", "90s", string(here)+".verify-limit", "1h", "drill", "off", string(there)+".drill", "on")
	if s.VerifyLimit(here) != time.Hour || s.VerifyLimit(there) != 90*time.Second || s.DrillsEnabled(here) || !s.DrillsEnabled(there) {
		t.Errorf("%v %v %v %v", s.VerifyLimit(here), s.VerifyLimit(there), s.DrillsEnabled(here), s.DrillsEnabled(there))
	}
	for key, value := range map[string]string{"verify-limit": "0", "drill": "perhaps"} {
		if err := s.Set(key, value); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%s = %s: %v", key, value, err)
		}
	}
	for _, value := range []string{"", "soon", "-1m", "10ms", "48h"} {
		if err := s.Set("verify-limit", value); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%q: %v", value, err)
		}
	}
}

func TestVerifyEnvKeepsNoSecret(t *testing.T) {
	t.Parallel()
	token := "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	c := config.Config{Environ: []string{
		"PATH=/old", "PATH=/usr/bin:/home/ann/bin", "HOME=/home/ann", "LANG=C.UTF-8", "LC_TIME=C", "LC_=x", "XDG_CACHE_HOME=/c", "GOPATH=/go", "VIRTUAL_ENV=/venv",
		"AWS_SECRET_ACCESS_KEY=abc", "GITHUB_TOKEN=" + token, "EDITOR=vi", "LD_PRELOAD=/evil.so", "GOFLAGS=-toolexec=x", "NODE_OPTIONS=-r x", "BASH_ENV=/x",
		"XDG_TOKEN=" + token, "TMPDIR=a\nb", "TERM=" + strings.Repeat("x", 40<<10), "no pair",
	}}
	want := []string{"GOPATH=/go", "HOME=/home/ann", "LANG=C.UTF-8", "LC_TIME=C", "PATH=/usr/bin:/home/ann/bin", "VIRTUAL_ENV=/venv", "XDG_CACHE_HOME=/c"}
	if got := c.VerifyEnv(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
