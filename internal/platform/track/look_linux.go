package track

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Changes that the kernel does not report when they happen, and that the scan of processes finds:
//
//   - stores to a file that is mapped shared: an event comes only when the last
//     descriptor and mapping of that opening are gone. Once a page is dirty its
//     stores do not move the times either, until the page is written back;
//   - stores through a mapping that is gone while the descriptor is still open,
//     and writes by io_submit: the times tell, and the file is open for writing;
//   - writes of a loop device to the file behind it.

// processScan is one scan of processes for one root.
type processScan struct {
	root          *rootInfo
	dirty         *DirtySet
	textMaps      bool // read maps as text, without PROCMAP_QUERY
	unreadable    int  // number of processes that we may not inspect
	missedProcess bool // a process ended before it was inspected
	onMapping     func(base string, m *mapping)

	nameBuf   [unix.PathMax + 16]byte
	prevName  []byte // the name before it was read again, to detect a change
	direntBuf [8 << 10]byte
}

func newProcessScan(at *rootInfo, d *DirtySet) *processScan {
	l := &processScan{root: at, dirty: d}
	l.onMapping = l.handleMapping
	return l
}

// scanProcesses adds the files that processes can change without an event.
func (w *Watch) scanProcesses(at *rootInfo, d *DirtySet) {
	unread := scanAllProcesses(at, d, false)
	w.unreadable.Store(int64(unread))
	w.reportPreviousMappings(d)
	scanLoopDevices(at, d)
	switch {
	case w.tracker.options.TrustUnreadable:
	case unread > 0:
		d.requireRescan(fmt.Sprintf("the maps of %d processes cannot be read", unread))
	case at.processesHidden:
		d.requireRescan("the processes of others are hidden")
	}
}

// reportPreviousMappings reports the files that were mapped at the last scan once more: the
// end of a mapping causes no event on overlayfs, which maps the underlying file.
func (w *Watch) reportPreviousMappings(d *DirtySet) {
	now := map[string]bool{}
	for path, m := range d.Paths {
		if m&MarkMapped != 0 {
			now[path] = true
		}
	}
	for path := range w.listening.lastMapped {
		d.Paths[path] |= MarkName | MarkMapped
	}
	w.listening.lastMapped = now
}

const (
	maxScanRounds      = 4  // of searching for processes that were started meanwhile
	processesPerWorker = 32 // that are worth a goroutine
	maxScanWorkers     = 4  // at once
)

// scanAllProcesses inspects each process once. A process that ended may have left its mappings
// to a child that was not in the list yet, so the list is read again then.
func scanAllProcesses(at *rootInfo, d *DirtySet, plain bool) (unread int) {
	seen := map[int]bool{}
	for range maxScanRounds {
		var fresh []int
		err := listDir("/proc", func(name []byte) {
			if pid, ok := parsePID(name); ok && !seen[pid] {
				seen[pid] = true
				fresh = append(fresh, pid)
			}
		})
		if err != nil {
			d.requireRescan("the processes cannot be listed")
			return unread
		}
		gone := false
		for _, l := range scanInParallel(fresh, at, plain) {
			unread += l.unreadable
			gone = gone || l.missedProcess
			for path, m := range l.dirty.Paths {
				d.Paths[path] |= m
			}
			if l.dirty.RescanReason != "" {
				d.requireRescan(l.dirty.RescanReason)
			}
		}
		if !gone {
			return unread
		}
	}
	return unread
}

// scanInParallel divides the processes among workers, because each needs a dozen system calls.
func scanInParallel(pids []int, at *rootInfo, plain bool) []*processScan {
	n := min(maxScanWorkers, runtime.GOMAXPROCS(0), 1+len(pids)/processesPerWorker)
	looks := make([]*processScan, n)
	var wg sync.WaitGroup
	for i := range looks {
		l := newProcessScan(at, &DirtySet{Paths: map[string]Mark{}})
		l.textMaps = plain
		looks[i] = l
		wg.Go(func() {
			for k := i; k < len(pids); k += n {
				l.scanProcess(pids[k])
			}
		})
	}
	wg.Wait()
	return looks
}

// scanProcess inspects the mappings and the open files of a process.
func (l *processScan) scanProcess(pid int) {
	base := "/proc/" + strconv.Itoa(pid)
	found, err := l.scanMappings(base)
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		l.unreadable++
		return
	case errors.Is(err, unix.ENOENT):
		l.missedProcess = true
		return
	case err != nil && !errors.Is(err, unix.ESRCH): // ESRCH: no memory of its own
		l.dirty.requireRescan("the maps of a process cannot be read")
		return
	}
	if !found && !l.scanThreads(base) {
		return // a kernel thread or a zombie
	}
	if err := l.scanOpenFiles(base + "/fd"); err != nil && !isProcessGone(err) {
		l.unreadable++
	}
}

func isProcessGone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH)
}

// scanThreads inspects a process whose main thread has ended: the other threads still have its
// mappings.
func (l *processScan) scanThreads(base string) (found bool) {
	var st unix.Stat_t
	if err := unix.Stat(base+"/task", &st); err != nil || st.Nlink <= 3 {
		return false
	}
	_ = listDir(base+"/task", func(name []byte) {
		if _, ok := parsePID(name); ok && !found {
			task := base + "/task/" + string(name)
			if found, _ = l.scanMappings(task); found {
				_ = l.scanOpenFiles(task + "/fd")
			}
		}
	})
	return found
}

// scanOpenFiles reports the files below the root that are open for writing.
func (l *processScan) scanOpenFiles(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return listNames(fd, l.direntBuf[:], func(entry []byte) {
		for range 4 { // the number may be reused for another file meanwhile
			target := readlinkRaw(fd, entry, l.nameBuf[:])
			if !l.checkOpenFile(fd, entry, target) {
				return
			}
			if l.prevName = append(l.prevName[:0], target...); !bytes.Equal(l.prevName, readlinkRaw(fd, entry, l.nameBuf[:])) {
				continue
			}
			l.dirty.requireRescan("an open file has lost its name")
			return
		}
	})
}

// checkOpenFile reports an open file of the root. It returns true for a file that lost its
// name and has another.
func (l *processScan) checkOpenFile(fd int, entry, target []byte) bool {
	if len(target) == 0 || target[0] != '/' {
		return false
	}
	if bytes.HasSuffix(target, deletedSuffix) {
		return l.hasOtherName(fd, string(entry))
	}
	rel, ok := relativePathBytes(l.root.path, target)
	if ok && isOpenForWriting(fd, string(entry)) {
		l.dirty.Paths[rel] |= MarkName
	}
	return false
}

// readlinkRaw takes the entry as getdents wrote it, with its terminating NUL, to avoid a copy:
// it is called for every open file of the machine.
func readlinkRaw(fd int, entry, buf []byte) []byte {
	n, _, errno := unix.Syscall6(unix.SYS_READLINKAT, uintptr(fd), uintptr(unsafe.Pointer(&entry[0])),
		uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	if errno != 0 {
		return nil
	}
	return buf[:n]
}

// isOpenForWriting reads from the mode of the link in /proc how the file was opened.
func isOpenForWriting(fd int, name string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IWUSR != 0
}

var deletedSuffix = []byte(" (deleted)")

// hasOtherName reports whether a file whose name was removed has another one. Writes through
// this descriptor cause no event for that name.
func (l *processScan) hasOtherName(fd int, name string) bool {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, 0); err != nil {
		return false // closed
	}
	return st.Nlink > 0 && l.root.mayContainDevice(uint64(st.Dev)) && st.Mode&unix.S_IFMT == unix.S_IFREG && isOpenForWriting(fd, name)
}

// scanLoopDevices reports the backing files of loop devices.
func scanLoopDevices(at *rootInfo, d *DirtySet) {
	_ = listDir("/sys/block", func(name []byte) {
		if !bytes.HasPrefix(name, []byte("loop")) {
			return
		}
		path, err := os.ReadFile("/sys/block/" + string(name) + "/loop/backing_file")
		if err != nil {
			return // it has none
		}
		if rel, ok := relativePath(at.path, strings.TrimSuffix(string(path), "\n")); ok {
			d.Paths[rel] |= MarkName
		}
	})
}

func listDir(path string, each func(name []byte)) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	var buf [16 << 10]byte
	return listNames(fd, buf[:], each)
}

func parsePID(name []byte) (int, bool) {
	n := 0
	for _, c := range name {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(name) > 0
}

func relativePathBytes(root string, path []byte) (string, bool) {
	if len(path) < len(root) || string(path[:len(root)]) != root {
		return "", false
	}
	return relativePath(root, string(path))
}
