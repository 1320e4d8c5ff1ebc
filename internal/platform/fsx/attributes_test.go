//go:build unix

package fsx_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func TestXattrs(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		writeFile(t, d, "f", "x")
		if none, err := d.Xattrs(); err != nil || len(none) != 0 {
			t.Fatalf("a new directory has %v %v", none, err)
		}
		if p.xattr == nil {
			t.Skip("no attributes here")
		}
		big := bytes.Repeat([]byte("v"), 3000)
		must(t, d.SetXattr("user.one", []byte{0, 1, 255}))
		must(t, d.SetXattr("user.big", big))
		must(t, d.SetXattr("user.empty", nil))
		got, err := d.Xattrs()
		must(t, err)
		want := map[string][]byte{"user.one": {0, 1, 255}, "user.big": big, "user.empty": {}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		for name := range want {
			must(t, d.RemoveXattr(name))
		}
		if err := d.RemoveXattr("user.one"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remove twice: %v", err)
		}
		must(t, p.xattr("f", "user.note", []byte("hello")))
		f, err := d.OpenFile("f")
		must(t, err)
		defer f.Close()
		got, err = f.Xattrs()
		must(t, err)
		if diff := cmp.Diff(map[string][]byte{"user.note": []byte("hello")}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestHoles(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		data := make([]byte, 4*mib)
		copy(data, bytes.Repeat([]byte("a"), mib))
		copy(data[2*mib:], bytes.Repeat([]byte("b"), mib))
		holes := []fsx.Hole{{Offset: mib, Length: mib}, {Offset: 3 * mib, Length: mib}}
		must(t, p.sparse("sparse", data, holes))
		f, err := d.OpenFile("sparse")
		must(t, err)
		defer f.Close()
		start := make([]byte, 2)
		_, err = io.ReadFull(f, start)
		must(t, err)
		got, err := f.Holes()
		must(t, err)
		if p.holes && !slices.Equal(got, holes) {
			t.Errorf("holes %v", got)
		}
		rest, err := io.ReadAll(f)
		must(t, err)
		if !bytes.Equal(rest, data[2:]) {
			t.Error("the position moved by looking for holes")
		}
		info, err := f.Stat()
		must(t, err)
		if info.Size != 4*mib || p.holes && info.Blocks*512 > 3*mib {
			t.Errorf("stat %+v", info)
		}
	})
}

func TestDenseFilesHaveNoHoles(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		writeFile(t, d, "dense", strings.Repeat("x", 10_000))
		writeFile(t, d, "empty", "")
		for _, name := range []string{"dense", "empty"} {
			f, err := d.OpenFile(name)
			must(t, err)
			if got, err := f.Holes(); err != nil || len(got) != 0 {
				t.Errorf("%s has holes %v %v", name, got, err)
			}
			must(t, f.Close())
		}
	})
}

func TestLinkCountsAndTimes(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		writeFile(t, d, "a", "x")
		must(t, p.link("a", "b"))
		a, err := d.Lstat("a")
		must(t, err)
		b, err := d.Lstat("b")
		must(t, err)
		if a != b || a.Nlink != 2 || a.Ino == 0 || a.Ctime == 0 {
			t.Errorf("two names differ: %+v %+v", a, b)
		}
		must(t, d.Remove("b"))
		if a, err = d.Lstat("a"); err != nil || a.Nlink != 1 {
			t.Errorf("after the removal: %+v %v", a, err)
		}
		const then = 1_500_000_000_123_456_789
		f, err := d.OpenFile("a")
		must(t, err)
		must(t, f.SetMtime(then))
		info, err := f.Stat()
		must(t, err)
		if info.Mtime != then || info.Ctime <= then {
			t.Errorf("file times %d %d", info.Mtime, info.Ctime)
		}
		must(t, f.Close())
		must(t, d.SetMtime(-5))
		if info, err = d.Stat(); err != nil || info.Mtime != -5 || info.Type != fsx.Directory {
			t.Errorf("directory %+v %v", info, err)
		}
	})
}

func TestSyncAndFree(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		writeFile(t, d, "f", "x")
		must(t, d.Sync())
		if err := d.SyncFS(); err != nil && !errors.Is(err, fsx.ErrNoWriteback) {
			t.Error(err)
		}
		free, total, err := p.fs.FreeSpace(p.root)
		must(t, err)
		if free <= 0 || total < free {
			t.Errorf("%d of %d free", free, total)
		}
		if _, _, err := p.fs.FreeSpace(p.root + "/none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("free of nothing: %v", err)
		}
		must(t, d.Close())
		for op, err := range map[string]error{"sync": d.Sync(), "mkdir": d.Mkdir("x", 0o755)} {
			if !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s after close: %v", op, err)
			}
		}
	})
}

func TestErrorsNameTheOperationAndTheName(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		_, err := d.OpenFile("not\x1bthere")
		if err == nil || !strings.HasPrefix(err.Error(), `open file "not\x1bthere": `) {
			t.Errorf("%v", err)
		}
		if strings.Contains(err.Error(), p.root) {
			t.Errorf("a path is in %v", err)
		}
		if _, err := p.fs.OpenRoot(p.root + "/none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open root of nothing: %v", err)
		}
	})
}
