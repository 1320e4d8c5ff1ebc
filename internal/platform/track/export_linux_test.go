package track

import (
	"fmt"
	"slices"
)

// NewDeaf makes a tracker that does not ask for some kinds of change.
func NewDeaf(o Options, kinds uint64) *Tracker {
	t := New(o)
	t.mask &^= kinds
	return t
}

// Hold keeps the background from reading until the answer is called.
func Hold(w *Watch) (release func()) {
	mu := w.armed.engine.(interface{ lock() locker }).lock()
	mu.Lock()
	return mu.Unlock
}

type locker interface {
	Lock()
	Unlock()
}

func (f *fanWatch) lock() locker { return &f.g.mu }
func (i *inoWatch) lock() locker { return &i.mu }

// Mappings lists the shared mappings of a process, asked for or read as text.
func Mappings(root string, pid int, plain bool) ([]string, error) {
	fd, at, err := openPlace(root)
	if err != nil {
		return nil, err
	}
	defer closeFD(fd)
	var all []string
	l := newLook(&at, &Dirt{Paths: map[string]Mark{}})
	l.plain = plain
	l.found = func(_ string, m *mapping) {
		all = append(all, fmt.Sprintf("%x-%x %v %x %d %q", m.start, m.end, m.writes, m.dev, m.ino, m.name))
	}
	_, err = l.maps(fmt.Sprintf("/proc/%d", pid))
	slices.Sort(all)
	if l.plain != plain {
		return nil, fmt.Errorf("this kernel cannot be asked")
	}
	return all, err
}

// Look looks at all processes once.
func Look(root string, plain bool) (Dirt, error) {
	fd, at, err := openPlace(root)
	if err != nil {
		return Dirt{}, err
	}
	defer closeFD(fd)
	d := Dirt{Paths: map[string]Mark{}}
	lookAtAll(&at, &d, plain)
	return d, nil
}
