package agentstate

import (
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// pathFuncs returns functions that report whether a path named by a call exists, and whether it is
// inside the workspace. When in doubt it exists, and is outside: an extra checkpoint costs little.
func (s *Agents) pathFuncs(ws retake.Workspace, sig retake.Signal) (exists, inside func(string) bool) {
	exists = func(place string) bool {
		return slices.ContainsFunc(s.absolutePaths(sig, place), func(p string) bool { return s.pathExists(ws.Root, p) })
	}
	inside = func(place string) bool {
		return !slices.ContainsFunc(s.absolutePaths(sig, place), func(p string) bool { return !isBelow(ws.Root, p) })
	}
	return exists, inside
}

// absolutePaths returns where a path named by a call may be.
func (s *Agents) absolutePaths(sig retake.Signal, place string) []string {
	switch {
	case filepath.IsAbs(place):
		return []string{place}
	case place == "~" || strings.HasPrefix(place, "~/"):
		return []string{filepath.Join(s.workspaces.HomeDir, place[1:])}
	}
	var all []string
	for _, base := range callBaseDirs(sig) {
		if at := filepath.Join(base, place); !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return all
}

// isBelow reports whether a path is in a directory, with the links on the way to it resolved.
func isBelow(root, path string) bool {
	dir, err := workspace.RealPath(filepath.Dir(path))
	if err != nil {
		dir = filepath.Dir(filepath.Clean(path)) // it is not there
	}
	rel, err := filepath.Rel(root, filepath.Join(dir, filepath.Base(path)))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
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

// pathExists walks to a path in the workspace by handles, without following links. A path through a
// link counts as existing.
func (s *Agents) pathExists(root, path string) bool {
	rel, err := filepath.Rel(root, filepath.Clean(path))
	if err == nil && rel == "." {
		return true
	}
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return s.existsOutside(path)
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

// existsOutside reports whether a path outside of the workspace exists.
func (s *Agents) existsOutside(path string) bool {
	dir, err := s.workspaces.FS.OpenRoot(filepath.Dir(path))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer dir.Close() //nolint:errcheck // only looked
	_, err = dir.Lstat(filepath.Base(path))
	return !errors.Is(err, fs.ErrNotExist)
}
