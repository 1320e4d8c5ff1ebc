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

// What the kernel does not tell while it happens, and what the look finds:
//
//   - stores to a file that is mapped shared: an event comes only when the last
//     descriptor and mapping of that opening are gone. Once a page is dirty its
//     stores do not move the times either, until the page is written back;
//   - stores through a mapping that is gone while the descriptor is still open,
//     and writes by io_submit: the times tell, and the file is open for writing;
//   - writes of a loop device to the file behind it.

// processScan is one look at processes, for one root.
type processScan struct {
	root          *rootInfo
	dirty         *DirtySet
	textMaps      bool // read the maps as text
	unreadable    int  // processes that we may not look into
	missedProcess bool // a process ended before it was looked at
	onMapping     func(base string, m *mapping)

	nameBuf   [unix.PathMax + 16]byte
	prevName  []byte // the name before it was read again
	direntBuf [8 << 10]byte
}

func newProcessScan(at *rootInfo, d *DirtySet) *processScan {
	l := &processScan{root: at, dirty: d}
	l.onMapping = l.handleMapping
	return l
}

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

// reportPreviousMappings tells what was mapped at the last look once more: the end of a mapping
// makes no event on overlay, which maps the file behind its own.
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
	maxScanRounds      = 4  // of searching for processes that were born while we looked
	processesPerWorker = 32 // processes that are worth a goroutine
	maxScanWorkers     = 4  // at once
)

// scanAllProcesses looks at each process once. A process that ended may have left its
// mappings to a child that the list did not have yet, so the list is read again.
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

// scanInParallel divides the processes, because each costs a dozen calls.
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
		return // it belongs to the kernel, or is a zombie
	}
	if err := l.scanOpenFiles(base + "/fd"); err != nil && !isProcessGone(err) {
		l.unreadable++
	}
}

func isProcessGone(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH)
}

// scanThreads looks at a process whose first thread has ended: the maps are those
// of the others.
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

// scanOpenFiles tells the files below the root that are open for writing.
func (l *processScan) scanOpenFiles(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return listNames(fd, l.direntBuf[:], func(entry []byte) {
		for range 4 { // whoever closes a file opens the next one under its number
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

// checkOpenFile tells an open file of the root. It answers true for one that lost its name, and has
// another.
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

// readlinkRaw takes an entry where getdents put it, with the zero behind it: this
// is called for every open file of the machine.
func readlinkRaw(fd int, entry, buf []byte) []byte {
	n, _, errno := unix.Syscall6(unix.SYS_READLINKAT, uintptr(fd), uintptr(unsafe.Pointer(&entry[0])),
		uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	if errno != 0 {
		return nil
	}
	return buf[:n]
}

// isOpenForWriting tells by the link to an open file how the file was opened.
func isOpenForWriting(fd int, name string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IWUSR != 0
}

var deletedSuffix = []byte(" (deleted)")

// hasOtherName reports whether a file whose name was removed has another one: that name is told
// nothing of what is written here.
func (l *processScan) hasOtherName(fd int, name string) bool {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, 0); err != nil {
		return false // closed
	}
	return st.Nlink > 0 && l.root.mayContainDevice(uint64(st.Dev)) && st.Mode&unix.S_IFMT == unix.S_IFREG && isOpenForWriting(fd, name)
}

// scanLoopDevices tells the files behind loop devices.
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
