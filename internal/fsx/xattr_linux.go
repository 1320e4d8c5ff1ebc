//go:build linux && !portable

package fsx

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// Xattrs answers nil when there are none. Linux ends a list and a value at
// 64 KiB, so one buffer each is always enough.
func (h *handle) Xattrs() (attrs map[string][]byte, err error) {
	list := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(list)
	size := 0
	err = h.do("list attributes", "", func(fd int) (err error) {
		size, err = unix.Flistxattr(fd, list[:])
		return err
	})
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
		n := 0
		err := h.do("read attribute", name, func(fd int) (err error) {
			n, err = unix.Fgetxattr(fd, name, value[:])
			return err
		})
		if errors.Is(err, unix.ENODATA) { // gone since the list was read
			continue
		}
		if err != nil {
			return nil, err
		}
		if attrs == nil {
			attrs = map[string][]byte{}
		}
		attrs[name] = bytes.Clone(value[:n])
	}
	return attrs, nil
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
