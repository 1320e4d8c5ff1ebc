package track

import (
	"bytes"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapping is a shared mapping of a file in a process.
type mapping struct {
	start, end uint64
	writable   bool // now; mprotect can change it at any time
	dev, ino   uint64
	name       []byte
}

// PROCMAP_QUERY, as in linux/fs.h since 6.11.
const (
	procmapQuery = 0xc0686611 // _IOWR('f', 17, 104 bytes)

	vmaWritable   = 0x02
	vmaShared     = 0x08
	vmaOrNext     = 0x10
	vmaFileBacked = 0x20
	queryFlags    = vmaShared | vmaOrNext | vmaFileBacked
)

// procmapArgs is struct procmap_query.
type procmapArgs struct {
	size, flags, addr      uint64
	start, end, vmaFlags   uint64
	pageSize, offset       uint64
	inode                  uint64
	devMajor, devMinor     uint32
	nameSize, buildIDSize  uint32
	nameAddr, buildIDsAddr uint64
}

// scanMappings calls onMapping for every shared mapping of a process. It returns false if
// nothing is mapped at all.
func (l *processScan) scanMappings(base string) (found bool, err error) {
	fd, err := unix.Open(base+"/maps", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, err
	}
	defer closeFD(fd)
	if !l.textMaps {
		found, err := l.queryMappings(base, fd)
		if !errors.Is(err, unix.ENOTTY) {
			return found, err
		}
		l.textMaps = true
	}
	return l.readMapsText(base, fd)
}

// queryMappings asks for one mapping after the other with PROCMAP_QUERY.
func (l *processScan) queryMappings(base string, fd int) (found bool, err error) {
	for addr := uint64(0); ; {
		q := procmapArgs{
			size: uint64(unsafe.Sizeof(procmapArgs{})), flags: queryFlags, addr: addr,
			nameSize: uint32(unix.PathMax), nameAddr: uint64(uintptr(unsafe.Pointer(&l.nameBuf[0]))),
		}
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), procmapQuery, uintptr(unsafe.Pointer(&q)))
		runtime.KeepAlive(l) // the kernel wrote to it by an address that the garbage collector does not see
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.ENOENT:
			return true, nil
		case errno == unix.ESRCH && addr == 0:
			return false, nil
		case errno == unix.ENAMETOOLONG:
			l.dirty.requireRescan("the path of a mapped file is too long")
			return true, nil
		case errno != 0:
			return false, errno
		}
		m := mapping{
			start: q.start, end: q.end, writable: q.vmaFlags&vmaWritable != 0,
			dev: unix.Mkdev(q.devMajor, q.devMinor), ino: q.inode, name: l.nameBuf[:max(1, q.nameSize)-1],
		}
		l.onMapping(base, &m)
		addr = q.end
	}
}

// readMapsText is for kernels without PROCMAP_QUERY.
func (l *processScan) readMapsText(base string, fd int) (found bool, err error) {
	var rest []byte
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.ESRCH) || err == nil && n <= 0 {
			return found, nil
		}
		if err != nil {
			return found, err
		}
		rest = append(rest, buf[:n]...)
		for {
			line, after, ok := bytes.Cut(rest, []byte{'\n'})
			if !ok {
				break
			}
			found = true
			if m, ok := parseMapping(string(line)); ok {
				l.onMapping(base, &m)
			}
			rest = after
		}
	}
}

// parseMapping parses a line "start-end perms offset dev inode path". It returns false unless
// it is a shared mapping.
func parseMapping(line string) (m mapping, ok bool) {
	f := strings.SplitN(line, " ", 6)
	if len(f) < 6 || len(f[1]) != 4 || f[1][3] != 's' {
		return m, false
	}
	from, to, _ := strings.Cut(f[0], "-")
	var err1, err2, err3 error
	m.start, err1 = strconv.ParseUint(from, 16, 64)
	m.end, err2 = strconv.ParseUint(to, 16, 64)
	m.ino, err3 = strconv.ParseUint(f[4], 10, 64)
	m.dev, ok = parseDevice(f[3], 16)
	m.writable = f[1][1] == 'w'
	m.name = []byte(strings.ReplaceAll(strings.TrimLeft(f[5], " "), `\012`, "\n"))
	return m, ok && errors.Join(err1, err2, err3) == nil
}

// handleMapping reports a mapping if it can change a file of the root. A mapping that is not
// writable now counts if its file was opened for writing, because mprotect causes no event.
// Memory without a file has its own device.
func (l *processScan) handleMapping(base string, m *mapping) {
	if _, below := relativePathBytes(l.root.path, m.name); !below && m.dev != l.root.superDev {
		return
	}
	link := base + "/map_files/" + strconv.FormatUint(m.start, 16) + "-" + strconv.FormatUint(m.end, 16)
	if !m.writable && !isLinkWritable(link) {
		return
	}
	why := l.reportMapping(link, m)
	for range 3 { // another file may be mapped there by now
		if why == "" || !reloadMapping(link, m) {
			break
		}
		why = l.reportMapping(link, m)
	}
	if why != "" {
		l.dirty.requireRescan(why)
	}
}

// reportMapping reports a mapping of a file of the root. It returns the reason for a rescan if
// the file may be below the root under another name.
func (l *processScan) reportMapping(link string, m *mapping) string {
	rel, below := relativePathBytes(l.root.path, m.name)
	lost := bytes.HasSuffix(m.name, deletedSuffix)
	switch {
	case below && !lost, l.isAtMappedPath(m):
		if below {
			l.dirty.Paths[rel] |= MarkName | MarkMapped
		}
		return ""
	case isUnlinked(link):
		return ""
	case lost:
		return "a mapped file has lost its name"
	}
	return "a mapped file cannot be found"
}

// reloadMapping reads what is mapped now into m, and reports whether that is something else.
func reloadMapping(link string, m *mapping) bool {
	var st unix.Stat_t
	name, err := os.Readlink(link)
	if err != nil || unix.Stat(link, &st) != nil {
		return true // the next check finds nothing
	}
	if name == string(m.name) && uint64(st.Ino) == m.ino {
		return false
	}
	m.name, m.ino = []byte(name), uint64(st.Ino)
	return true
}

// isAtMappedPath reports whether the file is at the path of the mapping. In another mount
// namespace the same path may lead elsewhere.
func (l *processScan) isAtMappedPath(m *mapping) bool {
	var st unix.Stat_t
	return unix.Lstat(string(m.name), &st) == nil && uint64(st.Ino) == m.ino && l.root.mayContainDevice(uint64(st.Dev))
}

// isUnlinked reports whether a mapped file has no name left, and so is not part of a tree. If
// the mapping has ended meanwhile, its file was closed with it, which causes an event.
func isUnlinked(link string) bool {
	var st unix.Stat_t
	err := unix.Stat(link, &st)
	return err == nil && st.Nlink == 0 || errors.Is(err, unix.ENOENT)
}

// isLinkWritable reports whether the mapped file was opened for writing. It assumes so if that
// cannot be read.
func isLinkWritable(link string) bool {
	var st unix.Stat_t
	err := unix.Lstat(link, &st)
	return err != nil && !errors.Is(err, unix.ENOENT) || err == nil && st.Mode&unix.S_IWUSR != 0
}
