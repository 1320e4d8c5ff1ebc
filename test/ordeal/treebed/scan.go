//go:build linux

package treebed

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
)

// SettleTime is longer than the window in which a capture trusts no time: trees
// that rested so long are taken over unread, which is the path to be tried.
const SettleTime = 2200 * time.Millisecond

// Living is one entry of a live tree as plain calls tell it.
type Living struct {
	Kind           retake.Kind
	Mode, Uid, Gid uint32
	Mtime, Size    int64
	Sum            [32]byte // of the bytes, or of the text of a link
	Xattrs         map[string]string
	Holes          []retake.Hole
	Inode          [2]uint64
}

// Scan reads a whole live tree by path to entry; the root is "". It shares no
// code with the capture.
func Scan(root string) (map[string]Living, error) {
	out := map[string]Living{}
	fd, err := unix.Open(root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_NOATIME, 0)
	if err != nil {
		return nil, fmt.Errorf("scan %s: %w", root, err)
	}
	err = scanDir(os.NewFile(uintptr(fd), root), "", out)
	if l, ok := out[""]; ok { // the mark is ours, not the user's
		delete(l.Xattrs, "user.retake.workspace")
	}
	return out, err
}

func scanDir(d *os.File, path string, out map[string]Living) error {
	defer d.Close() //nolint:errcheck // nothing was written
	var st unix.Stat_t
	if err := unix.Fstat(int(d.Fd()), &st); err != nil {
		return err
	}
	l := livingOf(&st)
	var err error
	if l.Xattrs, err = attributes(int(d.Fd())); err != nil {
		return err
	}
	out[path] = l
	names, err := d.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ScanName(d, name, strings.TrimPrefix(path+"/"+name, "/"), out); err != nil {
			return fmt.Errorf("scan %q: %w", path+"/"+name, err)
		}
	}
	return nil
}

func ScanName(d *os.File, name, path string, out map[string]Living) error {
	var st unix.Stat_t
	if err := unix.Fstatat(int(d.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	l := livingOf(&st)
	switch l.Kind {
	case retake.KindDir, retake.KindFile:
		fd, err := unix.Openat(int(d.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOATIME, 0)
		if err != nil {
			return err
		}
		f := os.NewFile(uintptr(fd), name)
		if l.Kind == retake.KindDir {
			return scanDir(f, path, out)
		}
		defer f.Close() //nolint:errcheck // nothing was written
		if err := l.content(f); err != nil {
			return err
		}
	case retake.KindSymlink:
		b := make([]byte, 8192)
		n, err := unix.Readlinkat(int(d.Fd()), name, b)
		if err != nil {
			return err
		}
		l.Size, l.Sum = int64(n), sha256.Sum256(b[:n])
	default:
		l.Sum = sha256.Sum256(nil)
	}
	out[path] = l
	return nil
}

func (l *Living) content(f *os.File) error {
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	l.Size, l.Sum = n, [32]byte(h.Sum(nil))
	if l.Xattrs, err = attributes(int(f.Fd())); err != nil {
		return err
	}
	l.Holes, err = holesOf(int(f.Fd()), n)
	return err
}

func livingOf(st *unix.Stat_t) Living {
	kinds := map[uint32]retake.Kind{
		unix.S_IFREG: retake.KindFile, unix.S_IFDIR: retake.KindDir, unix.S_IFLNK: retake.KindSymlink,
		unix.S_IFIFO: retake.KindFIFO, unix.S_IFSOCK: retake.KindSocket,
	}
	return Living{
		Kind: kinds[st.Mode&unix.S_IFMT], Mode: st.Mode & 0o7777, Uid: st.Uid, Gid: st.Gid,
		Mtime: st.Mtim.Sec*1e9 + st.Mtim.Nsec, Inode: [2]uint64{st.Dev, st.Ino},
	}
}

func attributes(fd int) (map[string]string, error) {
	list := make([]byte, 64<<10)
	n, err := unix.Flistxattr(fd, list)
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, name := range strings.Split(string(list[:n]), "\x00") {
		if !strings.HasPrefix(name, "user.") && !strings.HasPrefix(name, "system.posix_acl_") && name != "security.capability" {
			continue
		}
		v := make([]byte, 64<<10)
		n, err := unix.Fgetxattr(fd, name, v)
		if err != nil {
			return nil, err
		}
		out[name] = string(v[:n])
	}
	return out, nil
}

// holesOf asks the kernel; the end of a file is not a hole.
func holesOf(fd int, size int64) ([]retake.Hole, error) {
	var out []retake.Hole
	for at := int64(0); at < size; {
		from, err := unix.Seek(fd, at, unix.SEEK_HOLE)
		if err != nil {
			return nil, err
		}
		if from >= size {
			break
		}
		to, err := unix.Seek(fd, from, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			to, err = size, nil
		}
		if err != nil {
			return nil, err
		}
		out = append(out, retake.Hole{Offset: from, Length: to - from})
		at = to
	}
	return out, nil
}
