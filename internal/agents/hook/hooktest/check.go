package hooktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/retake-dev/retake"
)

// textBound is one text of a signal and its limit.
type textBound struct {
	what string
	text string
	most int
}

// checkSignal checks one signal against the invariants of the hook package.
func checkSignal(facts Facts, s *retake.Signal) error {
	switch {
	case !slices.Contains(retake.SignalKinds, s.Kind):
		return fmt.Errorf("kind %q", s.Kind)
	case s.Agent != facts.Agent:
		return fmt.Errorf("agent %q, want %q", s.Agent, facts.Agent)
	case !strings.HasPrefix(string(s.ID), retake.SignalPrefix) || s.Time.IsZero():
		return fmt.Errorf("id %q, time %v", s.ID, s.Time)
	case !isCleanID(s.Session) || strings.Trim(s.Session, ".") == "":
		return fmt.Errorf("session %q", s.Session)
	case !isCleanID(s.Turn) || !isCleanID(s.Subagent) || !isCleanID(s.Version):
		return fmt.Errorf("turn %q, subagent %q, version %q", s.Turn, s.Subagent, s.Version)
	case !isCleanAbs(s.Dir) || s.Transcript != "" && !isCleanAbs(s.Transcript):
		return fmt.Errorf("directory %q, transcript %q", s.Dir, s.Transcript)
	case s.Running < 0:
		return fmt.Errorf("running %d", s.Running)
	}
	return errors.Join(checkTasks(s.Tasks), checkCall(s), checkTexts([]textBound{
		{"prompt", s.Prompt, 64 << 10}, {"message", s.Message, 256 << 10}, {"reason", s.Reason, 256}, {"failed", s.Failed, 4 << 10},
		{"directory", s.Dir, 4 << 10}, {"transcript", s.Transcript, 4 << 10},
	}))
}

// isCleanAbs reports whether a path is absolute and clean.
func isCleanAbs(path string) bool { return filepath.IsAbs(path) && filepath.Clean(path) == path }

func checkTexts(texts []textBound) error {
	for _, b := range texts {
		if len(b.text) > b.most || !utf8.ValidString(b.text) {
			return fmt.Errorf("%s of %d bytes, valid %v; at most %d", b.what, len(b.text), utf8.ValidString(b.text), b.most)
		}
	}
	return nil
}

// checkCall checks that a signal has a call exactly if its kind needs one, and that the
// call is bounded.
func checkCall(s *retake.Signal) error {
	c := s.Call
	if (s.Kind == retake.SignalCall || s.Kind == retake.SignalCalled) != (c != nil) {
		return fmt.Errorf("kind %q, call %v", s.Kind, c)
	}
	if c == nil {
		return nil
	}
	if !isCleanID(c.ID) || c.Tool == "" {
		return fmt.Errorf("call %q of %q", c.ID, c.Tool)
	}
	if len(c.Input) > 0 && !json.Valid(c.Input) {
		return errors.New("input is no JSON")
	}
	if len(c.Paths) > 256 {
		return fmt.Errorf("%d paths", len(c.Paths))
	}
	texts := []textBound{
		{"tool", c.Tool, 256}, {"server", c.Server, 256}, {"command", c.Command, 64 << 10}, {"output", c.Output, 64 << 10},
		{"input", string(c.Input), 64 << 10},
	}
	for _, p := range c.Paths {
		if p == "" || strings.ContainsRune(p, 0) {
			return fmt.Errorf("path %q", p)
		}
		texts = append(texts, textBound{"path", p, 4 << 10})
	}
	return checkTexts(texts)
}

func checkTasks(tasks []retake.Task) error {
	if len(tasks) > 256 {
		return fmt.Errorf("%d tasks", len(tasks))
	}
	seen := make(map[string]bool)
	for _, t := range tasks {
		if t.ID == "" || !isCleanID(t.ID) || seen[t.ID] || !slices.Contains(retake.TaskStatuses, t.Status) {
			return fmt.Errorf("task %+v", t)
		}
		seen[t.ID] = true
		if err := checkTexts([]textBound{{"title", t.Title, 1 << 10}}); err != nil {
			return err
		}
	}
	return nil
}

// isCleanID reports whether an id contains nothing special to a path, a terminal or a shell.
func isCleanID(s string) bool {
	for _, c := range s {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-", c) {
			return false
		}
	}
	return len(s) <= 128
}
