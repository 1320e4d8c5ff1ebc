//go:build unix

package fsx_test

import (
	"errors"
	"io/fs"
	"runtime"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func subOf(t *testing.T, d fsx.Dir, name string) fsx.Dir {
	t.Helper()
	if err := d.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	sub, err := d.OpenDir(name)
	must(t, err)
	t.Cleanup(func() { _ = sub.Close() })
	return sub
}

func lstat(t *testing.T, d fsx.Dir, name string) fsx.Info {
	t.Helper()
	info, err := d.Lstat(name)
	must(t, err)
	return info
}

func TestPlaceTakesOnlyAFreeName(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		sub := subOf(t, d, "sub")
		writeFile(t, d, "f", "mine")
		writeFile(t, sub, "taken", "theirs")
		must(t, p.symlink("nowhere", "dangling"))
		must(t, d.Mkdir("empty", 0o755))
		for name, to := range map[string]fsx.Dir{"taken": sub, "dangling": d, "empty": d, "f": d} {
			if err := d.RenameNoReplace("f", to, name); !errors.Is(err, fs.ErrExist) {
				t.Errorf("place on %s: %v", name, err)
			}
		}
		if got := readFile(t, d, "f") + readFile(t, sub, "taken"); got != "minetheirs" {
			t.Errorf("the files hold %q", got)
		}
		before := lstat(t, d, "f")
		must(t, d.RenameNoReplace("f", sub, "g"))
		if after := lstat(t, sub, "g"); after.Ino != before.Ino || after.Nlink != 1 {
			t.Errorf("placed %+v, was %+v", after, before)
		}
		if err := d.RenameNoReplace("f", sub, "h"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("place what is not there: %v", err)
		}
		must(t, d.RenameNoReplace("empty", sub, "moved"))
		must(t, d.RenameNoReplace("dangling", sub, "link"))
		if err := d.RenameNoReplace("sub", sub, "self"); err == nil {
			t.Error("a directory went into itself")
		}
		if self := lstat(t, d, "sub"); self.Nlink != 3 && self.Nlink != 1 { // some count names only
			t.Errorf("links of the directory: %d", self.Nlink)
		}
	})
}

func TestExchangeSwapsAnyTwo(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		sub := subOf(t, d, "sub")
		writeFile(t, d, "a", "of a")
		writeFile(t, d, "b", "of b")
		writeFile(t, sub, "c", "of c")
		full := subOf(t, d, "full")
		writeFile(t, full, "f", "of f")
		if err := d.Exchange("a", d, "b"); errors.Is(err, errors.ErrUnsupported) {
			if got := readFile(t, d, "a"); got != "of a" {
				t.Errorf("unsupported, but a holds %q", got)
			}
			t.Skip("this driver cannot")
		} else {
			must(t, err)
		}
		must(t, d.Exchange("a", sub, "c"))
		if got := readFile(t, d, "a") + readFile(t, d, "b") + readFile(t, sub, "c"); got != "of cof aof b" {
			t.Errorf("the files hold %q", got)
		}
		must(t, d.Exchange("full", sub, "c")) // a directory with something in it, and a file
		if lstat(t, d, "full").Type != fsx.Regular || lstat(t, sub, "c").Type != fsx.Directory {
			t.Error("the types did not change places")
		}
		if got := readFile(t, subOf(t, sub, "c"), "f"); got != "of f" {
			t.Errorf("the directory lost what was in it: %q", got)
		}
		for name, to := range map[string]fsx.Dir{"none": d, "none here": sub} {
			if err := d.Exchange("a", to, name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("exchange with %s: %v", name, err)
			}
		}
		if err := d.Exchange("none", d, "a"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("exchange of nothing: %v", err)
		}
		if d.Exchange("sub", sub, "c") == nil || sub.Exchange("c", d, "sub") == nil {
			t.Error("a directory went into itself")
		}
		must(t, sub.Close())
		if err := d.Exchange("a", sub, "c"); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("exchange with a closed directory: %v", err)
		}
	})
}

func TestLinkGivesASecondName(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		sub := subOf(t, d, "sub")
		writeFile(t, d, "f", "data")
		must(t, d.Link("f", sub, "g"))
		if a, b := lstat(t, d, "f"), lstat(t, sub, "g"); a != b || a.Nlink != 2 {
			t.Errorf("two names differ: %+v %+v", a, b)
		}
		if err := d.Link("f", sub, "g"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("link on a taken name: %v", err)
		}
		if err := d.Link("none", d, "x"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("link of nothing: %v", err)
		}
		if err := d.Link("sub", d, "x"); err == nil {
			t.Error("a directory got a second name")
		}
		must(t, d.Symlink("f", "soft"))
		must(t, d.Link("soft", d, "soft2"))
		if info := lstat(t, d, "soft2"); info.Type != fsx.Symlink || lstat(t, d, "f").Nlink != 2 {
			t.Errorf("the link was followed: %+v", info)
		}
		must(t, d.Remove("f"))
		if info := lstat(t, sub, "g"); info.Nlink != 1 || readFile(t, sub, "g") != "data" {
			t.Errorf("after the removal %+v", info)
		}
	})
}

func TestSymlinksAndSpecialFiles(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		for name, text := range map[string]string{"a": "../../etc/passwd", "b": "bad\xff\n", "c": strings.Repeat("x", 1000)} {
			must(t, d.Symlink(text, name))
			if got, err := d.Readlink(name); err != nil || got != text {
				t.Errorf("link %s says %q, %v", name, got, err)
			}
		}
		if err := d.Symlink("x", "a"); !errors.Is(err, fs.ErrExist) {
			t.Errorf("link on a taken name: %v", err)
		}
		for _, text := range []string{"", "x\x00y", strings.Repeat("x", 4096)} {
			if d.Symlink(text, "odd") == nil {
				t.Errorf("a link says %q", text)
			}
		}
		must(t, d.Mknod("fifo", fsx.FIFO, 0o600))
		if info := lstat(t, d, "fifo"); info.Type != fsx.FIFO || info.Mode != 0o600 {
			t.Errorf("%+v", info)
		}
		err := d.Mknod("sock", fsx.Socket, 0o600)
		if runtime.GOOS == "darwin" && errors.Is(err, errors.ErrUnsupported) {
			return
		}
		must(t, err)
		if info := lstat(t, d, "sock"); info.Type != fsx.Socket {
			t.Errorf("%+v", info)
		}
		if err := d.Mknod("fifo", fsx.FIFO, 0o600); !errors.Is(err, fs.ErrExist) {
			t.Errorf("fifo on a taken name: %v", err)
		}
		for _, typ := range []fsx.Type{fsx.Regular, fsx.Directory, fsx.Symlink, fsx.Device, 0} {
			if err := d.Mknod("odd", typ, 0o600); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("type %d: %v", typ, err)
			}
		}
	})
}

func TestRemoveDirTakesDirectoriesOnly(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		sub := subOf(t, d, "sub")
		writeFile(t, sub, "f", "x")
		must(t, p.symlink("sub", "link"))
		if err := d.RemoveDir("sub"); !errors.Is(err, fsx.ErrNotEmpty) {
			t.Errorf("a full directory: %v", err)
		}
		if err := sub.RemoveDir("f"); !errors.Is(err, fsx.ErrNotDir) {
			t.Errorf("a file: %v", err)
		}
		if err := d.RemoveDir("link"); !errors.Is(err, fsx.ErrNotDir) {
			t.Errorf("a link: %v", err)
		}
		must(t, sub.Remove("f"))
		must(t, d.RemoveDir("sub"))
		if err := d.RemoveDir("sub"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("twice: %v", err)
		}
		if lstat(t, d, "link").Type != fsx.Symlink {
			t.Error("the link is gone")
		}
	})
}
