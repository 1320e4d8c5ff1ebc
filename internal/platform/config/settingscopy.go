package config

import (
	"encoding/json"
	"errors"
	"maps"
	"os"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Damage says why the file is not used, or is nil. It looks at the file again.
func (s *Settings) Damage() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloadIfChanged()
	if s.damage == nil {
		return nil // not the typed one
	}
	return s.damage
}

// Fallback names the settings that apply while the file cannot be read.
func (s *Settings) Fallback() string {
	if s.keepsAll() {
		return "the defaults apply and nothing is cleaned up"
	}
	return "the last ones that could be read apply"
}

// copyPath is where the last settings that could be read are kept.
func (s *Settings) copyPath() string { return s.path + ".last" }

func readValues(path string) (map[string]string, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseValues(b)
}

func parseValues(b []byte) (values map[string]string, err error) {
	if err = json.Unmarshal(b, &values); err == nil && values == nil {
		err = errors.New("it holds null")
	}
	return values, err
}

// KeepCopy copies settings that can be read, for the time when they cannot be.
func (s *Settings) KeepCopy() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloadIfChanged()
	if s.damage != nil || s.fileInfo == nil {
		return nil
	}
	if kept, err := readValues(s.copyPath()); err == nil && maps.Equal(kept, s.values) {
		return nil
	}
	b, err := json.MarshalIndent(s.values, "", "  ")
	if err != nil {
		return err
	}
	return fsx.ReplaceFile(s.copyPath(), append(b, '\n'), s.fileMode())
}

// keepsAll reports whether it is not known how long checkpoints are kept. The caller does not hold
// mu.
func (s *Settings) keepsAll() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloadIfChanged()
	return s.damage != nil && !s.hasCopy
}
