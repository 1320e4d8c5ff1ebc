package track

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
)

// changes is all that is asked of the kernel. Opening, reading and closing what
// was read stay out, so that our own looks tell nothing (K3). CLOSE_WRITE also
// comes when the last writable mapping of a closed file goes away. Fanotify and
// inotify have the same numbers for these.
const changes = unix.FAN_MODIFY | unix.FAN_CLOSE_WRITE | unix.FAN_ATTRIB |
	unix.FAN_CREATE | unix.FAN_DELETE | unix.FAN_MOVED_FROM | unix.FAN_MOVED_TO

// engine listens to the kernel for one root.
type engine interface {
	mode() retake.TrackingMode
	// drain adds what was told since the last drain. root is open for the time
	// of the call. An engine that is broken has to be replaced by a new one.
	drain(root int, at *place, d *Dirt) (broken bool)
	close() error
}

type armed struct {
	engine engine // nil: nothing listens
	at     place
	mapped map[string]bool // what the last look found mapped
}

func (w *Watch) mode() retake.TrackingMode {
	if w.armed.engine == nil {
		return retake.TrackingScan
	}
	return w.armed.engine.mode()
}

// arm begins to listen to what stands at the root now.
func (w *Watch) arm() error {
	root, at, err := openPlace(w.root)
	if err != nil {
		return err
	}
	defer closeFD(root)
	if why := refusal(at.kind); why != "" {
		return errors.New(why)
	}
	e, err := w.choose(root, &at)
	if err != nil {
		return err
	}
	w.armed.engine, w.armed.at = e, at
	return nil
}

func (w *Watch) choose(root int, at *place) (engine, error) {
	switch w.t.o.Only {
	case "":
		if e, err := openFanotify(w, root, at); err == nil {
			return e, nil
		}
		return openInotify(w, root, at)
	case retake.TrackingFanotify:
		return openFanotify(w, root, at)
	case retake.TrackingInotify:
		return openInotify(w, root, at)
	default:
		return nil, fmt.Errorf("no tracker is called %s", w.t.o.Only)
	}
}

func (w *Watch) disarm() error {
	e := w.armed.engine
	w.armed.engine = nil
	if e == nil {
		return nil
	}
	return e.close()
}

// drain looks at processes before it reads the queue: a mapping that goes away
// in between is known by the look, one that went before it by its event.
func (w *Watch) drain(d *Dirt) {
	root, at, err := openPlace(w.root)
	if err != nil {
		d.doubt(err.Error())
		_ = w.disarm() // what it heard belongs to a root that is gone
		return
	}
	defer closeFD(root)
	if why := w.armed.at.differs(&at); why != "" || w.armed.engine == nil {
		d.doubt(why)
		w.rearm(d)
		w.lookAround(&at, d)
		return
	}
	w.lookAround(&at, d)
	if w.armed.engine.drain(root, &at, d) {
		w.rearm(d)
	}
}

// rearm listens anew. What happens while nobody listens is part of the doubt
// that is being answered.
func (w *Watch) rearm(d *Dirt) {
	d.doubt("the root was away")
	if err := w.disarm(); err != nil {
		d.doubt(err.Error())
	}
	if err := w.arm(); err != nil {
		d.Doubt = err.Error()
	}
}

// pause lets a burst gather before it is read, so that a busy file system wakes
// us 20 times a second and an idle one never.
const pause = 50 * time.Millisecond

// follow calls read soon after the descriptor has something, until the file is
// closed or read says no.
func follow(file *os.File, done <-chan struct{}, read func() bool) {
	conn, err := file.SyscallConn()
	if err != nil {
		return
	}
	for {
		if err := conn.Read(readable); err != nil {
			return
		}
		select {
		case <-time.After(pause):
		case <-done:
			return
		}
		if !read() {
			return
		}
	}
}

func readable(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}

// again repeats a call that a signal cut short.
func again(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func closeFD(fd int) { _ = unix.Close(fd) }
