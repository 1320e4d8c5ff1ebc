//go:build !linux || portable

package fsx

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// wearer is what can be dressed: a name, a directory or a file.
type wearer struct {
	stat  func() (fs.FileInfo, error)
	chown func(uid, gid int) error
	chmod func(mode fs.FileMode) error
	mtime func(ns int64) error
}

// Dress goes by name, as the Go library has no other way, and looks before each
// step whether the name still stands for the file it was told. Between the look
// and the step the name can change; only a mode would follow a link then.
func (d *portableDir) Dress(name string, ino uint64, dr Dressing) error {
	const op = "dress"
	first, err := d.lstat(op, name)
	if err != nil {
		return err
	}
	if infoFrom(first).Ino != ino {
		return fail(op, name, ErrMovedOn)
	}
	same := func() (fs.FileInfo, error) {
		st, err := d.root.Lstat(name)
		if err == nil && !os.SameFile(first, st) {
			err = ErrMovedOn
		}
		return st, err
	}
	return fail(op, name, cause(wearer{
		stat:  same,
		chown: func(uid, gid int) error { return d.root.Lchown(name, uid, gid) },
		chmod: func(mode fs.FileMode) error { return d.root.Chmod(name, mode) },
		mtime: func(ns int64) error { return setNameMtime(d, name, ns) },
	}.dress(dr)))
}

func (d *portableDir) DressSelf(dr Dressing) error {
	return fail("dress", "", cause(wearer{
		stat:  func() (fs.FileInfo, error) { return d.root.Stat(".") },
		chown: func(uid, gid int) error { return d.root.Chown(".", uid, gid) },
		chmod: func(mode fs.FileMode) error { return d.root.Chmod(".", mode) },
		mtime: func(ns int64) error { return d.root.Chtimes(".", time.Time{}, time.Unix(0, ns)) },
	}.dress(dr)))
}

func (f *portableFile) Dress(dr Dressing) error {
	return fail("dress", "", cause(wearer{
		stat: f.f.Stat, chown: f.f.Chown, chmod: f.f.Chmod, mtime: f.SetMtime,
	}.dress(dr)))
}

// dress gives the owner first, as that clears setuid, and the time last.
func (w wearer) dress(d Dressing) error {
	is, err := w.look()
	if err != nil {
		return err
	}
	if err := d.check(is); err != nil {
		return err
	}
	if d.changesOwner(is) {
		if err := w.chown(int(d.UID), int(d.GID)); err != nil {
			return err
		}
		if is, err = w.look(); err != nil {
			return err
		}
	}
	if d.changesMode(is) {
		if err := w.chmod(fileMode(d.Mode)); err != nil {
			return err
		}
	}
	if len(d.Xattrs) > 0 { // none is what Xattrs tells here
		return errors.ErrUnsupported
	}
	if is, err = w.look(); err != nil || is.Mtime == d.Mtime {
		return err
	}
	return w.mtime(d.Mtime)
}

func (w wearer) look() (Info, error) {
	st, err := w.stat()
	if err != nil {
		return Info{}, err
	}
	return infoFrom(st), nil
}

// fileMode says the bits of unixMode in the way of the Go library.
func fileMode(bits uint32) fs.FileMode {
	mode := fs.FileMode(bits & 0o777)
	if bits&0o4000 != 0 {
		mode |= fs.ModeSetuid
	}
	if bits&0o2000 != 0 {
		mode |= fs.ModeSetgid
	}
	if bits&0o1000 != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}
