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

// settingsFile is the location of a settings file.
type settingsFile struct {
	path     string
	baseDir  string    // a directory that is never created or removed
	realPath string    // the file behind the links
	events   eventPath // where the events are in it
}

// locateFile returns the file at a path below a directory that Retake neither creates nor
// removes.
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

// checkInProject refuses a link that leads out of the project: the content of a project is
// untrusted, and its links do not decide what is changed.
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

// resolveLinks returns the path behind all links. The last elements may be missing; a
// dangling link is an error.
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

// read returns the bytes of the file, and whether it exists. It refuses anything but
// regular files, since reading a pipe could block for ever.
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

// newChange returns a change of a file that so far changes nothing.
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

// configDir returns a directory of the user, or the one that a variable names.
func (p Places) configDir(key string, below ...string) string {
	if dir := p.absEnv(key); dir != "" {
		return dir
	}
	return filepath.Join(append([]string{p.Home}, below...)...)
}

// fileInAgentDir locates a file in the directory of an agent: below the home of the user,
// where a variable says, or below the project.
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
