//go:build linux

package main

import (
	"archive/tar"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake/internal/platform/marker"
)

const (
	dirFiles = 50 // files of one directory at the start
	bigFile  = 2 << 20
	bigFiles = 3 // of one workspace; the oldest goes first
	bigShare = 20
)

// makeTree fills a directory with small files.
func makeTree(root string, rnd *rand.Rand, files int) error {
	for i := range files {
		dir := filepath.Join(root, fmt.Sprintf("src%02d", i/dirFiles))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%04d.txt", i)), someText(rnd), 0o644); err != nil {
			return err
		}
	}
	return nil
}

var words = strings.Fields("func return error the checkpoint of a file and its bytes are read again before the next turn begins package import while")

// someText is up to two kilobytes of lines.
func someText(rnd *rand.Rand) []byte {
	var b strings.Builder
	for n := 100 + rnd.Intn(1900); b.Len() < n; {
		fmt.Fprintf(&b, "%s %d", words[rnd.Intn(len(words))], rnd.Intn(100000))
		b.WriteByte(" \n"[rnd.Intn(2)])
	}
	return []byte(b.String())
}

// editor changes a workspace as an agent does.
type editor struct {
	root  string
	rnd   *rand.Rand
	size  int // of the workspace at the start
	names int // given so far
}

// edit makes a few changes.
func (e *editor) edit() error {
	files, err := listFiles(e.root)
	if err != nil || len(files) == 0 {
		return errors.Join(err, e.add())
	}
	for range 1 + e.rnd.Intn(5) {
		if err := e.change(files[e.rnd.Intn(len(files))], len(files)); err != nil {
			return err
		}
	}
	if e.rnd.Intn(bigShare) == 0 {
		return e.addBig(files)
	}
	return nil
}

// change makes one change. A file may be gone by an earlier one.
func (e *editor) change(path string, files int) error {
	kind := e.rnd.Intn(10)
	switch {
	case kind == 6 && files < e.size+e.size/10:
		return e.add()
	case kind == 7 && files > e.size-e.size/10:
		return ignoreAbsent(os.Remove(path))
	case kind == 8:
		e.names++
		return ignoreAbsent(os.Rename(path, filepath.Join(filepath.Dir(path), fmt.Sprintf("moved%05d.txt", e.names))))
	case kind == 9:
		return ignoreAbsent(os.Chmod(path, []fs.FileMode{0o644, 0o755, 0o600}[e.rnd.Intn(3)]))
	}
	if _, err := os.Lstat(path); err != nil {
		return ignoreAbsent(err)
	}
	return os.WriteFile(path, someText(e.rnd), 0o644)
}

func (e *editor) add() error {
	e.names++
	dir := filepath.Join(e.root, fmt.Sprintf("new%02d", e.rnd.Intn(20)))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%05d.txt", e.names)), someText(e.rnd), 0o644)
}

// addBig writes a file that does not compress, and removes the oldest of too many.
func (e *editor) addBig(files []string) error {
	big := slices.DeleteFunc(files, func(p string) bool { return !strings.HasSuffix(p, ".bin") })
	if len(big) >= bigFiles {
		if err := ignoreAbsent(os.Remove(big[0])); err != nil {
			return err
		}
	}
	e.names++
	b := make([]byte, bigFile)
	e.rnd.Read(b)
	return os.WriteFile(filepath.Join(e.root, fmt.Sprintf("big%06d.bin", e.names)), b, 0o644)
}

func ignoreAbsent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// walkTree calls f for everything in a workspace but our own directory.
func walkTree(root string, f func(path, rel string, d fs.DirEntry) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == root:
			return nil
		case path == filepath.Join(root, marker.Dir):
			return fs.SkipDir
		}
		return f(path, path[len(root)+1:], d)
	})
}

func listFiles(root string) (files []string, err error) {
	err = walkTree(root, func(path, _ string, d fs.DirEntry) error {
		if d.Type().IsRegular() {
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// tree is what is in a directory: a line for each entry, with its mode and a hash of its bytes.
type tree []string

func (t tree) digest() string {
	h := sha256.New()
	for _, line := range t {
		_, _ = io.WriteString(h, line+"\n") // a hash takes everything
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// entryLine describes an entry. content is nil for what has none.
func entryLine(rel string, mode fs.FileMode, content io.Reader) (string, error) {
	h := sha256.New()
	if content != nil {
		if _, err := io.Copy(h, content); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%s %s %x", rel, mode, h.Sum(nil)[:12]), nil
}

// readTree reads a directory.
func readTree(root string) (tree, error) {
	var out tree
	err := walkTree(root, func(path, rel string, d fs.DirEntry) error {
		i, err := d.Info()
		if err != nil {
			return err
		}
		var content io.Reader
		if i.Mode().IsRegular() {
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close() //nolint:errcheck // only read
			content = f
		}
		line, err := entryLine(rel, i.Mode(), content)
		out = append(out, line)
		return err
	})
	slices.Sort(out)
	return out, err
}

// readArchive reads a tar archive.
func readArchive(path string) (tree, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	var out tree
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(out)
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var content io.Reader
		if h.Typeflag == tar.TypeReg {
			content = r
		}
		line, err := entryLine(strings.TrimSuffix(h.Name, "/"), h.FileInfo().Mode(), content)
		if err != nil {
			return nil, err
		}
		out = append(out, line)
	}
}

// differences names the first entries in which two trees differ.
func differences(want, got tree) string {
	var out []string
	for _, line := range want {
		if _, ok := slices.BinarySearch(got, line); !ok {
			out = append(out, "- "+line)
		}
	}
	for _, line := range got {
		if _, ok := slices.BinarySearch(want, line); !ok {
			out = append(out, "+ "+line)
		}
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(a[2:], b[2:]) })
	return fmt.Sprintf("%d lines differ: %s", len(out), strings.Join(out[:min(len(out), 6)], "; "))
}
