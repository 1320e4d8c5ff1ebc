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

// look is one look at processes, for one root.
type look struct {
	at     *place
	d      *Dirt
	plain  bool // read the maps as text
	unread int  // processes that we may not look into
	gone   bool // a process ended before it was looked at
	found  func(base string, m *mapping)

	name [unix.PathMax + 16]byte
	was  []byte // the name before it was read again
	dirs [8 << 10]byte
}

func newLook(at *place, d *Dirt) *look {
	l := &look{at: at, d: d}
	l.found = l.judge
	return l
}

func (w *Watch) lookAround(at *place, d *Dirt) {
	unread := lookAtAll(at, d, false)
	w.unseen.Store(int64(unread))
	w.remember(d)
	lookAtLoops(at, d)
	switch {
	case w.t.o.TrustOthers:
	case unread > 0:
		d.doubt(fmt.Sprintf("the maps of %d processes cannot be read", unread))
	case at.hides:
		d.doubt("the processes of others are hidden")
	}
}

// remember tells what was mapped at the last look once more: the end of a mapping
// makes no event on overlay, which maps the file behind its own.
func (w *Watch) remember(d *Dirt) {
	now := map[string]bool{}
	for path, m := range d.Paths {
		if m&Mapped != 0 {
			now[path] = true
		}
	}
	for path := range w.armed.mapped {
		d.Paths[path] |= Name | Mapped
	}
	w.armed.mapped = now
}

const (
	maxRounds = 4  // of searching for processes that were born while we looked
	share     = 32 // processes that are worth a goroutine
	maxLooks  = 4  // at once
)

// lookAtAll looks at each process once. A process that ended may have left its
// mappings to a child that the list did not have yet, so the list is read again.
func lookAtAll(at *place, d *Dirt, plain bool) (unread int) {
	seen := map[int]bool{}
	for range maxRounds {
		var fresh []int
		err := list("/proc", func(name []byte) {
			if pid, ok := number(name); ok && !seen[pid] {
				seen[pid] = true
				fresh = append(fresh, pid)
			}
		})
		if err != nil {
			d.doubt("the processes cannot be listed")
			return unread
		}
		gone := false
		for _, l := range lookAt(fresh, at, plain) {
			unread += l.unread
			gone = gone || l.gone
			for path, m := range l.d.Paths {
				d.Paths[path] |= m
			}
			if l.d.Doubt != "" {
				d.doubt(l.d.Doubt)
			}
		}
		if !gone {
			return unread
		}
	}
	return unread
}

// lookAt divides the processes, because each costs a dozen calls.
func lookAt(pids []int, at *place, plain bool) []*look {
	n := min(maxLooks, runtime.GOMAXPROCS(0), 1+len(pids)/share)
	looks := make([]*look, n)
	var wg sync.WaitGroup
	for i := range looks {
		l := newLook(at, &Dirt{Paths: map[string]Mark{}})
		l.plain = plain
		looks[i] = l
		wg.Go(func() {
			for k := i; k < len(pids); k += n {
				l.process(pids[k])
			}
		})
	}
	wg.Wait()
	return looks
}

func (l *look) process(pid int) {
	base := "/proc/" + strconv.Itoa(pid)
	found, err := l.maps(base)
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		l.unread++
		return
	case errors.Is(err, unix.ENOENT):
		l.gone = true
		return
	case err != nil && !errors.Is(err, unix.ESRCH): // ESRCH: no memory of its own
		l.d.doubt("the maps of a process cannot be read")
		return
	}
	if !found && !l.threads(base) {
		return // it belongs to the kernel, or is a zombie
	}
	if err := l.files(base + "/fd"); err != nil && !isNoProcess(err) {
		l.unread++
	}
}

func isNoProcess(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH)
}

// threads looks at a process whose first thread has ended: the maps are those
// of the others.
func (l *look) threads(base string) (found bool) {
	var st unix.Stat_t
	if err := unix.Stat(base+"/task", &st); err != nil || st.Nlink <= 3 {
		return false
	}
	_ = list(base+"/task", func(name []byte) {
		if _, ok := number(name); ok && !found {
			task := base + "/task/" + string(name)
			if found, _ = l.maps(task); found {
				_ = l.files(task + "/fd")
			}
		}
	})
	return found
}

// files tells the files below the root that are open for writing.
func (l *look) files(path string) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	return listFD(fd, l.dirs[:], func(entry []byte) {
		for range 4 { // whoever closes a file opens the next one under its number
			target := readlink(fd, entry, l.name[:])
			if !l.file(fd, entry, target) {
				return
			}
			if l.was = append(l.was[:0], target...); !bytes.Equal(l.was, readlink(fd, entry, l.name[:])) {
				continue
			}
			l.d.doubt("an open file has lost its name")
			return
		}
	})
}

// file tells an open file of the root. It answers true for one that lost its name, and has
// another.
func (l *look) file(fd int, entry, target []byte) bool {
	if len(target) == 0 || target[0] != '/' {
		return false
	}
	if bytes.HasSuffix(target, deleted) {
		return l.renamed(fd, string(entry))
	}
	rel, ok := beneathBytes(l.at.real, target)
	if ok && writable(fd, string(entry)) {
		l.d.Paths[rel] |= Name
	}
	return false
}

// readlink takes an entry where getdents put it, with the zero behind it: this
// is called for every open file of the machine.
func readlink(fd int, entry, buf []byte) []byte {
	n, _, errno := unix.Syscall6(unix.SYS_READLINKAT, uintptr(fd), uintptr(unsafe.Pointer(&entry[0])),
		uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0)
	if errno != 0 {
		return nil
	}
	return buf[:n]
}

// writable tells by the link to an open file how the file was opened.
func writable(fd int, name string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IWUSR != 0
}

var deleted = []byte(" (deleted)")

// renamed reports whether a file whose name was removed has another one: that name is told
// nothing of what is written here.
func (l *look) renamed(fd int, name string) bool {
	var st unix.Stat_t
	if err := unix.Fstatat(fd, name, &st, 0); err != nil {
		return false // closed
	}
	return st.Nlink > 0 && l.at.mayHold(uint64(st.Dev)) && st.Mode&unix.S_IFMT == unix.S_IFREG && writable(fd, name)
}

// lookAtLoops tells the files behind loop devices.
func lookAtLoops(at *place, d *Dirt) {
	_ = list("/sys/block", func(name []byte) {
		if !bytes.HasPrefix(name, []byte("loop")) {
			return
		}
		path, err := os.ReadFile("/sys/block/" + string(name) + "/loop/backing_file")
		if err != nil {
			return // it has none
		}
		if rel, ok := beneath(at.real, strings.TrimSuffix(string(path), "\n")); ok {
			d.Paths[rel] |= Name
		}
	})
}

func list(path string, each func(name []byte)) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer closeFD(fd)
	var buf [16 << 10]byte
	return listFD(fd, buf[:], each)
}

func number(name []byte) (int, bool) {
	n := 0
	for _, c := range name {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(name) > 0
}

func beneathBytes(root string, path []byte) (string, bool) {
	if len(path) < len(root) || string(path[:len(root)]) != root {
		return "", false
	}
	return beneath(root, string(path))
}
