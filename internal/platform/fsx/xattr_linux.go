//go:build linux && !portable

package fsx

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// inode is what a descriptor stands for. One opened with O_PATH takes no calls
// but by its path below /proc, which leads to that very inode.
type inode struct {
	fd   int
	path string // empty: by the descriptor
}

func (n inode) list(buf []byte) (size int, err error) {
	err = again(func() (err error) {
		if n.path != "" {
			size, err = unix.Listxattr(n.path, buf)
		} else {
			size, err = unix.Flistxattr(n.fd, buf)
		}
		return err
	})
	return size, err
}

func (n inode) value(name string, buf []byte) (size int, err error) {
	err = again(func() (err error) {
		if n.path != "" {
			size, err = unix.Getxattr(n.path, name, buf)
		} else {
			size, err = unix.Fgetxattr(n.fd, name, buf)
		}
		return err
	})
	return size, err
}

// xattrs returns nil if there are none. Linux ends a list and a value at
// 64 KiB, so one buffer each is always enough.
func (n inode) xattrs() (attrs map[string][]byte, err error) {
	list := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(list)
	size, err := n.list(list[:])
	if errors.Is(err, unix.ENOTSUP) || err == nil && size == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(value)
	for raw := range bytes.SplitSeq(list[:size], []byte{0}) {
		name := string(raw)
		if !strings.HasPrefix(name, userPrefix) {
			continue
		}
		got, err := n.value(name, value[:])
		if errors.Is(err, unix.ENODATA) { // gone since the list was read
			continue
		}
		if err != nil {
			return nil, fail("read attribute", name, err)
		}
		if attrs == nil {
			attrs = map[string][]byte{}
		}
		attrs[name] = bytes.Clone(value[:got])
	}
	return attrs, nil
}

func (h *handle) Xattrs() (attrs map[string][]byte, err error) {
	err = h.do("list attributes", "", func(fd int) (err error) {
		attrs, err = inode{fd: fd}.xattrs()
		return err
	})
	return attrs, err
}

func (h *handle) SetXattr(name string, value []byte) error {
	if err := checkAttr(name); err != nil {
		return fail("set attribute", name, err)
	}
	return h.do("set attribute", name, func(fd int) error {
		return unix.Fsetxattr(fd, name, value, 0)
	})
}

func (h *handle) RemoveXattr(name string) error {
	if err := checkAttr(name); err != nil {
		return fail("remove attribute", name, err)
	}
	err := h.do("remove attribute", name, func(fd int) error {
		return unix.Fremovexattr(fd, name)
	})
	if errors.Is(err, unix.ENODATA) {
		return failAs("remove attribute", name, fs.ErrNotExist, unix.ENODATA)
	}
	return err
}
