//go:build linux && !portable

package fsx

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SetMetadata pins the inode with a descriptor before it checks it, and then acts on that
// descriptor only, so that a rename cannot redirect it. O_PATH needs no permission on the file
// and does not wake a FIFO.
func (d *osDir) SetMetadata(name string, ino uint64, dr Metadata) error {
	const op = "dress"
	if err := CheckName(name); err != nil {
		return WrapError(op, name, err)
	}
	return d.withFD(op, name, func(dir int) error {
		fd, err := d.fs.openBeneath(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd) //nolint:errcheck // nothing was written through it
		is, err := fstat(fd)
		if err != nil {
			return err
		}
		if is.Ino != ino {
			return ErrUnexpectedFile
		}
		n, done, err := d.inodeForMetadata(dir, name, fd, is)
		if err != nil {
			return err
		}
		defer done()
		return n.applyMetadata(dr)
	})
}

// inodeForMetadata returns how to act on the inode behind fd, which was opened with O_PATH: by
// its path below /proc, or, where /proc is not mounted, by a second descriptor of the same
// inode. The caller must call done.
func (d *osDir) inodeForMetadata(dir int, name string, fd int, is Info) (n inodeRef, done func(), err error) {
	n = inodeRef{fd: fd, path: "/proc/self/fd/" + strconv.Itoa(fd)}
	var st unix.Stat_t
	err = retryEINTR(func() error { return unix.Lstat(n.path, &st) })
	if err == nil {
		return n, func() {}, nil
	}
	flags := openReadFlags
	switch is.Type {
	case Directory:
		flags = openDirFlags
	case Regular:
	case Symlink: // owner and time go by the descriptor alone
		return inodeRef{fd: fd}, func() {}, nil
	default:
		return inodeRef{}, nil, fmt.Errorf("reach through /proc: %s: %w", CauseText(err), errors.ErrUnsupported)
	}
	open, err := d.fs.openName(dir, name, flags, 0)
	if err != nil {
		return inodeRef{}, nil, err
	}
	now, err := fstat(open)
	if err == nil && (now.Ino != is.Ino || now.Dev != is.Dev) {
		err = ErrUnexpectedFile
	}
	if err != nil {
		_ = unix.Close(open)
		return inodeRef{}, nil, err
	}
	return inodeRef{fd: open}, func() { _ = unix.Close(open) }, nil
}

func (d *osDir) SetOwnMetadata(dr Metadata) error {
	return d.withFD("dress", "", func(fd int) error { return inodeRef{fd: fd}.applyMetadata(dr) })
}

func (f *osFile) SetMetadata(dr Metadata) error {
	return f.withFD("dress", "", func(fd int) error { return inodeRef{fd: fd}.applyMetadata(dr) })
}

// applyMetadata sets the owner first, because that clears setuid, and the time last.
func (n inodeRef) applyMetadata(d Metadata) error {
	is, err := fstat(n.fd)
	if err != nil {
		return err
	}
	if err := d.Validate(is); err != nil {
		return err
	}
	if d.ChangesOwner(is) {
		if err := n.chown(d.UID, d.GID); err != nil {
			return WrapError("set owner", "", err)
		}
		if is, err = fstat(n.fd); err != nil {
			return err
		}
	}
	if d.Xattrs != nil && SupportsUserXattrs(is.Type) {
		if is, err = n.applyACLs(is, d); err != nil {
			return err
		}
	}
	if d.ChangesMode(is) {
		if err := n.chmod(d.Mode); err != nil {
			return WrapError("set mode", "", err)
		}
	}
	if d.Xattrs != nil {
		if err := n.applyXattrs(is.Type, d); err != nil {
			return err
		}
	}
	if is.Mtime == d.Mtime {
		return nil
	}
	return WrapError("set time", "", n.setMtime(d.Mtime))
}

// chown sets the owner. One that a user namespace does not know cannot be set by anybody in it.
func (n inodeRef) chown(uid, gid uint32) error {
	err := retryEINTR(func() error {
		return unix.Fchownat(n.fd, "", int(uid), int(gid), unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW)
	})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOVERFLOW) {
		return fmt.Errorf("%w: %w", fs.ErrPermission, err)
	}
	return err
}

// chmod verifies the result: the kernel silently drops setgid if the group is not ours, and
// some file systems do not store modes.
func (n inodeRef) chmod(mode uint32) error {
	err := retryEINTR(func() error {
		if n.path != "" {
			return unix.Chmod(n.path, mode)
		}
		return unix.Fchmod(n.fd, mode)
	})
	if err != nil {
		return err
	}
	is, err := fstat(n.fd)
	if err == nil && is.Mode != mode {
		err = fmt.Errorf("mode is %o, not %o: %w", is.Mode, mode, fs.ErrPermission)
	}
	return err
}

// applyACLs replaces the access control lists, before the mode: the list of a file decides about
// the bits of its group. Without a list those bits are the rights of the group, so that they are
// narrowed before one is removed.
func (n inodeRef) applyACLs(is Info, d Metadata) (Info, error) {
	have, err := n.readXattrs(isACL)
	if err != nil {
		return is, WrapError("list attributes", "", err)
	}
	if have[ACLXattr] != nil && d.Xattrs[ACLXattr] == nil {
		const group = 0o070
		if narrow := is.Mode &^ (group &^ d.Mode); narrow != is.Mode {
			if err := n.chmod(narrow); err != nil {
				return is, WrapError("set mode", "", err)
			}
		}
	}
	if err := n.replaceXattrs(have, d.Xattrs, isACL); err != nil {
		return is, err
	}
	return fstat(n.fd)
}

// applyXattrs replaces the attributes, except for access control lists. If the mode denies even the
// owner access to them, it widens the mode for the time being.
func (n inodeRef) applyXattrs(typ Type, d Metadata) error {
	if !SupportsUserXattrs(typ) {
		if len(d.Xattrs) > 0 {
			return WrapError("set attribute", "", errors.ErrUnsupported)
		}
		return nil
	}
	rest := func(name string) bool { return !isACL(name) }
	replace := func() error {
		have, err := n.readXattrs(rest)
		if err != nil {
			return WrapError("list attributes", "", err)
		}
		return n.replaceXattrs(have, d.Xattrs, rest)
	}
	err := replace()
	if !errors.Is(err, unix.EACCES) || d.Mode&0o600 == 0o600 {
		return err
	}
	if lift := n.chmod(d.Mode&0o777 | 0o600); lift != nil {
		return errors.Join(err, lift)
	}
	return errors.Join(replace(), n.chmod(d.Mode))
}

// replaceXattrs makes those of want that are meant the complete set; equal ones are not written
// again.
func (n inodeRef) replaceXattrs(have, want map[string][]byte, meant func(name string) bool) error {
	for name := range have {
		if _, keep := want[name]; keep || !meant(name) {
			continue
		}
		err := retryEINTR(func() error {
			if n.path != "" {
				return unix.Removexattr(n.path, name)
			}
			return unix.Fremovexattr(n.fd, name)
		})
		if err != nil && !errors.Is(err, unix.ENODATA) {
			return WrapError("remove attribute", name, err)
		}
	}
	for name, value := range want {
		if old, ok := have[name]; !meant(name) || ok && bytes.Equal(old, value) {
			continue
		}
		err := retryEINTR(func() error {
			if n.path != "" {
				return unix.Setxattr(n.path, name, value, 0)
			}
			return unix.Fsetxattr(n.fd, name, value, 0)
		})
		if err != nil {
			return asAttributeError(name, WrapError("set attribute", name, err))
		}
	}
	return nil
}

// asAttributeError tells of an attribute without which the rest can be set. A full or failing disk
// is another matter.
func asAttributeError(name string, err error) error {
	refused := slices.ContainsFunc([]error{unix.EPERM, unix.EACCES, unix.EINVAL, unix.ENOTSUP, unix.EOVERFLOW}, func(e error) bool { return errors.Is(err, e) })
	switch {
	case !refused:
		return err
	case name == CapabilityXattr:
		return fmt.Errorf("%w: %w", ErrCapability, err)
	case isACL(name):
		return fmt.Errorf("%w: %w", ErrACL, err)
	}
	return err
}

// setMtime sets the modification time. Kernels before 5.8 refuse an empty path.
func (n inodeRef) setMtime(ns int64) error {
	times := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(ns)}
	if n.path == "" {
		err := retryEINTR(func() error { return futimens(n.fd, &times) })
		if !errors.Is(err, unix.EBADF) { // a descriptor of O_PATH does not support this call
			return err
		}
	}
	err := retryEINTR(func() error { return unix.UtimesNanoAt(n.fd, "", times[:], unix.AT_EMPTY_PATH) })
	if n.path != "" && errors.Is(err, unix.EINVAL) {
		return retryEINTR(func() error { return unix.UtimesNanoAt(unix.AT_FDCWD, n.path, times[:], 0) })
	}
	return err
}

// futimens passes a nil path, which means the descriptor itself; package unix cannot express
// that.
func futimens(fd int, times *[2]unix.Timespec) error {
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, uintptr(unsafe.Pointer(times)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
