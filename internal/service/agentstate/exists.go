package agentstate

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// pathExistsFunc returns a function that reports whether a path named by a call exists.
// When in doubt it does: an extra checkpoint costs little.
func (s *Agents) pathExistsFunc(ws retake.Workspace, sig retake.Signal) func(string) bool {
	bases := callBaseDirs(sig)
	return func(place string) bool {
		if filepath.IsAbs(place) {
			return s.pathExists(ws.Root, place)
		}
		for _, base := range bases {
			if s.pathExists(ws.Root, filepath.Join(base, place)) {
				return true
			}
		}
		return false
	}
}

// callBaseDirs returns the directories that the paths of a call may be relative to: the
// agent's directory, and those named in the tool's input.
func callBaseDirs(sig retake.Signal) []string {
	here := sig.Dir
	if real, err := workspace.RealPath(here); err == nil {
		here = real
	}
	bases := []string{here}
	if sig.Call == nil {
		return bases
	}
	var in map[string]json.RawMessage
	if json.Unmarshal(sig.Call.Input, &in) != nil {
		return bases
	}
	for _, key := range []string{"workdir", "cwd", "directory", "dir_path", "dir", "working_directory"} {
		var dir string
		if json.Unmarshal(in[key], &dir) != nil || dir == "" || strings.ContainsRune(dir, 0) {
			continue
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(here, dir)
		}
		bases = append(bases, dir)
	}
	return bases
}

// pathExists walks to a path by handles, without following links. A path outside the
// workspace or through a link counts as existing.
func (s *Agents) pathExists(root, path string) bool {
	rel, err := filepath.Rel(root, filepath.Clean(path))
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return true
	}
	dir, err := s.workspaces.FS.OpenRoot(root)
	if err != nil {
		return true
	}
	names := strings.Split(rel, string(filepath.Separator))
	for _, name := range names[:len(names)-1] {
		var next fsx.Dir
		info, err := dir.Lstat(name)
		if err == nil && info.Type != fsx.Directory {
			err = errors.New("not a directory") // or a link, which may lead anywhere
		}
		if err == nil {
			next, err = dir.OpenDir(name)
		}
		_ = dir.Close() // only read
		if err != nil {
			return !errors.Is(err, fs.ErrNotExist)
		}
		dir = next
	}
	_, err = dir.Lstat(names[len(names)-1])
	_ = dir.Close() // only read
	return !errors.Is(err, fs.ErrNotExist)
}
