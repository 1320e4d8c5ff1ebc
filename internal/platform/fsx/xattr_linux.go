//go:build linux && !portable

package fsx

import (
	"bytes"
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// inodeRef refers to an inode by descriptor or, for a descriptor of O_PATH, which supports few
// calls, by its path below /proc, which resolves to the same inode.
type inodeRef struct {
	fd   int
	path string // below /proc; empty: use fd
}

func (n inodeRef) listXattrs(buf []byte) (size int, err error) {
	err = retryEINTR(func() (err error) {
		if n.path != "" {
			size, err = unix.Listxattr(n.path, buf)
		} else {
			size, err = unix.Flistxattr(n.fd, buf)
		}
		return err
	})
	return size, err
}

func (n inodeRef) getXattr(name string, buf []byte) (size int, err error) {
	err = retryEINTR(func() (err error) {
		if n.path != "" {
			size, err = unix.Getxattr(n.path, name, buf)
		} else {
			size, err = unix.Fgetxattr(n.fd, name, buf)
		}
		return err
	})
	return size, err
}

// readXattrs returns the attributes of the file, nil if there are none. Linux limits the list and
// each value to 64 KiB, so one buffer for each is enough.
func (n inodeRef) readXattrs(meant func(name string) bool) (attrs map[string][]byte, err error) {
	list := bufferPool.Get().(*[bufferSize]byte)
	defer bufferPool.Put(list)
	size, err := n.listXattrs(list[:])
	if errors.Is(err, unix.ENOTSUP) || err == nil && size == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value := bufferPool.Get().(*[bufferSize]byte)
	defer bufferPool.Put(value)
	for raw := range bytes.SplitSeq(list[:size], []byte{0}) {
		name := string(raw)
		if CheckXattrName(name) != nil || !meant(name) {
			continue
		}
		got, err := n.getXattr(name, value[:])
		if errors.Is(err, unix.ENODATA) || !isUserXattr(name) && isUnreadable(err) { // removed since the list was read, or not for us
			continue
		}
		if err != nil {
			return nil, WrapError("read attribute", name, err)
		}
		if attrs == nil {
			attrs = map[string][]byte{}
		}
		attrs[name] = bytes.Clone(value[:got])
	}
	return attrs, nil
}

// isUnreadable reports whether the kernel lists an attribute that it does not show: of a user
// namespace other than ours, or of a FUSE file system that has no lists.
func isUnreadable(err error) bool {
	return errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.EOVERFLOW) || errors.Is(err, unix.EINVAL)
}

func (h *fdHandle) Xattrs() (attrs map[string][]byte, err error) {
	err = h.withFD("list attributes", "", func(fd int) (err error) {
		attrs, err = inodeRef{fd: fd}.readXattrs(func(string) bool { return true })
		return err
	})
	return attrs, err
}

func (h *fdHandle) SetXattr(name string, value []byte) error {
	if err := CheckXattrName(name); err != nil {
		return WrapError("set attribute", name, err)
	}
	return h.withFD("set attribute", name, func(fd int) error {
		return unix.Fsetxattr(fd, name, value, 0)
	})
}

func (h *fdHandle) RemoveXattr(name string) error {
	if err := CheckXattrName(name); err != nil {
		return WrapError("remove attribute", name, err)
	}
	err := h.withFD("remove attribute", name, func(fd int) error {
		return unix.Fremovexattr(fd, name)
	})
	if errors.Is(err, unix.ENODATA) {
		return wrapErrorAs("remove attribute", name, fs.ErrNotExist, unix.ENODATA)
	}
	return err
}
