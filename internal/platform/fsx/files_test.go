//go:build unix

package fsx_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func TestFilesReadAndWrite(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		data := bytes.Repeat([]byte("0123456789"), 30_000)
		writeFile(t, d, "f", string(data))
		f, err := d.OpenFile("f")
		must(t, err)
		part := make([]byte, 10)
		if n, err := f.ReadAt(part, 299_995); n != 5 || !errors.Is(err, io.EOF) {
			t.Errorf("read over the end: %d %v", n, err)
		}
		if n, err := f.ReadAt(part, 12); n != 10 || err != nil || string(part) != "2345678901" {
			t.Errorf("read in the middle: %d %v %q", n, err, part)
		}
		if got, err := io.ReadAll(f); err != nil || !bytes.Equal(got, data) {
			t.Errorf("read all: %d bytes, %v", len(got), err)
		}
		if _, err := f.Write([]byte("x")); err == nil {
			t.Error("a file opened for reading can be written")
		}
		must(t, f.Close())
		must(t, f.Close())
		if _, err := f.Read(part); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("read after close: %v", err)
		}
	})
}

func TestAppendAndCreate(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		for _, more := range []string{"a", "bc", "d"} {
			a, err := d.Append("log", 0o600)
			must(t, err)
			_, err = a.Write([]byte(more))
			must(t, errors.Join(err, a.Sync(), a.Close()))
		}
		if got := readFile(t, d, "log"); got != "abcd" {
			t.Errorf("appended %q", got)
		}
		if _, err := d.Create("log", 0o600); !errors.Is(err, fs.ErrExist) {
			t.Errorf("create over a file: %v", err)
		}
		if _, err := d.OpenFile("none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open what is not there: %v", err)
		}
	})
}

func TestRename(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		must(t, d.Mkdir("sub", 0o755))
		sub, err := d.OpenDir("sub")
		must(t, err)
		writeFile(t, d, "new", "new")
		writeFile(t, d, "old", "old")
		writeFile(t, sub, "third", "third")
		held, err := d.OpenFile("old")
		must(t, err)
		must(t, d.Rename("new", d, "old"))
		if got := readFile(t, d, "old"); got != "new" {
			t.Errorf("replaced file holds %q", got)
		}
		if got, err := io.ReadAll(held); err != nil || string(got) != "old" {
			t.Errorf("the open handle reads %q %v", got, err)
		}
		must(t, held.Close())
		must(t, d.Rename("old", sub, "third"))
		if got := readFile(t, sub, "third"); got != "new" {
			t.Errorf("file moved between directories holds %q", got)
		}
		must(t, errors.Join(d.Sync(), sub.Sync(), sub.Close(), sub.Close()))
		if err := d.Rename("sub", sub, "x"); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("rename into a closed directory: %v", err)
		}
	})
}

func TestRenameDirectories(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		must(t, d.Mkdir("sub", 0o755))
		sub, err := d.OpenDir("sub")
		must(t, err)
		defer sub.Close()
		writeFile(t, sub, "third", "third")
		writeFile(t, d, "file", "f")
		must(t, d.Mkdir("empty", 0o755))
		if err := d.Rename("empty", d, "sub"); !errors.Is(err, fsx.ErrNotEmpty) {
			t.Errorf("rename over a full directory: %v", err)
		}
		if err := d.Rename("file", d, "empty"); err == nil {
			t.Error("a file replaced a directory")
		}
		if err := d.Rename("none", d, "x"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("rename what is not there: %v", err)
		}
		if err := d.Rename("sub", sub, "self"); err == nil {
			t.Error("a directory moved into itself")
		}
		must(t, d.Rename("empty", sub, "moved"))
		names, err := d.Names()
		must(t, err)
		if diff := cmp.Diff([]string{"file", "sub"}, slices.Sorted(slices.Values(names))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRemove(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		must(t, d.Mkdir("sub", 0o755))
		sub, err := d.OpenDir("sub")
		must(t, err)
		defer sub.Close()
		writeFile(t, sub, "f", "x")
		if err := d.Remove("sub"); !errors.Is(err, fsx.ErrNotEmpty) {
			t.Errorf("remove a full directory: %v", err)
		}
		must(t, sub.Remove("f"))
		must(t, d.Remove("sub"))
		if err := d.Remove("sub"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remove twice: %v", err)
		}
		if _, err := sub.Create("late", 0o600); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("create in a removed directory: %v", err)
		}
		if err := d.Mkdir("again", 0o755); err != nil {
			t.Error(err)
		}
		if err := d.Mkdir("again", 0o755); !errors.Is(err, fs.ErrExist) {
			t.Errorf("mkdir twice: %v", err)
		}
	})
}
