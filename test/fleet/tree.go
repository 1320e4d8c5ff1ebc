//go:build linux

package main

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// leaf is one name of a tree: a file whose bytes follow from seed and size, a link, or a
// directory.
type leaf struct {
	mode uint32 // of a file or a directory
	dir  bool
	link string
	seed uint64
	size int
	sum  [32]byte
}

// tree is what a client knows to be in its workspace, by path.
type tree map[string]leaf

// digest is over names, kinds, modes and bytes, not over times.
type digest [32]byte

func (t tree) digest() digest {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(t)) {
		l := t[path]
		if l.link != "" {
			l.mode = 0 // it has none
		}
		fmt.Fprintf(h, "%q %v %o %q %x\n", path, l.dir, l.mode, l.link, l.sum)
	}
	return digest(h.Sum(nil))
}

// diff says in which names two trees differ, for people.
func (t tree) diff(other tree) string {
	var out []string
	for path, l := range t {
		o, ok := other[path]
		switch {
		case !ok:
			out = append(out, "-"+path)
		case (tree{path: l}).digest() != (tree{path: o}).digest():
			out = append(out, "!"+path)
		}
	}
	for path := range other {
		if _, ok := t[path]; !ok {
			out = append(out, "+"+path)
		}
	}
	slices.Sort(out)
	return fmt.Sprintf("%d names differ: %.200s", len(out), strings.Join(out, " "))
}

// bytesOf makes the bytes of a file: lines of words, so that they can be packed like text.
func bytesOf(seed uint64, size int) []byte {
	r := rand.New(rand.NewPCG(seed, 7))
	out := make([]byte, 0, size+16)
	for len(out) < size {
		out = fmt.Appendf(out, "%s%d ", words[r.IntN(len(words))], r.IntN(1000))
		if r.IntN(8) == 0 {
			out = append(out, '\n')
		}
	}
	return out[:size]
}

var words = strings.Fields("return func error value index range slice length cursor number checkpoint parent writer reader table column of the to and if nil")

func fileOf(seed uint64, size int, mode uint32) leaf {
	return leaf{mode: mode, seed: seed, size: size, sum: sha256.Sum256(bytesOf(seed, size))}
}

// put makes one name what it is to be, whatever is there.
func put(root, path string, l leaf) error {
	at := filepath.Join(root, path)
	switch {
	case l.dir:
		if err := os.Mkdir(at, fs.FileMode(l.mode)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return os.Chmod(at, fs.FileMode(l.mode))
	case l.link != "":
		if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return os.Symlink(l.link, at)
	}
	if err := os.WriteFile(at, bytesOf(l.seed, l.size), fs.FileMode(l.mode)); err != nil {
		return err
	}
	return os.Chmod(at, fs.FileMode(l.mode))
}

// onDisk reads a directory.
func onDisk(root string) (tree, error) {
	out := tree{}
	err := filepath.WalkDir(root, func(at string, e fs.DirEntry, err error) error {
		if err != nil || at == root {
			return err
		}
		path, err := filepath.Rel(root, at)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		l := leaf{mode: uint32(info.Mode().Perm())}
		switch {
		case e.IsDir():
			l.dir = true
		case info.Mode()&fs.ModeSymlink != 0:
			l.link, err = os.Readlink(at)
		default:
			var b []byte
			b, err = os.ReadFile(at)
			l.sum = sha256.Sum256(b)
		}
		out[path] = l
		return err
	})
	return out, err
}

// inArchive reads a tar archive.
func inArchive(r io.Reader) (tree, error) {
	out := tree{}
	t := tar.NewReader(r)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, r) // an end that is not one is told here
			return out, err
		}
		if err != nil {
			return nil, err
		}
		path := strings.TrimSuffix(h.Name, "/")
		if path == "." || path == "" {
			continue
		}
		l := leaf{mode: uint32(h.Mode) & 0o777}
		switch h.Typeflag {
		case tar.TypeDir:
			l.dir = true
		case tar.TypeSymlink:
			l.link = h.Linkname
		default:
			b, err := io.ReadAll(t)
			if err != nil {
				return nil, err
			}
			l.sum = sha256.Sum256(b)
		}
		out[path] = l
	}
}
