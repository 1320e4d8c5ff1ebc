//go:build unix

package fsx_test

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

const then = 1_500_000_000_123_456_789

// canChown: on the machine only root gives files away.
func canChown(p place) bool {
	_, memory := p.fs.(*fsx.Memory)
	return memory || os.Geteuid() == 0
}

func TestDressGivesAll(t *testing.T) {
	t.Parallel()
	everyPlace(t, func(t *testing.T, p place) {
		d := p.open(t)
		put(t, d, "f", "data")
		must(t, d.Mkdir("dir", 0o755))
		must(t, d.Special("fifo", fsx.FIFO, 0o600))
		for name, mode := range map[string]uint32{"f": 0o4751, "dir": 0o3705, "fifo": 0o640} {
			is := lstat(t, d, name)
			want := fsx.Dressing{Owner: canChown(p), UID: 1234, GID: 4321, Mode: mode, Mtime: then}
			must(t, d.Dress(name, is.Ino, want))
			got := lstat(t, d, name)
			if got.Mode != mode || got.Mtime != then {
				t.Errorf("%s is %+v", name, got)
			}
			if want.Owner && (got.UID != 1234 || got.GID != 4321) {
				t.Errorf("%s belongs to %d:%d", name, got.UID, got.GID)
			}
			must(t, d.Dress(name, is.Ino, want))
			if again := lstat(t, d, name); again != got {
				t.Errorf("a second time changed %s: %+v, was %+v", name, again, got)
			}
			want.Owner, want.UID, want.GID = false, 7, 7
			must(t, d.Dress(name, is.Ino, want))
			if again := lstat(t, d, name); again != got {
				t.Errorf("the owner of %s was not left: %+v", name, again)
			}
		}
	})
}

func TestDressOfLinks(t *testing.T) {
	t.Parallel()
	everyPlace(t, func(t *testing.T, p place) {
		d := p.open(t)
		put(t, d, "f", "data")
		must(t, d.Symlink("f", "link"))
		must(t, d.Symlink("nowhere", "dangling"))
		before := lstat(t, d, "f")
		for _, name := range []string{"link", "dangling"} {
			is := lstat(t, d, name)
			dr := fsx.Dressing{Owner: canChown(p), UID: 77, GID: 78, Mode: 0o644, Mtime: then, Xattrs: map[string][]byte{}}
			must(t, d.Dress(name, is.Ino, dr))
			got := lstat(t, d, name)
			if got.Mtime != then || got.Mode != is.Mode || got.Type != fsx.Symlink || dr.Owner && (got.UID != 77 || got.GID != 78) {
				t.Errorf("%s is %+v", name, got)
			}
			dr.Xattrs["user.x"] = nil
			if err := d.Dress(name, is.Ino, dr); !errors.Is(err, errors.ErrUnsupported) {
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
	everyPlace(t, func(t *testing.T, p place) {
		d := p.open(t)
		put(t, d, "f", "one")
		put(t, d, "other", "two")
		must(t, d.Mkdir("dir", 0o755))
		is, other := lstat(t, d, "f"), lstat(t, d, "other")
		must(t, d.Rename("other", d, "f"))
		if err := d.Dress("f", is.Ino, fsx.Dressing{Mode: 0o777, Mtime: then}); !errors.Is(err, fsx.ErrMovedOn) {
			t.Errorf("another file has the name: %v", err)
		}
		must(t, d.Link("f", d, "second"))
		err := d.Dress("f", other.Ino, fsx.Dressing{Mode: 0o777, Mtime: then, SingleName: true})
		if !errors.Is(err, fsx.ErrMovedOn) {
			t.Errorf("a file with two names: %v", err)
		}
		f, err := d.OpenFile("f")
		must(t, err)
		defer f.Close()
		if err := f.Dress(fsx.Dressing{Mode: 0o777, SingleName: true}); !errors.Is(err, fsx.ErrMovedOn) {
			t.Errorf("an open file with two names: %v", err)
		}
		if got := lstat(t, d, "f"); got.Mode != 0o600 || got.Mtime != other.Mtime {
			t.Errorf("dressed all the same: %+v", got)
		}
		must(t, d.Dress("f", other.Ino, fsx.Dressing{Mode: 0o640, Mtime: then}))
		dir := lstat(t, d, "dir")
		must(t, d.Dress("dir", dir.Ino, fsx.Dressing{Mode: 0o700, Mtime: then, SingleName: true}))
		if err := d.Dress("none", 1, fsx.Dressing{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("dress nothing: %v", err)
		}
	})
}

func TestDressOfHandles(t *testing.T) {
	t.Parallel()
	everyPlace(t, func(t *testing.T, p place) {
		d := p.open(t)
		f, err := d.Create("f", 0o600)
		must(t, err)
		dr := fsx.Dressing{Owner: canChown(p), UID: 5, GID: 6, Mode: 0o6711, Mtime: then}
		must(t, errors.Join(f.Dress(dr), d.DressSelf(dr)))
		file, err := f.Stat()
		must(t, err)
		self, err := d.Stat()
		must(t, err)
		for name, got := range map[string]fsx.Info{"file": file, "directory": self} {
			if got.Mode != 0o6711 || got.Mtime != then || dr.Owner && (got.UID != 5 || got.GID != 6) {
				t.Errorf("the %s is %+v", name, got)
			}
		}
		must(t, errors.Join(f.Dress(dr), d.DressSelf(dr)))
		if again, err := f.Stat(); err != nil || again != file {
			t.Errorf("a second time changed it: %+v %v", again, err)
		}
		must(t, errors.Join(f.Close(), d.Close()))
		for what, err := range map[string]error{"file": f.Dress(dr), "directory": d.DressSelf(dr), "name": d.Dress("f", 1, dr)} {
			if !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s after close: %v", what, err)
			}
		}
	})
}

func TestDressXattrs(t *testing.T) {
	t.Parallel()
	everyPlace(t, func(t *testing.T, p place) {
		d := p.open(t)
		put(t, d, "f", "data")
		must(t, d.Mkdir("dir", 0o755))
		one := map[string][]byte{"user.a": []byte("1"), "user.gone": []byte("2"), "user.same": nil}
		two := map[string][]byte{"user.a": []byte("3"), "user.new": {0, 255}, "user.same": {}}
		for _, name := range []string{"f", "dir"} {
			is := lstat(t, d, name)
			dress := func(attrs map[string][]byte) error {
				return d.Dress(name, is.Ino, fsx.Dressing{Mode: is.Mode, Mtime: is.Mtime, Xattrs: attrs})
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
	everyPlace(t, func(t *testing.T, p place) {
		d := p.open(t)
		put(t, d, "f", "data")
		is := lstat(t, d, "f")
		for why, dr := range map[string]fsx.Dressing{
			"attribute": {Mode: 0o640, Mtime: then, Xattrs: map[string][]byte{"security.x": nil}},
			"mode":      {Mode: 0o100640, Mtime: then},
			"owner":     {Mode: 0o640, Mtime: then, Owner: true, UID: 1<<32 - 1, GID: is.GID},
			"group":     {Mode: 0o640, Mtime: then, Owner: true, UID: is.UID, GID: 1<<32 - 1},
		} {
			err := d.Dress("f", is.Ino, dr)
			if bad := errors.Is(err, fsx.ErrBadName); err == nil || bad != (why == "attribute") {
				t.Errorf("%s: %v", why, err)
			}
			if got := lstat(t, d, "f"); got != is {
				t.Errorf("%s: dressed in part: %+v", why, got)
			}
		}
	})
}
