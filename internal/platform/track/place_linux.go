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

const openRootFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// dirIdentity identifies a directory. An inode number alone does not: it is reused as soon as
// its directory is gone.
type dirIdentity struct {
	dev, ino, mount uint64
	btime           unix.StatxTimestamp
}

// rootInfo describes the directory at the root.
type rootInfo struct {
	dirIdentity
	fsType          int64  // from statfs
	superDev        uint64 // device in mountinfo and maps; stat may report another
	path            string // the path without symbolic links
	mounts          string // the lines of mountinfo at or below the root
	processesHidden bool   // /proc does not show the processes of other users
}

// openRootInfo opens the root and reads its state. The caller must close the descriptor soon:
// it keeps the file system from being unmounted.
func openRootInfo(root string) (int, rootInfo, error) {
	fd, who, err := openRoot(root)
	if err != nil {
		return -1, rootInfo{}, err
	}
	at := rootInfo{dirIdentity: who}
	if err := at.load(fd); err != nil {
		closeFD(fd)
		return -1, rootInfo{}, err
	}
	return fd, at, nil
}

func openRoot(root string) (fd int, who dirIdentity, err error) {
	err = retryEINTR(func() (err error) {
		fd, err = unix.Open(filepath.Clean(root), openRootFlags, 0)
		return err
	})
	switch {
	case errors.Is(err, unix.ENOENT):
		return -1, who, errors.New("the root is gone")
	case err != nil:
		return -1, who, fmt.Errorf("open root: %w", err)
	}
	if who, err = readIdentity(fd); err != nil {
		closeFD(fd)
		return -1, who, err
	}
	return fd, who, nil
}

// readIdentity returns the identity of an open directory.
func readIdentity(fd int) (dirIdentity, error) {
	// Mount ids are reused; newer kernels have unique ones.
	const either = unix.STATX_MNT_ID | unix.STATX_MNT_ID_UNIQUE
	st, err := statx(fd, unix.STATX_INO|unix.STATX_BTIME|either)
	if err != nil {
		return dirIdentity{}, fmt.Errorf("stat root: %w", err)
	}
	if st.Mask&either == 0 {
		return dirIdentity{}, errors.New("this kernel is too old to tell mounts apart")
	}
	return dirIdentity{dev: unix.Mkdev(st.Dev_major, st.Dev_minor), ino: st.Ino, mount: st.Mnt_id, btime: st.Btime}, nil
}

func statx(fd int, mask int) (st unix.Statx_t, err error) {
	err = retryEINTR(func() error { return unix.Statx(fd, "", unix.AT_EMPTY_PATH, mask, &st) })
	return st, err
}

// load fills in everything except the identity.
func (p *rootInfo) load(fd int) (err error) {
	var st unix.Statfs_t
	if err := retryEINTR(func() error { return unix.Fstatfs(fd, &st) }); err != nil {
		return fmt.Errorf("stat file system: %w", err)
	}
	p.fsType = int64(st.Type)
	if p.path, err = fdPath(fd); err != nil {
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
	if !p.parseMounts(string(table), listed.Mnt_id) {
		return errors.New("the mount of the root is not listed")
	}
	return nil
}

// parseMounts finds the mount of the root in mountinfo, and those at or below the root.
func (p *rootInfo) parseMounts(table string, id uint64) (found bool) {
	var below strings.Builder
	own := strconv.FormatUint(id, 10)
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 6 {
			continue
		}
		if f[0] == own {
			p.superDev, found = parseDevice(f[2], 10)
		}
		point := unescapeMountPath(f[4])
		if _, ok := relativePath(p.path, point); ok {
			below.WriteString(strings.Join(f[:5], " "))
			below.WriteByte('\n')
		}
		if point == "/proc" {
			p.processesHidden = hidesProcesses(f)
		}
	}
	p.mounts = below.String()
	return found
}

// hidesProcesses reads the hidepid option of a mount of /proc.
func hidesProcesses(fields []string) bool {
	for opt := range strings.SplitSeq(fields[len(fields)-1], ",") {
		switch opt {
		case "hidepid=2", "hidepid=invisible", "hidepid=4", "hidepid=ptraceable":
			return unix.Geteuid() != 0
		}
	}
	return false
}

// changeReason returns why the tree at the root is not the one that was tracked, or "".
func (p *rootInfo) changeReason(now *rootInfo) string {
	switch {
	case p.dirIdentity != now.dirIdentity || p.superDev != now.superDev:
		return "the root is another directory"
	case p.mounts != now.mounts:
		return "something was mounted or unmounted below the root"
	}
	return ""
}

// mayContainDevice reports whether a file with this device number, from stat, may be in the
// file system of the root. Some file systems have several device numbers.
func (p *rootInfo) mayContainDevice(dev uint64) bool {
	return dev == p.dev || p.fsType == unix.BTRFS_SUPER_MAGIC || p.fsType == unix.OVERLAYFS_SUPER_MAGIC
}

// parseDevice parses "major:minor".
func parseDevice(s string, base int) (uint64, bool) {
	a, b, ok := strings.Cut(s, ":")
	major, err1 := strconv.ParseUint(a, base, 32)
	minor, err2 := strconv.ParseUint(b, base, 32)
	return unix.Mkdev(uint32(major), uint32(minor)), ok && err1 == nil && err2 == nil
}

// unescapeMountPath decodes the octal escapes that the kernel uses for blanks and line ends.
func unescapeMountPath(s string) string {
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

// relativePath returns path relative to root, and whether it is root or below it.
func relativePath(root, path string) (string, bool) {
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

func joinPath(dir, name string) string {
	switch {
	case dir == "":
		return name
	case name == "":
		return dir
	}
	return dir + "/" + name
}

// fdPath returns the current path of an open file. The kernel does not report paths longer
// than a page.
func fdPath(fd int) (string, error) {
	var buf [unix.PathMax]byte
	n, err := unix.Readlink(procFDPath(fd), buf[:])
	if err != nil {
		return "", err
	}
	if n == len(buf) {
		return "", unix.ENAMETOOLONG
	}
	return string(buf[:n]), nil
}

func procFDPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }
