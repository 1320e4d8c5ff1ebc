package diag_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/diag"
)

func newRecorder(t *testing.T) (*diag.Recorder, *clock.Manual, *bytes.Buffer, map[string]int) {
	t.Helper()
	var log bytes.Buffer
	counted := map[string]int{}
	c := clock.NewManual(time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC))
	return diag.New(slog.New(slog.NewTextHandler(&log, nil)), c, func(task string) { counted[task]++ }), c, &log, counted
}

func TestFailuresAreLoggedCountedAndRemembered(t *testing.T) {
	t.Parallel()
	r, _, log, counted := newRecorder(t)
	r.Run("summary", func() error { return nil })
	r.Run("summary", func() error { return errors.New("disk full") })
	r.Run("checks", func() error { panic("out of range") })
	r.Run("backup", func() error { return context.Canceled })
	r.Run("summary", func() error { return diag.ErrSkipped }) // does not hide the failure
	got := r.Failed()
	if len(got) != 2 || got[0].Name != "checks" || got[1].Name != "summary" {
		t.Fatalf("failed: %+v", got)
	}
	if s := got[1]; s.Runs != 2 || s.Failures != 1 || !s.Failing || s.Error != "disk full" || s.At.IsZero() {
		t.Errorf("summary: %+v", s)
	}
	if counted["checks"] != 1 || counted["summary"] != 1 || counted["backup"] != 0 {
		t.Errorf("counted: %v", counted)
	}
	for _, want := range []string{"task=summary", "disk full", "background task panicked", "diag_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	r.Run("summary", func() error { return nil })
	if s := r.Failed()[1]; s.Failing || s.Failures != 1 {
		t.Errorf("after it worked again: %+v", s)
	}
}

func TestRepeatedFailureIsLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	r, c, log, _ := newRecorder(t)
	for range 100 {
		r.Note("events", errors.New("not a directory"))
	}
	if n := strings.Count(log.String(), "not a directory"); n != 1 {
		t.Errorf("logged %d times", n)
	}
	r.Note("events", errors.New("another"))
	c.Advance(2 * time.Minute)
	r.Note("events", errors.New("another"))
	if n := strings.Count(log.String(), "another"); n != 2 {
		t.Errorf("another: logged %d times", n)
	}
	if f := r.Failed()[0]; f.Failures != 102 {
		t.Errorf("counted %d", f.Failures)
	}
}

func TestNilRecorderKeepsNothing(t *testing.T) {
	t.Parallel()
	var r *diag.Recorder
	ran := false
	r.Run("x", func() error { ran = true; panic("x") })
	r.Note("x", errors.New("x"))
	r.Log().Info("x")
	if !ran || r.Failed() != nil {
		t.Error("a nil recorder must run steps and keep nothing")
	}
}

func TestWatchedChecksAreAboutNow(t *testing.T) {
	t.Parallel()
	r, _, _, counted := newRecorder(t)
	err := errors.New("line 3")
	r.Watch("read a file", func() error { return err })
	err = diag.ErrSkipped // as before
	if got := r.Failed(); len(got) != 1 || !got[0].Failing || got[0].Failures != 1 || got[0].Error != "line 3" {
		t.Fatalf("while it is wrong: %+v", got)
	}
	err = nil
	if got := r.Failed(); len(got) != 1 || got[0].Failing {
		t.Errorf("once it is right: %+v", got)
	}
	if counted["read a file"] != 1 {
		t.Errorf("counted: %v", counted)
	}
	var none *diag.Recorder
	none.Watch("nothing", func() error { panic("it runs") })
}
