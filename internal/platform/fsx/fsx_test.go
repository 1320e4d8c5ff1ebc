//go:build unix

package fsx_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

var strangeNames = []string{
	"plain", "two words", "new\nline", "esc\x1b[31m", "bad\xff\xfeutf8", "-rf", "\\back",
	"ünïcode", strings.Repeat("n", 255), "...", " ",
}

func TestNamesAreBytes(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		for _, name := range strangeNames {
			writeFile(t, d, name, "of "+name)
		}
		names, err := d.Names()
		must(t, err)
		slices.Sort(names)
		if diff := cmp.Diff(slices.Sorted(slices.Values(strangeNames)), names); diff != "" {
			t.Fatal(diff)
		}
		for _, name := range strangeNames {
			if got := readFile(t, d, name); got != "of "+name {
				t.Errorf("%q holds %q", name, got)
			}
			info, err := d.Lstat(name)
			must(t, err)
			if info.Type != fsx.Regular || info.Size != int64(len(name)+3) || info.Mode != 0o600 {
				t.Errorf("%q is %+v", name, info)
			}
		}
		if _, err := d.Create(strings.Repeat("n", 256), 0o600); !errors.Is(err, syscall.ENAMETOOLONG) {
			t.Errorf("256 bytes: %v", err)
		}
	})
}

func TestBadNames(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		must(t, d.Mkdir("sub", 0o755))
		writeFile(t, d, "file", "x")
		for _, bad := range []string{"", ".", "..", "sub/x", "/etc", "a\x00b", "sub/"} {
			_, lstat := d.Lstat(bad)
			_, openDir := d.OpenDir(bad)
			_, openFile := d.OpenFile(bad)
			_, readlink := d.Readlink(bad)
			_, create := d.Create(bad, 0o600)
			_, appending := d.Append(bad, 0o600)
			for op, err := range map[string]error{
				"lstat": lstat, "opendir": openDir, "openfile": openFile, "readlink": readlink,
				"create": create, "append": appending, "mkdir": d.Mkdir(bad, 0o755),
				"place from": d.RenameNoReplace(bad, d, "n"), "place to": d.RenameNoReplace("file", d, bad),
				"exchange from": d.Exchange(bad, d, "file"), "exchange to": d.Exchange("file", d, bad),
				"link from": d.Link(bad, d, "n"), "link to": d.Link("file", d, bad),
				"symlink": d.Symlink("x", bad), "special": d.Mknod(bad, fsx.FIFO, 0o600),
				"remove directory": d.RemoveDir(bad), "dress": d.SetMetadata(bad, 1, fsx.Metadata{}),
				"remove": d.Remove(bad), "rename from": d.Rename(bad, d, "n"), "rename to": d.Rename("file", d, bad),
			} {
				if !errors.Is(err, fsx.ErrBadName) {
					t.Errorf("%s of %q: %v", op, bad, err)
				}
			}
		}
		for _, bad := range []string{"", "user.", "trusted.x", "user.a\x00b"} {
			if err := d.SetXattr(bad, nil); !errors.Is(err, fsx.ErrBadName) {
				t.Errorf("set attribute %q: %v", bad, err)
			}
			if err := d.RemoveXattr(bad); !errors.Is(err, fsx.ErrBadName) {
				t.Errorf("remove attribute %q: %v", bad, err)
			}
			if err := d.SetOwnMetadata(fsx.Metadata{Xattrs: map[string][]byte{bad: nil}}); !errors.Is(err, fsx.ErrBadName) {
				t.Errorf("dress with attribute %q: %v", bad, err)
			}
		}
		if _, err := p.fs.OpenRoot(""); !errors.Is(err, fsx.ErrBadName) {
			t.Errorf("open root of nothing: %v", err)
		}
	})
}

func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		must(t, d.Mkdir("dir", 0o755))
		writeFile(t, d, "file", "data")
		long := strings.Repeat("long/", 200)
		for name, target := range map[string]string{
			"todir": "dir", "tofile": "file", "out": "/etc/passwd", "outdir": "/etc", "dangling": "none", "long": long,
		} {
			must(t, p.symlink(target, name))
			if got, err := d.Readlink(name); err != nil || got != target {
				t.Errorf("readlink %s: %q %v", name, got, err)
			}
			if info, err := d.Lstat(name); err != nil || info.Type != fsx.Symlink {
				t.Errorf("lstat %s: %+v %v", name, info, err)
			}
			if _, err := d.OpenDir(name); !errors.Is(err, fsx.ErrNotDir) {
				t.Errorf("open directory %s: %v", name, err)
			}
			if _, err := d.OpenFile(name); !errors.Is(err, fsx.ErrNotRegular) {
				t.Errorf("open file %s: %v", name, err)
			}
			if _, err := d.Append(name, 0o600); !errors.Is(err, fsx.ErrNotRegular) {
				t.Errorf("append %s: %v", name, err)
			}
			if _, err := d.Create(name, 0o600); !errors.Is(err, fs.ErrExist) {
				t.Errorf("create %s: %v", name, err)
			}
		}
		if _, err := d.Lstat("none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a dangling link was written through: %v", err)
		}
		if _, err := d.Readlink("file"); err == nil {
			t.Error("readlink of a file has no error")
		}
	})
}

func TestRootIsNotALink(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		must(t, p.open(t).Mkdir("dir", 0o755))
		must(t, p.symlink("dir", "link"))
		for _, tail := range []string{"", "/", "//"} {
			if _, err := p.fs.OpenRoot(p.root + "/link" + tail); !errors.Is(err, fsx.ErrNotDir) {
				t.Errorf("open root link%s: %v", tail, err)
			}
			d, err := p.fs.OpenRoot(p.root + "/dir" + tail)
			must(t, err)
			must(t, d.Close())
		}
	})
}

func TestSpecialFilesNeverBlock(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d, err := p.fs.OpenRoot(p.root) // not closed: that would wait for a blocked open
		must(t, err)
		must(t, p.mkfifo("fifo"))
		must(t, p.mksock("sock"))
		must(t, d.Mkdir("dir", 0o755))
		types := map[string]fsx.Type{"fifo": fsx.FIFO, "sock": fsx.Socket, "dir": fsx.Directory}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for name, typ := range types {
				if info, err := d.Lstat(name); err != nil || info.Type != typ {
					t.Errorf("lstat %s: %+v %v", name, info, err)
				}
				if _, err := d.OpenFile(name); !errors.Is(err, fsx.ErrNotRegular) {
					t.Errorf("open %s: %v", name, err)
				}
				if _, err := d.Append(name, 0o600); !errors.Is(err, fsx.ErrNotRegular) {
					t.Errorf("append to %s: %v", name, err)
				}
				if _, err := d.OpenDir(name); typ != fsx.Directory && !errors.Is(err, fsx.ErrNotDir) {
					t.Errorf("open directory %s: %v", name, err)
				}
			}
		}()
		select {
		case <-done:
		case <-time.After(20 * time.Second):
			t.Fatal("an open waits for the other end of a FIFO")
		}
	})
}

func TestHandleStaysOnItsInode(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		must(t, d.Mkdir("one", 0o755))
		one, err := d.OpenDir("one")
		must(t, err)
		defer one.Close()
		writeFile(t, one, "f", "first")
		must(t, d.Rename("one", d, "moved"))
		must(t, p.symlink("/", "one"))
		if got := readFile(t, one, "f"); got != "first" {
			t.Errorf("read %q", got)
		}
		self, err := one.Stat()
		must(t, err)
		named, err := d.Lstat("moved")
		must(t, err)
		if self != named {
			t.Errorf("handle is %+v, name is %+v", self, named)
		}
	})
}

func TestManyNames(t *testing.T) {
	t.Parallel()
	const count = 20_000
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		want := make(map[string]bool, count)
		for i := range count {
			name := fmt.Sprintf("a file with number %d", i)
			want[name] = true
			f, err := d.Create(name, 0o600)
			must(t, err)
			must(t, f.Close())
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				names, err := d.Names()
				got := make(map[string]bool, count)
				for _, name := range names {
					got[name] = true
				}
				if err != nil || len(names) != count || !maps.Equal(want, got) {
					t.Errorf("%d names, %d of them different, %v", len(names), len(got), err)
				}
			})
		}
		wg.Wait()
	})
}
