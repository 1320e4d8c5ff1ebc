package track

import (
	"bytes"
	"encoding/binary"
	"errors"

	"golang.org/x/sys/unix"
)

// The layout of what inotify writes.
const (
	inoMaskAt   = 4
	inoCookieAt = 8
	inoSizeAt   = 12
	inoHead     = 16
)

// read takes what is in the queue, to its end. New directories make it grow
// while it is read. root is the open root, or -1 to open it when it is needed.
func (i *inoWatch) read(root int) {
	borrowed := root >= 0
	defer func() {
		if !borrowed && root >= 0 {
			closeFD(root)
		}
	}()
	for !i.closed {
		n, err := unix.Read(i.fd, i.buf)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return
		case err != nil || n <= 0:
			i.breaks("the queue of changes cannot be read")
			return
		}
		i.events(i.buf[:n], &root)
	}
}

func (i *inoWatch) events(buf []byte, root *int) {
	for len(buf) >= inoHead && !i.closed {
		wd := int32(binary.NativeEndian.Uint32(buf))
		mask := binary.NativeEndian.Uint32(buf[inoMaskAt:])
		end := inoHead + int(binary.NativeEndian.Uint32(buf[inoSizeAt:]))
		if end > len(buf) {
			i.breaks("the kernel reports changes in an unexpected way")
			return
		}
		name, _, _ := bytes.Cut(buf[inoHead:end], []byte{0})
		i.event(wd, mask, binary.NativeEndian.Uint32(buf[inoCookieAt:]), string(name), root)
		buf = buf[end:]
	}
}

func (i *inoWatch) event(wd int32, mask, cookie uint32, name string, root *int) {
	switch {
	case mask&unix.IN_Q_OVERFLOW != 0:
		i.breaks("more changes at once than the kernel keeps")
		return
	case mask&unix.IN_UNMOUNT != 0:
		i.breaks("the file system was unmounted")
		return
	}
	d := i.byWD[wd]
	if d == nil {
		return // it was moved or removed, and its place was told
	}
	if mask&unix.IN_IGNORED != 0 {
		i.lost(d)
		return
	}
	path := join(d.path(), name)
	if mask&unix.IN_ISDIR == 0 || name == "" {
		i.note(path, Name)
		i.follow(mask, cookie, path)
		return
	}
	i.followDir(mask, cookie, path)
	i.dirEvent(d, path, mask, name, root)
}

// dirEvent follows a directory that came, went or changed in d.
func (i *inoWatch) dirEvent(d *dir, path string, mask uint32, name string, root *int) {
	kid := d.kids[name]
	switch {
	case mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0:
		i.note(path, Name|Deep)
		if kid != nil {
			i.drop(kid)
		}
		i.reach(d, name, root)
	case mask&(unix.IN_DELETE|unix.IN_MOVED_FROM) != 0:
		i.note(path, Name)
		if kid != nil {
			i.drop(kid)
		}
	case kid == nil || kid.wd < 0: // we may be let in now
		i.note(path, Name|Deep)
		if kid != nil {
			i.drop(kid)
		}
		i.reach(d, name, root)
	default:
		i.note(path, Name)
	}
}

// lost is a watch that the kernel took away, because its directory is gone.
func (i *inoWatch) lost(d *dir) {
	if d == i.root {
		i.breaks("the root is another directory")
		return
	}
	i.note(d.path(), Name|Deep)
	i.drop(d)
}

// reach watches a directory that appeared, and all below it.
func (i *inoWatch) reach(up *dir, name string, root *int) {
	if *root < 0 {
		fd, who, err := openRoot(i.w.root)
		if err != nil {
			i.breaks("the root was away")
			return
		}
		*root = fd
		if who != i.at {
			i.breaks("the root is another directory")
			return
		}
	}
	if err := i.grow(*root, &dir{up: up, name: name, wd: -1}); err != nil {
		i.fails(err)
	}
}
