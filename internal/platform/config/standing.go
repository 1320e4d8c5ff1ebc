package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// standingPrefix begins the key of a verification that runs for every checkpoint; its name
// follows.
const standingPrefix = "verify."

const (
	maxStandingName    = 24
	maxStandingCommand = 4096
	defaultVerifyLimit = 10 * time.Minute
	minVerifyLimit     = time.Second
	maxVerifyLimit     = 24 * time.Hour
)

// Standing returns the verifications of every checkpoint of a workspace, sorted by name. One
// of the workspace overrides a general one of the same name, and an empty command disables it.
func (s *Settings) Standing(ws retake.WorkspaceID) []retake.Standing {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloadIfChanged()
	commands := map[string]string{}
	for key, command := range s.values {
		of, base := splitKey(key)
		name, ok := strings.CutPrefix(base, standingPrefix)
		if !ok || of != "" && of != ws || checkStandingName(name) != nil { // the file may have been edited by hand
			continue
		}
		if _, own := s.values[string(ws)+"."+base]; of == ws || !own {
			commands[name] = strings.TrimSpace(command)
		}
	}
	var out []retake.Standing
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		if commands[name] != "" {
			out = append(out, retake.Standing{Name: name, Command: commands[name]})
		}
	}
	return out
}

// standingSettings returns the settings that the user named. The caller holds mu.
func (s *Settings) standingSettings() []retake.Setting {
	var out []retake.Setting
	for _, key := range slices.Sorted(maps.Keys(s.values)) {
		ws, base := splitKey(key)
		if !strings.HasPrefix(base, standingPrefix) {
			continue
		}
		e := retake.Setting{Key: key, Value: s.values[key], From: "file", Help: "run after every turn"}
		if ws != "" {
			e.Default = s.values[base]
		}
		out = append(out, e)
	}
	return out
}

// VerifyLimit returns how long one verification may take in a workspace.
func (s *Settings) VerifyLimit(ws retake.WorkspaceID) time.Duration {
	d, err := parseVerifyLimit(s.workspaceValue(ws, "verify-limit"))
	if err != nil { // Set validates, but the file may have been edited by hand
		return defaultVerifyLimit
	}
	return d
}

// DrillsEnabled reports whether good checkpoints of a workspace are test-restored.
func (s *Settings) DrillsEnabled(ws retake.WorkspaceID) bool {
	return s.workspaceValue(ws, "drill") != "off"
}

func parseVerifyLimit(s string) (time.Duration, error) {
	d, err := time.ParseDuration(strings.TrimSpace(s))
	if err == nil && (d < minVerifyLimit || d > maxVerifyLimit) {
		err = fmt.Errorf("%q is not between 1s and 24h", s)
	}
	return d, err
}

// checkStandingName validates the name of a verification. It is part of refs such as
// good:test, and shown where there is little room.
func checkStandingName(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789._:-"
	if name != "" && len(name) <= maxStandingName && strings.Trim(name, letters) == "" {
		return nil
	}
	return &retake.Error{
		Kind: retake.Invalid, What: fmt.Sprintf("%q is no name for a verification", name), Safe: "Nothing was changed.",
		Hint: fmt.Sprintf("1 to %d of a-z, 0-9 and . _ : - as in verify.test", maxStandingName),
	}
}

func checkStandingCommand(line string) error {
	switch {
	case strings.ContainsRune(line, 0):
		return errors.New("a command can't contain NUL")
	case len(line) > maxStandingCommand:
		return fmt.Errorf("a command line has at most %d bytes", maxStandingCommand)
	}
	return nil
}
