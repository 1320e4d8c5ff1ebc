package proc

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// statLink returns which file a link in /proc refers to. It opens nothing, and triggers no
// network or FUSE request.
func (l *procScanner) statLink(dir int, name string) (Inode, error) {
	var x unix.Statx_t
	err := unix.Statx(dir, name, unix.AT_NO_AUTOMOUNT|unix.AT_STATX_DONT_SYNC, unix.STATX_INO, &x)
	if err == nil {
		return Inode{unix.Mkdev(x.Dev_major, x.Dev_minor), x.Ino}, nil
	}
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) { // an old kernel, or a sandbox that blocks the call
		return Inode{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, 0); err != nil {
		return Inode{}, err
	}
	return Inode{uint64(st.Dev), st.Ino}, nil // it is a narrower type on some architectures
}

// deniedLinkError returns err only if we may not inspect the process itself. A file system
// that denies access even to root has no file that we search for.
func (l *procScanner) deniedLinkError(dir int, name string, err error) error {
	if !isDenied(err) {
		return nil
	}
	var to [1]byte
	if _, err := unix.Readlinkat(dir, name, to[:]); isDenied(err) {
		return err
	}
	return nil
}

// scanWorkingDir checks the working directory of a task.
func (l *procScanner) scanWorkingDir(dir int) error {
	in, err := l.statLink(dir, "cwd")
	if isGone(err) {
		return err
	}
	if err != nil {
		return l.deniedLinkError(dir, "cwd", err)
	}
	if l.want[in] {
		l.current = append(l.current, FileUser{Inode: in})
	}
	return nil
}

// scanOpenFiles checks the open descriptors of a task.
func (l *procScanner) scanOpenFiles(dir int) error {
	fds, err := unix.Openat(dir, "fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fds) //nolint:errcheck // only read
	names, err := l.readDirNames(fds)
	if err != nil {
		return err
	}
	for _, n := range names {
		in, err := l.statLink(fds, n)
		if err != nil {
			if err := l.deniedLinkError(fds, n, err); err != nil {
				return err
			}
			continue
		}
		if l.want[in] {
			l.current = append(l.current, FileUser{Inode: in, Writes: l.isOpenForWriting(dir, n)})
		}
	}
	return nil
}

// isOpenForWriting reads from fdinfo how a descriptor was opened.
func (l *procScanner) isOpenForWriting(dir int, fd string) bool {
	b, err := l.readFileHead(dir, "fdinfo/"+fd)
	if err != nil {
		return false
	}
	for line := range bytes.Lines(b) {
		if octal, ok := bytes.CutPrefix(line, []byte("flags:")); ok {
			flags, err := strconv.ParseUint(string(bytes.TrimSpace(octal)), 8, 64)
			return err == nil && flags&unix.O_ACCMODE != unix.O_RDONLY
		}
	}
	return false
}

// readDirNames returns the names in a directory. They are valid until the next call.
func (l *procScanner) readDirNames(dir int) ([]string, error) {
	l.names = l.names[:0]
	for {
		n, err := unix.ReadDirent(dir, l.buf)
		if n <= 0 || err != nil {
			return l.names, err
		}
		_, _, l.names = unix.ParseDirent(l.buf[:n], -1, l.names)
	}
}

// readFileHead returns the first 4 KiB of a file. They are valid until the next call.
func (l *procScanner) readFileHead(dir int, name string) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd) //nolint:errcheck // only read
	n, err := unix.Read(fd, l.buf[:4096])
	return l.buf[:max(n, 0)], err
}

func trimNewline(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\n")) }

// kernelThreadFlag is PF_KTHREAD.
const kernelThreadFlag = 0x00200000

// statHasNoFiles parses /proc/PID/stat for hasNoFiles.
func statHasNoFiles(b []byte) bool {
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // the name before it may contain any bytes
	if len(f) < 7 {
		return false
	}
	flags, err := strconv.ParseUint(string(f[6]), 10, 64)
	return f[0][0] == 'Z' || f[0][0] == 'X' || err == nil && flags&kernelThreadFlag != 0
}

// scanMappings reads /proc/PID/maps line by line.
func (l *procScanner) scanMappings(dir int) error {
	fd, err := unix.Openat(dir, "maps", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd) //nolint:errcheck // only read
	for have := 0; ; {
		n, err := unix.Read(fd, l.buf[have:])
		if err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
		rest := l.buf[:have+n]
		for {
			line, after, ok := bytes.Cut(rest, []byte("\n"))
			if !ok {
				break
			}
			l.scanMappingLine(dir, line)
			rest = after
		}
		have = copy(l.buf, rest)
		if have == len(l.buf) { // no path is that long
			have = 0
		}
	}
}

// mapping is one line of /proc/PID/maps: address range, permissions, and file.
type mapping struct {
	addressRange, mode, dev, path []byte
	ino                           uint64
}

// parseMapping parses a line of /proc/PID/maps. It returns false for memory without a file.
func parseMapping(line []byte) (m mapping, ok bool) {
	var at [5][]byte
	for i := range at {
		line = bytes.TrimLeft(line, " ")
		n := bytes.IndexByte(line, ' ')
		if n < 0 {
			n = len(line)
		}
		at[i], line = line[:n], line[n:]
	}
	for _, c := range at[4] {
		if c < '0' || c > '9' {
			return m, false
		}
		m.ino = m.ino*10 + uint64(c-'0')
	}
	m.addressRange, m.mode, m.dev, m.path = at[0], at[1], at[3], bytes.TrimLeft(line, " ")
	return m, m.ino != 0 && len(m.mode) == 4
}

func (l *procScanner) scanMappingLine(dir int, line []byte) {
	m, ok := parseMapping(line)
	if !ok || !l.wantInos[m.ino] {
		return
	}
	if in, ok := l.confirmMapping(dir, m); ok {
		l.current = append(l.current, FileUser{Inode: in, Writes: m.mode[1] == 'w' && m.mode[3] == 's'})
	}
}

// confirmMapping returns the file of a mapping whose inode number is wanted. Some file systems
// report another device in maps than in stat; then the file itself is checked, or what is at
// its path. A mapping that cannot be confirmed is not reported.
func (l *procScanner) confirmMapping(dir int, m mapping) (Inode, bool) {
	major, minor, _ := strings.Cut(string(m.dev), ":")
	ma, err1 := strconv.ParseUint(major, 16, 32)
	mi, err2 := strconv.ParseUint(minor, 16, 32)
	if in := (Inode{unix.Mkdev(uint32(ma), uint32(mi)), m.ino}); err1 == nil && err2 == nil && l.want[in] {
		return in, true
	}
	from, to, _ := strings.Cut(string(m.addressRange), "-")
	if in, err := l.statLink(dir, "map_files/"+strings.TrimLeft(from, "0")+"-"+strings.TrimLeft(to, "0")); err == nil {
		return in, l.want[in]
	}
	path := strings.ReplaceAll(string(m.path), `\012`, "\n")
	for _, at := range []string{"root" + path, path} {
		if in, err := l.statLink(dir, at); err == nil && in.Ino == m.ino && l.want[in] {
			return in, true
		}
	}
	return Inode{}, false
}
