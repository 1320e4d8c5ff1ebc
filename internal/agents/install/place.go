package install

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
)

// settingsFile is where a file of settings is.
type settingsFile struct {
	path     string
	baseDir  string    // a directory that is not ours to make or to take away
	realPath string    // the file behind the links
	events   eventPath // where the events are in it
}

// locateFile makes a place out of a directory that stays and a path below it.
func (at agentSite) locateFile(base string, below ...string) (settingsFile, error) {
	pl := settingsFile{path: filepath.Join(append([]string{base}, below...)...), baseDir: base, events: hooksPath}
	real, err := resolveLinks(pl.path)
	if err != nil {
		return pl, err
	}
	pl.realPath = real
	if at.scope == Project {
		return pl, at.checkInProject(pl)
	}
	return pl, nil
}

// checkInProject refuses a link that leads out of the project: what lies in a project is
// written by others, and their links do not choose what we change.
func (at agentSite) checkInProject(pl settingsFile) error {
	root, err := filepath.EvalSymlinks(at.Project)
	if err != nil {
		return &retake.Error{Kind: retake.NotFound, What: at.Project + " cannot be opened", Safe: nothingChanged, Err: err}
	}
	if rel, err := filepath.Rel(root, pl.realPath); err == nil && filepath.IsLocal(rel) {
		return nil
	}
	return &retake.Error{
		Kind: retake.Denied, What: fmt.Sprintf("%s leads out of the project, to %s", pl.path, pl.realPath), Safe: nothingChanged,
		Hint: "install for the user instead of the project, or put a file in place of the link",
	}
}

// resolveLinks gives the path behind all links. The end of the path may be missing; a
// link may not lead to nothing.
func resolveLinks(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", &retake.Error{Kind: retake.Denied, What: path + " cannot be opened", Safe: nothingChanged, Err: err}
	}
	if _, err := os.Lstat(path); err == nil {
		return "", &retake.Error{
			Kind: retake.Denied, What: path + " is a link that leads to nothing", Safe: nothingChanged,
			Hint: "make the file that it leads to, or take the link away",
		}
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path, nil
	}
	if real, err = resolveLinks(parent); err != nil {
		return "", err
	}
	return filepath.Join(real, filepath.Base(path)), nil
}

// read gives the bytes of the file, and whether it is there.
func (pl settingsFile) read() ([]byte, bool, error) {
	info, err := os.Stat(pl.realPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("look at file: %w", err)
	}
	// Reading a pipe would wait for ever.
	if !info.Mode().IsRegular() {
		return nil, false, errors.New("it is no regular file")
	}
	f, err := os.Open(pl.realPath)
	if err != nil {
		return nil, false, fmt.Errorf("open file: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written to it
	text, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return nil, false, fmt.Errorf("read file: %w", err)
	}
	if len(text) > maxFileSize {
		return nil, true, errTooLarge
	}
	return text, true, nil
}

// newChange begins a change of a file.
func (at agentSite) newChange(pl settingsFile) (Change, error) {
	text, there, err := pl.read()
	if err != nil {
		return Change{}, unreadableError(pl.path, err)
	}
	return Change{
		Agent: at.agent, Scope: at.scope, File: pl.path, Before: text, After: text, Existed: there,
		baseDir: pl.baseDir, mode: fileMode,
	}, nil
}

// configDir is a directory of the user, moved by a variable when that is set.
func (p Places) configDir(key string, below ...string) string {
	if dir := p.absEnv(key); dir != "" {
		return dir
	}
	return filepath.Join(append([]string{p.Home}, below...)...)
}

// fileInAgentDir makes the place of a file in the directory of an agent: below the home of
// the user, where a variable says, or below the project.
func fileInAgentDir(key, dir string, below ...string) func(agentSite) (settingsFile, error) {
	parts := append(strings.Split(dir, "/"), below...)
	return func(at agentSite) (settingsFile, error) {
		if at.scope == Project {
			return at.locateFile(at.Project, parts...)
		}
		if moved := at.absEnv(key); key != "" && moved != "" {
			return at.locateFile(moved, below...)
		}
		return at.locateFile(at.Home, parts...)
	}
}
