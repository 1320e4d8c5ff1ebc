package track

import (
	"fmt"
	"slices"
)

// NewWithoutEvents makes a tracker that does not ask for some kinds of change.
func NewWithoutEvents(o Options, kinds uint64) *Tracker {
	t := New(o)
	t.mask &^= kinds
	return t
}

// LockQueue keeps the background from reading until release is called.
func LockQueue(w *Watch) (release func()) {
	mu := w.listening.source.(interface{ lock() locker }).lock()
	mu.Lock()
	return mu.Unlock
}

type locker interface {
	Lock()
	Unlock()
}

func (f *fanotifyWatch) lock() locker { return &f.group.mu }
func (i *inotifyWatch) lock() locker  { return &i.mu }

// Mappings lists the shared mappings of a process, asked for or read as text.
func Mappings(root string, pid int, plain bool) ([]string, error) {
	fd, at, err := openRootInfo(root)
	if err != nil {
		return nil, err
	}
	defer closeFD(fd)
	var all []string
	l := newProcessScan(&at, &DirtySet{Paths: map[string]Mark{}})
	l.textMaps = plain
	l.onMapping = func(_ string, m *mapping) {
		all = append(all, fmt.Sprintf("%x-%x %v %x %d %q", m.start, m.end, m.writable, m.dev, m.ino, m.name))
	}
	_, err = l.scanMappings(fmt.Sprintf("/proc/%d", pid))
	slices.Sort(all)
	if l.textMaps != plain {
		return nil, fmt.Errorf("this kernel cannot be asked")
	}
	return all, err
}

// ScanProcesses scans all processes once.
func ScanProcesses(root string, plain bool) (DirtySet, error) {
	fd, at, err := openRootInfo(root)
	if err != nil {
		return DirtySet{}, err
	}
	defer closeFD(fd)
	d := DirtySet{Paths: map[string]Mark{}}
	scanAllProcesses(&at, &d, plain)
	return d, nil
}
