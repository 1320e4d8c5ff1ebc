//go:build !linux || portable

package fsx

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// metadataTarget is something whose metadata can be set: a name, a directory or a file.
type metadataTarget struct {
	stat     func() (fs.FileInfo, error)
	chown    func(uid, gid int) error
	chmod    func(mode fs.FileMode) error
	setMtime func(ns int64) error
}

// SetMetadata goes by name because the Go library offers nothing else, and checks before each
// step that the name still refers to the expected file. The name can change between check and
// step; only the change of mode would follow a link then.
func (d *portableDir) SetMetadata(name string, ino uint64, dr Metadata) error {
	const op = "dress"
	first, err := d.lstat(op, name)
	if err != nil {
		return err
	}
	if infoFromFileInfo(first).Ino != ino {
		return WrapError(op, name, ErrUnexpectedFile)
	}
	same := func() (fs.FileInfo, error) {
		st, err := d.root.Lstat(name)
		if err == nil && !os.SameFile(first, st) {
			err = ErrUnexpectedFile
		}
		return st, err
	}
	return WrapError(op, name, unwrapOSError(metadataTarget{
		stat:     same,
		chown:    func(uid, gid int) error { return d.root.Lchown(name, uid, gid) },
		chmod:    func(mode fs.FileMode) error { return d.root.Chmod(name, mode) },
		setMtime: func(ns int64) error { return setMtimeByName(d, name, ns) },
	}.applyMetadata(dr)))
}

func (d *portableDir) SetOwnMetadata(dr Metadata) error {
	return WrapError("dress", "", unwrapOSError(metadataTarget{
		stat:     func() (fs.FileInfo, error) { return d.root.Stat(".") },
		chown:    func(uid, gid int) error { return d.root.Chown(".", uid, gid) },
		chmod:    func(mode fs.FileMode) error { return d.root.Chmod(".", mode) },
		setMtime: func(ns int64) error { return d.root.Chtimes(".", time.Time{}, time.Unix(0, ns)) },
	}.applyMetadata(dr)))
}

func (f *portableFile) SetMetadata(dr Metadata) error {
	return WrapError("dress", "", unwrapOSError(metadataTarget{
		stat: f.file.Stat, chown: f.file.Chown, chmod: f.file.Chmod, setMtime: f.SetMtime,
	}.applyMetadata(dr)))
}

// applyMetadata sets the owner first, because that clears setuid, and the time last.
func (w metadataTarget) applyMetadata(d Metadata) error {
	is, err := w.info()
	if err != nil {
		return err
	}
	if err := d.Validate(is); err != nil {
		return err
	}
	switch { // before anything is changed
	case d.Xattrs[CapabilityXattr] != nil:
		return errors.Join(ErrCapability, errors.ErrUnsupported)
	case d.Xattrs[ACLXattr] != nil || d.Xattrs[DefaultACLXattr] != nil:
		return errors.Join(ErrACL, errors.ErrUnsupported)
	}
	if d.ChangesOwner(is) {
		if err := w.chown(int(d.UID), int(d.GID)); err != nil {
			return err
		}
		if is, err = w.info(); err != nil {
			return err
		}
	}
	if d.ChangesMode(is) {
		if err := w.chmod(fileModeFromBits(d.Mode)); err != nil {
			return err
		}
	}
	if len(d.Xattrs) > 0 { // no attributes is what Xattrs reports here
		return errors.ErrUnsupported
	}
	if is, err = w.info(); err != nil || is.Mtime == d.Mtime {
		return err
	}
	return w.setMtime(d.Mtime)
}

func (w metadataTarget) info() (Info, error) {
	st, err := w.stat()
	if err != nil {
		return Info{}, err
	}
	return infoFromFileInfo(st), nil
}

// fileModeFromBits is the inverse of BitsFromFileMode.
func fileModeFromBits(bits uint32) fs.FileMode {
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
