package config_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/config"
)

const fuzzedWorkspace retake.WorkspaceID = "ws_0190f3a1-2b4c-7d5e-8f60-718293a4b5c6"

func settingsFile(t *testing.T, text []byte) (path string, s *config.Settings) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := config.Load(path)
	if err != nil {
		t.Fatalf("a file that is there cannot be loaded: %v", err)
	}
	return path, s
}

// People edit config.json by hand. Whatever they write, no limit is negative, a file that cannot be
// read deletes no checkpoint, and it is not overwritten.
func FuzzSettingsFile(f *testing.F) {
	f.Add([]byte(`{"gitignore":"true","quiet":"on","budget":"5GB","keep-within":"30d"}`))
	f.Add([]byte(`{"ws_0190f3a1-2b4c-7d5e-8f60-718293a4b5c6.exclude":".env, *.log","verify.test":"go test ./...","gone-after":"1w"}`))
	f.Add([]byte(`{"floor":"-1","max-new-file":"1e3","daemon-idle":"-4h","verify-limit":"999h","tracker":"magic"}`))
	f.Add([]byte(`{"quiet":`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, text []byte) {
		path, s := settingsFile(t, text)
		const disk = 1 << 40
		p := s.Policy(fuzzedWorkspace)
		for what, n := range map[string]int64{
			"floor": s.Floor(disk), "budget": s.Budget(disk), "max-new-file": p.MaxNewFile, "daemon-idle": int64(s.IdleTimeout()), "verify-limit": int64(s.VerifyLimit("")),
			"keep-within": int64(s.KeepWithin(fuzzedWorkspace)), "gone-after": int64(s.GoneAfter(fuzzedWorkspace)),
		} {
			if n < 0 {
				t.Errorf("%s is %d", what, n)
			}
		}
		for _, v := range s.Standing(fuzzedWorkspace) {
			if v.Command == "" || v.Name == "" {
				t.Errorf("a check without a name or a command: %+v", v)
			}
		}
		if s.Damage() == nil {
			return
		}
		if s.KeepWithin("") != 0 || s.GoneAfter("") != 0 || s.Budget(disk) < disk {
			t.Errorf("a file that cannot be read deletes checkpoints: %v, %v, %d", s.KeepWithin(""), s.GoneAfter(""), s.Budget(disk))
		}
		if err := s.Set("quiet", "on"); err == nil {
			t.Error("a file that cannot be read was overwritten")
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.Equal(b, text) {
			t.Errorf("the file changed to %q, %v", b, err)
		}
	})
}

// A value that Set accepts is what the next process reads; one that it refuses changes nothing.
func FuzzSet(f *testing.F) {
	f.Add("exclude", "*.log, build/")
	f.Add("ws_0190f3a1-2b4c-7d5e-8f60-718293a4b5c6.max-new-file", " 1.5 gb")
	f.Add("verify.test", "go test ./...")
	f.Add("paused", "2026-03-02T12:00:00Z")
	f.Add("keep-within", "30d")
	f.Add("no-such-key", "")
	f.Fuzz(func(t *testing.T, key, value string) {
		before := []byte(`{"quiet":"on"}`)
		path, s := settingsFile(t, before)
		if err := s.Set(key, value); err != nil {
			if b, rerr := os.ReadFile(path); rerr != nil || !bytes.Equal(b, before) {
				t.Fatalf("refused with %v, and the file is %q, %v", err, b, rerr)
			}
			return
		}
		next, err := config.Load(path)
		if err != nil || next.Damage() != nil {
			t.Fatalf("what Set wrote cannot be read: %v, %v", err, next.Damage())
		}
		got, err := next.Value(key)
		if err != nil || got != value {
			t.Fatalf("%q was set to %q and is read as %q, %v", key, value, got, err)
		}
		if quiet, err := next.Value("quiet"); key != "quiet" && (err != nil || quiet != "on") {
			t.Fatalf("another key changed to %q, %v", quiet, err)
		}
	})
}

// A size that is accepted is not negative.
func FuzzParseSize(f *testing.F) {
	for _, text := range []string{"", "500", "20KB", " 1.5 gb ", "9e18", "-0", "1e999", "0x1p4TB", "inf", "NaN"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := config.ParseSize(text)
		if err == nil && n < 0 {
			t.Fatalf("%q is %d bytes", text, n)
		}
	})
}
