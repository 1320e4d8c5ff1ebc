//go:build unix

package fsx_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
)

const testTime = 1_500_000_000_123_456_789

// canChown: on the machine only root gives files away.
func canChown(p testFS) bool {
	_, memory := p.fs.(*fsxtest.Memory)
	return memory || os.Geteuid() == 0
}

func TestDressGivesAll(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		writeFile(t, d, "f", "data")
		must(t, d.Mkdir("dir", 0o755))
		must(t, d.Mknod("fifo", fsx.FIFO, 0o600))
		for name, mode := range map[string]uint32{"f": 0o4751, "dir": 0o3705, "fifo": 0o640} {
			is := lstat(t, d, name)
			want := fsx.Metadata{SetOwner: canChown(p), UID: 1234, GID: 4321, Mode: mode, Mtime: testTime}
			must(t, d.SetMetadata(name, is.Ino, want))
			got := lstat(t, d, name)
			if got.Mode != mode || got.Mtime != testTime {
				t.Errorf("%s is %+v", name, got)
			}
			if want.SetOwner && (got.UID != 1234 || got.GID != 4321) {
				t.Errorf("%s belongs to %d:%d", name, got.UID, got.GID)
			}
			must(t, d.SetMetadata(name, is.Ino, want))
			if again := lstat(t, d, name); again != got {
				t.Errorf("a second time changed %s: %+v, was %+v", name, again, got)
			}
			want.SetOwner, want.UID, want.GID = false, 7, 7
			must(t, d.SetMetadata(name, is.Ino, want))
			if again := lstat(t, d, name); again != got {
				t.Errorf("the owner of %s was not left: %+v", name, again)
			}
		}
	})
}

func TestDressOfLinks(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		writeFile(t, d, "f", "data")
		must(t, d.Symlink("f", "link"))
		must(t, d.Symlink("nowhere", "dangling"))
		before := lstat(t, d, "f")
		for _, name := range []string{"link", "dangling"} {
			is := lstat(t, d, name)
			dr := fsx.Metadata{SetOwner: canChown(p), UID: 77, GID: 78, Mode: 0o644, Mtime: testTime, Xattrs: map[string][]byte{}}
			must(t, d.SetMetadata(name, is.Ino, dr))
			got := lstat(t, d, name)
			if got.Mtime != testTime || got.Mode != is.Mode || got.Type != fsx.Symlink || dr.SetOwner && (got.UID != 77 || got.GID != 78) {
				t.Errorf("%s is %+v", name, got)
			}
			dr.Xattrs["user.x"] = nil
			if err := d.SetMetadata(name, is.Ino, dr); !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("attributes for a link: %v", err)
			}
		}
		if after := lstat(t, d, "f"); after != before {
			t.Errorf("the link was followed: %+v, was %+v", after, before)
		}
	})
}

func TestDressKnowsItsFile(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		writeFile(t, d, "f", "one")
		writeFile(t, d, "other", "two")
		must(t, d.Mkdir("dir", 0o755))
		is, other := lstat(t, d, "f"), lstat(t, d, "other")
		must(t, d.Rename("other", d, "f"))
		if err := d.SetMetadata("f", is.Ino, fsx.Metadata{Mode: 0o777, Mtime: testTime}); !errors.Is(err, fsx.ErrUnexpectedFile) {
			t.Errorf("another file has the name: %v", err)
		}
		must(t, d.Link("f", d, "second"))
		err := d.SetMetadata("f", other.Ino, fsx.Metadata{Mode: 0o777, Mtime: testTime, RequireSingleLink: true})
		if !errors.Is(err, fsx.ErrUnexpectedFile) {
			t.Errorf("a file with two names: %v", err)
		}
		f, err := d.OpenFile("f")
		must(t, err)
		defer f.Close()
		if err := f.SetMetadata(fsx.Metadata{Mode: 0o777, RequireSingleLink: true}); !errors.Is(err, fsx.ErrUnexpectedFile) {
			t.Errorf("an open file with two names: %v", err)
		}
		if got := lstat(t, d, "f"); got.Mode != 0o600 || got.Mtime != other.Mtime {
			t.Errorf("dressed all the same: %+v", got)
		}
		must(t, d.SetMetadata("f", other.Ino, fsx.Metadata{Mode: 0o640, Mtime: testTime}))
		dir := lstat(t, d, "dir")
		must(t, d.SetMetadata("dir", dir.Ino, fsx.Metadata{Mode: 0o700, Mtime: testTime, RequireSingleLink: true}))
		if err := d.SetMetadata("none", 1, fsx.Metadata{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("dress nothing: %v", err)
		}
	})
}

func TestDressOfHandles(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		f, err := d.Create("f", 0o600)
		must(t, err)
		dr := fsx.Metadata{SetOwner: canChown(p), UID: 5, GID: 6, Mode: 0o6711, Mtime: testTime}
		must(t, errors.Join(f.SetMetadata(dr), d.SetOwnMetadata(dr)))
		file, err := f.Stat()
		must(t, err)
		self, err := d.Stat()
		must(t, err)
		for name, got := range map[string]fsx.Info{"file": file, "directory": self} {
			if got.Mode != 0o6711 || got.Mtime != testTime || dr.SetOwner && (got.UID != 5 || got.GID != 6) {
				t.Errorf("the %s is %+v", name, got)
			}
		}
		must(t, errors.Join(f.SetMetadata(dr), d.SetOwnMetadata(dr)))
		if again, err := f.Stat(); err != nil || again != file {
			t.Errorf("a second time changed it: %+v %v", again, err)
		}
		must(t, errors.Join(f.Close(), d.Close()))
		for what, err := range map[string]error{"file": f.SetMetadata(dr), "directory": d.SetOwnMetadata(dr), "name": d.SetMetadata("f", 1, dr)} {
			if !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s after close: %v", what, err)
			}
		}
	})
}

func TestDressXattrs(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		writeFile(t, d, "f", "data")
		must(t, d.Mkdir("dir", 0o755))
		one := map[string][]byte{"user.a": []byte("1"), "user.gone": []byte("2"), "user.same": nil}
		two := map[string][]byte{"user.a": []byte("3"), "user.new": {0, 255}, "user.same": {}}
		for _, name := range []string{"f", "dir"} {
			is := lstat(t, d, name)
			dress := func(attrs map[string][]byte) error {
				return d.SetMetadata(name, is.Ino, fsx.Metadata{Mode: is.Mode, Mtime: is.Mtime, Xattrs: attrs})
			}
			if p.xattr == nil {
				if err := dress(one); !errors.Is(err, errors.ErrUnsupported) {
					t.Errorf("attributes: %v", err)
				}
				must(t, dress(map[string][]byte{}))
				continue
			}
			must(t, errors.Join(dress(one), dress(two)))
			if diff := cmp.Diff(two, xattrsOf(t, d, name)); diff != "" {
				t.Error(name, diff)
			}
			before := lstat(t, d, name)
			must(t, errors.Join(dress(two), dress(nil)))
			if after := lstat(t, d, name); after != before {
				t.Errorf("equal attributes changed %s: %+v, was %+v", name, after, before)
			}
			must(t, dress(map[string][]byte{}))
			if left := xattrsOf(t, d, name); left != nil {
				t.Errorf("%s has %v left", name, left)
			}
		}
	})
}

func xattrsOf(t *testing.T, d fsx.Dir, name string) map[string][]byte {
	t.Helper()
	var from interface {
		Xattrs() (map[string][]byte, error)
		Close() error
	}
	from, err := d.OpenFile(name)
	if errors.Is(err, fsx.ErrNotRegular) {
		from, err = d.OpenDir(name)
	}
	must(t, err)
	defer from.Close()
	attrs, err := from.Xattrs()
	must(t, err)
	return attrs
}

func TestDressRefusesBeforeItActs(t *testing.T) {
	t.Parallel()
	onEveryFS(t, func(t *testing.T, p testFS) {
		d := p.open(t)
		writeFile(t, d, "f", "data")
		is := lstat(t, d, "f")
		for why, dr := range map[string]fsx.Metadata{
			"attribute": {Mode: 0o640, Mtime: testTime, Xattrs: map[string][]byte{"security.x": nil}},
			"mode":      {Mode: 0o100640, Mtime: testTime},
			"owner":     {Mode: 0o640, Mtime: testTime, SetOwner: true, UID: 1<<32 - 1, GID: is.GID},
			"group":     {Mode: 0o640, Mtime: testTime, SetOwner: true, UID: is.UID, GID: 1<<32 - 1},
		} {
			err := d.SetMetadata("f", is.Ino, dr)
			if bad := errors.Is(err, fsx.ErrBadName); err == nil || bad != (why == "attribute") {
				t.Errorf("%s: %v", why, err)
			}
			if got := lstat(t, d, "f"); got != is {
				t.Errorf("%s: dressed in part: %+v", why, got)
			}
		}
	})
}
