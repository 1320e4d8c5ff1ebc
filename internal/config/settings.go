package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
)

// Settings is the user's file: keys and values, and the same keys for one
// workspace under "WORKSPACE-ID.key", which go before.
type Settings struct {
	path   string
	values map[string]string
}

// keys are all there is. A default of "" for a size is no limit.
var keys = []struct{ key, def, help string }{
	{"exclude", "", "patterns that are never captured, in git's form, separated by commas"},
	{"floor", "", "bytes that stay free on the store's disk; default: 5 % of it, at most 10GB"},
	{"gitignore", "false", "leave out what git ignores"},
	{"max-new-file", "", "leave out new files over this size"},
}

// Load reads the file; a missing one is empty.
func Load(path string) (*Settings, error) {
	s := &Settings{path: path, values: map[string]string{}}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	if err := json.Unmarshal(b, &s.values); err != nil {
		return nil, &retake.Error{Kind: retake.Invalid, What: "the settings in " + path + " cannot be read", Hint: "mend or remove the file", Err: err}
	}
	return s, nil
}

// List answers every key with its value, and those of single workspaces.
func (s *Settings) List() []retake.Setting {
	var out []retake.Setting
	for _, k := range keys {
		e := retake.Setting{Key: k.key, Value: k.def, Default: k.def, From: "default", Help: k.help}
		if v, ok := s.values[k.key]; ok {
			e.Value, e.From = v, "file"
		}
		out = append(out, e)
		for _, key := range slices.Sorted(maps.Keys(s.values)) {
			if strings.HasSuffix(key, "."+k.key) {
				out = append(out, retake.Setting{Key: key, Value: s.values[key], Default: e.Value, From: "file", Help: k.help})
			}
		}
	}
	return out
}

// Value answers one key.
func (s *Settings) Value(key string) (string, error) {
	_, def, err := known(key)
	if err != nil {
		return "", err
	}
	if v, ok := s.values[key]; ok {
		return v, nil
	}
	return def, nil
}

func known(key string) (base, def string, err error) {
	base = key
	if ws, rest, ok := strings.Cut(key, "."); ok {
		if _, err := retake.ParseWorkspaceID(ws); err == nil {
			base = rest
		}
	}
	var names []string
	for _, k := range keys {
		if k.key == base {
			return base, k.def, nil
		}
		names = append(names, k.key)
	}
	return "", "", &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no setting %s", key), Safe: "Nothing was changed.", Hint: "there are: " + strings.Join(names, ", ")}
}

// Set changes one key, after looking that its value makes sense.
func (s *Settings) Set(key, value string) error {
	base, _, err := known(key)
	if err != nil {
		return err
	}
	switch base {
	case "floor", "max-new-file":
		_, err = ParseSize(value)
	case "gitignore":
		_, err = strconv.ParseBool(value)
	}
	if err != nil {
		return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%q does not fit %s", value, key), Safe: "Nothing was changed.", Err: err}
	}
	s.values[key] = value
	return s.write()
}

// Unset puts a key back to its default.
func (s *Settings) Unset(key string) error {
	if _, _, err := known(key); err != nil {
		return err
	}
	delete(s.values, key)
	return s.write()
}

func (s *Settings) write() error {
	b, err := json.MarshalIndent(s.values, "", "  ")
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	tmp := s.path + ".new"
	if err := os.WriteFile(tmp, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	if err := os.Rename(tmp, s.path); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	return nil
}

// Policy is what the user leaves out of a workspace.
func (s *Settings) Policy(ws retake.WorkspaceID) retake.Policy {
	var p retake.Policy
	p.GitIgnore, _ = strconv.ParseBool(s.of(ws, "gitignore")) // Set looked
	p.MaxNewFile, _ = ParseSize(s.of(ws, "max-new-file"))     // Set looked
	for _, e := range strings.Split(s.of(ws, "exclude"), ",") {
		if e = strings.TrimSpace(e); e != "" {
			p.Exclude = append(p.Exclude, e)
		}
	}
	return p
}

func (s *Settings) of(ws retake.WorkspaceID, key string) string {
	if v, ok := s.values[string(ws)+"."+key]; ok {
		return v
	}
	v, _ := s.Value(key) // a key of our own
	return v
}

const (
	defaultFloor = 10e9
	floorShare   = 20 // 5 % of a small disk
)

// Floor is how many bytes must stay free on a disk of that size.
func (s *Settings) Floor(total int64) int64 {
	if v := s.values["floor"]; v != "" {
		if n, err := ParseSize(v); err == nil {
			return n
		}
	}
	return min(int64(defaultFloor), total/floorShare)
}

// ParseSize reads 500, 20KB, 10MB, 5GB and 1TB, in thousands.
func ParseSize(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	text := strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "B")
	unit := int64(1)
	for i, u := range []string{"K", "M", "G", "T"} {
		if t, ok := strings.CutSuffix(text, u); ok {
			text = t
			for range i + 1 {
				unit *= 1000
			}
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || n < 0 || n*float64(unit) > 9e18 {
		return 0, fmt.Errorf("%q is not a size such as 5GB", s)
	}
	return int64(n * float64(unit)), nil
}
