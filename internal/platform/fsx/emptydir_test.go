package fsx_test

import (
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/retake-dev/retake/internal/platform/fsx"
)

func TestEmptyDirHoldsNothing(t *testing.T) {
	t.Parallel()
	d := fsx.EmptyDir()
	info, err := d.Stat()
	must(t, err)
	names, err := d.Names()
	must(t, err)
	attrs, err := d.Xattrs()
	must(t, err)
	if info.Type != fsx.Directory || len(names) != 0 || len(attrs) != 0 {
		t.Errorf("it is %+v with %q and %q", info, names, attrs)
	}
	lookups := map[string]func(name string) error{
		"stat":     func(name string) error { _, err := d.Lstat(name); return err },
		"open dir": func(name string) error { _, err := d.OpenDir(name); return err },
		"open":     func(name string) error { _, err := d.OpenFile(name); return err },
		"readlink": func(name string) error { _, err := d.Readlink(name); return err },
		"rename":   func(name string) error { return d.Rename(name, d, "new") },
		"place":    func(name string) error { return d.RenameNoReplace(name, d, "new") },
		"exchange": func(name string) error { return d.Exchange(name, d, "new") },
		"link":     func(name string) error { return d.Link(name, d, "new") },
		"remove":   d.Remove,
		"rmdir":    d.RemoveDir,
		"dress":    func(name string) error { return d.SetMetadata(name, 1, fsx.Metadata{}) },
	}
	for op, look := range lookups {
		if err := look("f"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", op, err)
		}
		if err := look("../f"); !errors.Is(err, fsx.ErrBadName) {
			t.Errorf("%s of a path: %v", op, err)
		}
	}
	must(t, errors.Join(d.Sync(), d.SyncFS(), d.Close()))
}

func TestEmptyDirRefusesChanges(t *testing.T) {
	t.Parallel()
	d := fsx.EmptyDir()
	for op, change := range map[string]func() error{
		"create":       func() error { _, err := d.Create("f", 0o600); return err },
		"append":       func() error { _, err := d.Append("f", 0o600); return err },
		"mkdir":        func() error { return d.Mkdir("d", 0o755) },
		"symlink":      func() error { return d.Symlink("to", "l") },
		"mknod":        func() error { return d.Mknod("p", fsx.FIFO, 0o600) },
		"dress":        func() error { return d.SetOwnMetadata(fsx.Metadata{Mode: 0o755}) },
		"set xattr":    func() error { return d.SetXattr("user.a", nil) },
		"remove xattr": func() error { return d.RemoveXattr("user.a") },
		"set time":     func() error { return d.SetMtime(1) },
	} {
		if err := change(); !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v", op, err)
		}
	}
}
