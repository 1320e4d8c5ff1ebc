package config_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-dev/retake"
)

func TestBudget(t *testing.T) {
	t.Parallel()
	s := loadSettings(t, filepath.Join(t.TempDir(), "c"))
	for total, want := range map[int64]int64{1e9: 1e8, 100e9: 10e9, 1e13: 20e9} {
		if got := s.Budget(total); got != want {
			t.Errorf("of a disk with %d: %d, want %d", total, got, want)
		}
	}
	if err := s.Set("budget", "5GB"); err != nil || s.Budget(1e13) != 5e9 {
		t.Errorf("as set: %d %v", s.Budget(1e13), err)
	}
	for _, bad := range []string{"much", "-1GB"} {
		if err := s.Set("budget", bad); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := s.Set("budget", "0"); err != nil || s.Budget(1e9) != 1e8 { // nothing at all is no budget
		t.Errorf("0: %d %v", s.Budget(1e9), err)
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	const ws = retake.WorkspaceID("ws_0197a1de-0000-7000-8000-000000000001")
	s := loadSettings(t, filepath.Join(t.TempDir(), "c"))
	if got := s.KeepWithin(ws); got != 30*day {
		t.Errorf("by default: %v", got)
	}
	for text, want := range map[string]time.Duration{"7d": 7 * day, "12w": 84 * day, "48h": 48 * time.Hour, "0": 0, "0d": 0} {
		if err := s.Set("keep-within", text); err != nil || s.KeepWithin(ws) != want {
			t.Errorf("%q: %v %v", text, s.KeepWithin(ws), err)
		}
	}
	for _, bad := range []string{"", "30", "d", "-1d", "1.5d", "99999999w", "30 days"} {
		if err := s.Set("keep-within", bad); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := s.Set("keep-within", "5d"); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(string(ws)+".keep-within", "3d"); err != nil || s.KeepWithin(ws) != 3*day || s.KeepWithin("ws_other") != 5*day {
		t.Errorf("of one workspace: %v, of others %v, %v", s.KeepWithin(ws), s.KeepWithin("ws_other"), err)
	}
}
