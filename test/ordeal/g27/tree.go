//go:build linux

package g27

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// node is one entry of a directory: the text is the bytes of a file, or where a link points.
type node struct {
	mode fs.FileMode
	text string
}

func (n node) hasBytes() bool { return n.mode.IsRegular() || n.mode.Type() == fs.ModeSymlink }

func (n node) equals(o node) bool { return n.mode.Type() == o.mode.Type() && n.text == o.text }

// world is all that commands can reach, by absolute path. It is read by plain calls, and shares no
// code with the product.
type world map[string]node

// readWorld reads everything below some directories.
func readWorld(dirs ...string) (world, error) {
	w := world{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			n := node{mode: info.Mode()}
			switch {
			case info.Mode().IsRegular():
				var b []byte
				b, err = os.ReadFile(path)
				n.text = string(b)
			case n.mode.Type() == fs.ModeSymlink:
				n.text, err = os.Readlink(path)
			}
			w[path] = n
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return w, nil
}

// repair makes the directories as they were, and touches nothing that is right: what did not change
// is not new to a capture.
func repair(now, want world) error {
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(now))) {
		if w, ok := want[path]; ok && w.mode.Type() == now[path].mode.Type() {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		delete(now, path)
	}
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if err := repairNode(path, now, want[path]); err != nil {
			return err
		}
	}
	return nil
}

func repairNode(path string, now world, want node) (err error) {
	have, ok := now[path]
	switch {
	case want.mode.IsDir() && !ok:
		err = os.Mkdir(path, want.mode.Perm())
	case want.mode.Type() == fs.ModeSymlink && have.text != want.text:
		err = errors.Join(os.RemoveAll(path), os.Symlink(want.text, path))
	case want.mode.IsRegular() && (!ok || have.text != want.text):
		err = os.WriteFile(path, []byte(want.text), want.mode.Perm())
	}
	if err == nil && want.mode.Type() != fs.ModeSymlink && have.mode != want.mode {
		err = os.Chmod(path, want.mode)
	}
	return err
}

// loss is an entry whose bytes a command destroyed.
type loss struct {
	path string
	was  node
}

// findLosses compares what was there before a command with what is there after it. A file that was
// renamed is not lost, unless it went to where temporary files are. One that only grew is not, either.
func findLosses(before, after world) []loss {
	added, moved := map[string]bool{}, map[string]bool{}
	for path, n := range after {
		if _, ok := before[path]; n.hasBytes() && !ok {
			moved[n.mode.Type().String()+n.text] = true
		}
		if was, ok := before[path]; n.hasBytes() && !isTemporary(path) && (!ok || !was.equals(n)) {
			added[n.mode.Type().String()+n.text] = true
		}
	}
	var lost []loss
	for _, path := range slices.Sorted(maps.Keys(before)) {
		was := before[path]
		now, ok := after[path]
		switch {
		case !was.hasBytes() || ok && now.equals(was):
		case ok && was.mode.IsRegular() && now.mode.IsRegular() && strings.HasPrefix(now.text, was.text):
		case ok && isTemporary(path):
			// docs/use/risky-commands.md: temporary files are saved before they are deleted, not before they are written over
		case ok && filepath.Base(path) == "COMMIT_EDITMSG":
		case ok && filepath.Base(path) == "index" && filepath.Base(filepath.Dir(path)) == ".git":
			// git writes its index again even when it only looks
		case isTemporary(path) && moved[was.mode.Type().String()+was.text]:
		case added[was.mode.Type().String()+was.text]:
		default:
			lost = append(lost, loss{path, was})
		}
	}
	return lost
}

// isTemporary reports whether nobody expects a file to stay where it is.
func isTemporary(path string) bool { return isWithin("/tmp", path) }

// isWithin reports whether a path is a directory or below it.
func isWithin(dir, path string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }
