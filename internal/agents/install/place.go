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

// place is where a file of settings is.
type place struct {
	file string
	base string // a directory that is not ours to make or to take away
	real string // the file behind the links
	list list   // where the events are in it
}

// at makes a place out of a directory that stays and a path below it.
func (at site) at(base string, below ...string) (place, error) {
	pl := place{file: filepath.Join(append([]string{base}, below...)...), base: base, list: wrapped}
	real, err := follow(pl.file)
	if err != nil {
		return pl, err
	}
	pl.real = real
	if at.scope == Project {
		return pl, at.contain(pl)
	}
	return pl, nil
}

// contain refuses a link that leads out of the project: what lies in a project is
// written by others, and their links do not choose what we change.
func (at site) contain(pl place) error {
	root, err := filepath.EvalSymlinks(at.Project)
	if err != nil {
		return &retake.Error{Kind: retake.NotFound, What: at.Project + " cannot be opened", Safe: unchanged, Err: err}
	}
	if rel, err := filepath.Rel(root, pl.real); err == nil && filepath.IsLocal(rel) {
		return nil
	}
	return &retake.Error{
		Kind: retake.Denied, What: fmt.Sprintf("%s leads out of the project, to %s", pl.file, pl.real), Safe: unchanged,
		Hint: "install for the user instead of the project, or put a file in place of the link",
	}
}

// follow gives the path behind all links. The end of the path may be missing; a
// link may not lead to nothing.
func follow(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", &retake.Error{Kind: retake.Denied, What: path + " cannot be opened", Safe: unchanged, Err: err}
	}
	if _, err := os.Lstat(path); err == nil {
		return "", &retake.Error{
			Kind: retake.Denied, What: path + " is a link that leads to nothing", Safe: unchanged,
			Hint: "make the file that it leads to, or take the link away",
		}
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path, nil
	}
	if real, err = follow(parent); err != nil {
		return "", err
	}
	return filepath.Join(real, filepath.Base(path)), nil
}

// read gives the bytes of the file, and whether it is there.
func (pl place) read() ([]byte, bool, error) {
	info, err := os.Stat(pl.real)
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
	f, err := os.Open(pl.real)
	if err != nil {
		return nil, false, fmt.Errorf("open file: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written to it
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, false, fmt.Errorf("read file: %w", err)
	}
	if len(text) > maxBytes {
		return nil, true, errHuge
	}
	return text, true, nil
}

// change begins a change of a file.
func (at site) change(pl place) (Change, error) {
	text, there, err := pl.read()
	if err != nil {
		return Change{}, refuse(pl.file, err)
	}
	return Change{
		Agent: at.agent, Scope: at.scope, File: pl.file, Before: text, After: text, Existed: there,
		base: pl.base, mode: plainMode,
	}, nil
}

// home is a directory of the user, moved by a variable when that is set.
func (p Places) home(key string, below ...string) string {
	if dir := p.env(key); dir != "" {
		return dir
	}
	return filepath.Join(append([]string{p.Home}, below...)...)
}

// in makes the place of a file in the directory of an agent: below the home of
// the user, where a variable says, or below the project.
func in(key, dir string, below ...string) func(site) (place, error) {
	parts := append(strings.Split(dir, "/"), below...)
	return func(at site) (place, error) {
		if at.scope == Project {
			return at.at(at.Project, parts...)
		}
		if moved := at.env(key); key != "" && moved != "" {
			return at.at(moved, below...)
		}
		return at.at(at.Home, parts...)
	}
}
