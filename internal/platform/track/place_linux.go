package track

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

const flagsRoot = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// identity tells one directory from another. An inode number alone does not: it
// is given again as soon as its directory is gone.
type identity struct {
	dev, ino, mount uint64
	born            unix.StatxTimestamp
}

// place is what stands at the root.
type place struct {
	identity
	kind   int64  // of the file system, as statfs tells it
	super  uint64 // its device as mountinfo and maps tell it; stat may tell another
	real   string // the path without links
	mounts string // the mounts at or below the root
	hides  bool   // /proc does not show the processes of others
}

// openPlace opens the root for a short time: an open descriptor keeps a file
// system from being unmounted.
func openPlace(root string) (int, place, error) {
	fd, who, err := openRoot(root)
	if err != nil {
		return -1, place{}, err
	}
	at := place{identity: who}
	if err := at.fill(fd); err != nil {
		closeFD(fd)
		return -1, place{}, err
	}
	return fd, at, nil
}

func openRoot(root string) (fd int, who identity, err error) {
	err = again(func() (err error) {
		fd, err = unix.Open(filepath.Clean(root), flagsRoot, 0)
		return err
	})
	switch {
	case errors.Is(err, unix.ENOENT):
		return -1, who, errors.New("the root is gone")
	case err != nil:
		return -1, who, fmt.Errorf("open root: %w", err)
	}
	if who, err = identify(fd); err != nil {
		closeFD(fd)
		return -1, who, err
	}
	return fd, who, nil
}

func identify(fd int) (identity, error) {
	// Numbers of mounts are given again; newer kernels have some that are not.
	const either = unix.STATX_MNT_ID | unix.STATX_MNT_ID_UNIQUE
	st, err := statx(fd, unix.STATX_INO|unix.STATX_BTIME|either)
	if err != nil {
		return identity{}, fmt.Errorf("stat root: %w", err)
	}
	if st.Mask&either == 0 {
		return identity{}, errors.New("this kernel is too old to tell mounts apart")
	}
	return identity{dev: unix.Mkdev(st.Dev_major, st.Dev_minor), ino: st.Ino, mount: st.Mnt_id, born: st.Btime}, nil
}

func statx(fd int, mask int) (st unix.Statx_t, err error) {
	err = again(func() error { return unix.Statx(fd, "", unix.AT_EMPTY_PATH, mask, &st) })
	return st, err
}

func (p *place) fill(fd int) (err error) {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
		return fmt.Errorf("stat file system: %w", err)
	}
	p.kind = int64(st.Type)
	if p.real, err = pathOf(fd); err != nil {
		return fmt.Errorf("find path of root: %w", err)
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("read mounts: %w", err)
	}
	listed, err := statx(fd, unix.STATX_MNT_ID)
	if err != nil {
		return fmt.Errorf("stat root: %w", err)
	}
	if !p.readMounts(string(table), listed.Mnt_id) {
		return errors.New("the mount of the root is not listed")
	}
	return nil
}

// readMounts finds the mount of the root and those at or below it.
func (p *place) readMounts(table string, id uint64) (found bool) {
	var below strings.Builder
	own := strconv.FormatUint(id, 10)
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 6 {
			continue
		}
		if f[0] == own {
			p.super, found = parseDevice(f[2], 10)
		}
		point := unescape(f[4])
		if _, ok := beneath(p.real, point); ok {
			below.WriteString(strings.Join(f[:5], " "))
			below.WriteByte('\n')
		}
		if point == "/proc" {
			p.hides = hidesOthers(f)
		}
	}
	p.mounts = below.String()
	return found
}

// hidesOthers reads the options of a mount of /proc.
func hidesOthers(fields []string) bool {
	for opt := range strings.SplitSeq(fields[len(fields)-1], ",") {
		switch opt {
		case "hidepid=2", "hidepid=invisible", "hidepid=4", "hidepid=ptraceable":
			return unix.Geteuid() != 0
		}
	}
	return false
}

// differs says why the tree at the root is not the one that was followed.
func (p *place) differs(now *place) string {
	switch {
	case p.identity != now.identity || p.super != now.super:
		return "the root is another directory"
	case p.mounts != now.mounts:
		return "something was mounted or unmounted below the root"
	}
	return ""
}

// mayHold says whether a file with this device, as stat tells it, may be in the
// file system of the root. Some have several.
func (p *place) mayHold(dev uint64) bool {
	return dev == p.dev || p.kind == unix.BTRFS_SUPER_MAGIC || p.kind == unix.OVERLAYFS_SUPER_MAGIC
}

// parseDevice reads "major:minor".
func parseDevice(s string, base int) (uint64, bool) {
	a, b, ok := strings.Cut(s, ":")
	major, err1 := strconv.ParseUint(a, base, 32)
	minor, err2 := strconv.ParseUint(b, base, 32)
	return unix.Mkdev(uint32(major), uint32(minor)), ok && err1 == nil && err2 == nil
}

// unescape undoes what the kernel does to blanks and line ends in its tables.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// beneath answers a path relative to the root, if it is the root or below it.
func beneath(root, path string) (string, bool) {
	if path == root {
		return "", true
	}
	if root == "/" {
		return strings.CutPrefix(path, "/")
	}
	rest, ok := strings.CutPrefix(path, root)
	if !ok || rest[0] != '/' {
		return "", false
	}
	return rest[1:], true
}

func join(dir, name string) string {
	switch {
	case dir == "":
		return name
	case name == "":
		return dir
	}
	return dir + "/" + name
}

// pathOf answers the path at which an open file is now. The kernel knows no
// path longer than a page.
func pathOf(fd int) (string, error) {
	var buf [unix.PathMax]byte
	n, err := unix.Readlink(descriptor(fd), buf[:])
	if err != nil {
		return "", err
	}
	if n == len(buf) {
		return "", unix.ENAMETOOLONG
	}
	return string(buf[:n]), nil
}

func descriptor(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
