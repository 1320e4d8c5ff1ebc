package proc

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// look tells which file is behind a link of the kernel. It opens nothing, and
// asks no other machine and no driver of a user.
func (l *looker) look(dir int, name string) (Inode, error) {
	var x unix.Statx_t
	err := unix.Statx(dir, name, unix.AT_NO_AUTOMOUNT|unix.AT_STATX_DONT_SYNC, unix.STATX_INO, &x)
	if err == nil {
		return Inode{unix.Mkdev(x.Dev_major, x.Dev_minor), x.Ino}, nil
	}
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) { // an old kernel, or one that hides the call
		return Inode{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstatat(dir, name, &st, 0); err != nil {
		return Inode{}, err
	}
	return Inode{uint64(st.Dev), st.Ino}, nil // narrower on some machines
}

// judge sorts out why a link was not followed. Only a denied process is worth
// telling: a file system that turns even root away holds nothing that we want.
func (l *looker) judge(dir int, name string, err error) error {
	if !denied(err) {
		return nil
	}
	var to [1]byte
	if _, err := unix.Readlinkat(dir, name, to[:]); denied(err) {
		return err
	}
	return nil
}

func (l *looker) standing(dir int) error {
	in, err := l.look(dir, "cwd")
	if gone(err) {
		return err
	}
	if err != nil {
		return l.judge(dir, "cwd", err)
	}
	if l.want[in] {
		l.holds = append(l.holds, Holder{Inode: in})
	}
	return nil
}

func (l *looker) opened(dir int) error {
	fds, err := unix.Openat(dir, "fd", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fds) //nolint:errcheck // only read
	names, err := l.list(fds)
	if err != nil {
		return err
	}
	for _, n := range names {
		in, err := l.look(fds, n)
		if err != nil {
			if err := l.judge(fds, n, err); err != nil {
				return err
			}
			continue
		}
		if l.want[in] {
			l.holds = append(l.holds, Holder{Inode: in, Writes: l.writes(dir, n)})
		}
	}
	return nil
}

// writes reads how a descriptor was opened.
func (l *looker) writes(dir int, fd string) bool {
	b, err := l.read(dir, "fdinfo/"+fd)
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

// list answers the names of a directory until the next call.
func (l *looker) list(dir int) ([]string, error) {
	l.names = l.names[:0]
	for {
		n, err := unix.ReadDirent(dir, l.buf)
		if n <= 0 || err != nil {
			return l.names, err
		}
		_, _, l.names = unix.ParseDirent(l.buf[:n], -1, l.names)
	}
}

// read answers the beginning of a small file until the next call.
func (l *looker) read(dir int, name string) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd) //nolint:errcheck // only read
	n, err := unix.Read(fd, l.buf[:4096])
	return l.buf[:max(n, 0)], err
}

func trimLine(b []byte) []byte { return bytes.TrimSuffix(b, []byte("\n")) }

// kernelThread is the flag of a process that is the kernel's own.
const kernelThread = 0x00200000

func bareStat(b []byte) bool {
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]) // the name before it may hold anything
	if len(f) < 7 {
		return false
	}
	flags, err := strconv.ParseUint(string(f[6]), 10, 64)
	return f[0][0] == 'Z' || f[0][0] == 'X' || err == nil && flags&kernelThread != 0
}

// mapped reads the list of mappings, line by line.
func (l *looker) mapped(dir int) error {
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
			l.line(dir, line)
			rest = after
		}
		have = copy(l.buf, rest)
		if have == len(l.buf) { // no path is that long
			have = 0
		}
	}
}

// mapping is one line of the list: its place in memory, how, and which file.
type mapping struct {
	span, mode, dev, path []byte
	ino                   uint64
}

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
	m.span, m.mode, m.dev, m.path = at[0], at[1], at[3], bytes.TrimLeft(line, " ")
	return m, m.ino != 0 && len(m.mode) == 4
}

func (l *looker) line(dir int, line []byte) {
	m, ok := parseMapping(line)
	if !ok || !l.inos[m.ino] {
		return
	}
	if in, ok := l.confirm(dir, m); ok {
		l.holds = append(l.holds, Holder{Inode: in, Writes: m.mode[1] == 'w' && m.mode[3] == 's'})
	}
}

// confirm finds the file of a mapping whose number is wanted. Some file systems
// give their files another device than the list tells; then the file itself is
// asked, or what lies at its path. What cannot be confirmed accuses nobody.
func (l *looker) confirm(dir int, m mapping) (Inode, bool) {
	major, minor, _ := strings.Cut(string(m.dev), ":")
	ma, err1 := strconv.ParseUint(major, 16, 32)
	mi, err2 := strconv.ParseUint(minor, 16, 32)
	if in := (Inode{unix.Mkdev(uint32(ma), uint32(mi)), m.ino}); err1 == nil && err2 == nil && l.want[in] {
		return in, true
	}
	from, to, _ := strings.Cut(string(m.span), "-")
	if in, err := l.look(dir, "map_files/"+strings.TrimLeft(from, "0")+"-"+strings.TrimLeft(to, "0")); err == nil {
		return in, l.want[in]
	}
	path := strings.ReplaceAll(string(m.path), `\012`, "\n")
	for _, at := range []string{"root" + path, path} {
		if in, err := l.look(dir, at); err == nil && in.Ino == m.ino && l.want[in] {
			return in, true
		}
	}
	return Inode{}, false
}
