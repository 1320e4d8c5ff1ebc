package track

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
)

// eventMask is everything that we ask the kernel for. Opens, reads and closes after reading
// are left out, so that our own scans cause no events (K3). CLOSE_WRITE also comes when the
// last writable mapping of a closed file goes away. Fanotify and inotify use the same numbers
// for these.
const eventMask = unix.FAN_MODIFY | unix.FAN_CLOSE_WRITE | unix.FAN_ATTRIB |
	unix.FAN_CREATE | unix.FAN_DELETE | unix.FAN_MOVED_FROM | unix.FAN_MOVED_TO

// eventSource receives events from the kernel for one root.
type eventSource interface {
	mode() retake.TrackingMode
	// drain adds what was reported since the last drain. root is open during the call. A
	// source that is broken must be replaced by a new one.
	drain(root int, at *rootInfo, d *DirtySet) (broken bool)
	close() error
}

// listenState is what a watch listens with, and what it last saw at its root.
type listenState struct {
	source     eventSource // nil: not listening
	root       rootInfo
	lastMapped map[string]bool // the files that the last scan found mapped
}

func (w *Watch) mode() retake.TrackingMode {
	if w.listening.source == nil {
		return retake.TrackingScan
	}
	return w.listening.source.mode()
}

// startListening begins to listen to the directory that is at the root now.
func (w *Watch) startListening() error {
	root, at, err := openRootInfo(w.root)
	if err != nil {
		return err
	}
	defer closeFD(root)
	if why := untrackableReason(at.fsType); why != "" {
		return errors.New(why)
	}
	e, err := w.openEventSource(root, &at)
	if err != nil {
		return err
	}
	w.listening.source, w.listening.root = e, at
	return nil
}

// openEventSource opens the source that the options ask for: fanotify if it works, otherwise
// inotify.
func (w *Watch) openEventSource(root int, at *rootInfo) (eventSource, error) {
	switch w.tracker.options.Mode {
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
		return nil, fmt.Errorf("no tracker is called %s", w.tracker.options.Mode)
	}
}

func (w *Watch) stopListening() error {
	e := w.listening.source
	w.listening.source = nil
	if e == nil {
		return nil
	}
	return e.close()
}

// drainChanges scans the processes before it reads the event queue. A mapping that goes away
// in between was seen by the scan, and one that went away before has an event.
func (w *Watch) drainChanges(d *DirtySet) {
	root, at, err := openRootInfo(w.root)
	if err != nil {
		d.requireRescan(err.Error())
		_ = w.stopListening() // its events belong to a root that is gone
		return
	}
	defer closeFD(root)
	if why := w.listening.root.changeReason(&at); why != "" || w.listening.source == nil {
		d.requireRescan(why)
		w.restartListening(d)
		w.scanProcesses(&at, d)
		return
	}
	w.scanProcesses(&at, d)
	if w.listening.source.drain(root, &at, d) {
		w.restartListening(d)
	}
}

// restartListening replaces the event source. Changes that happen meanwhile are covered by the
// rescan that d asks for.
func (w *Watch) restartListening(d *DirtySet) {
	d.requireRescan("the root was away")
	if err := w.stopListening(); err != nil {
		d.requireRescan(err.Error())
	}
	if err := w.startListening(); err != nil {
		d.RescanReason = err.Error()
	}
}

// burstDelay lets events of a burst accumulate before they are read, so that a busy file
// system wakes us at most 20 times a second and an idle one never.
const burstDelay = 50 * time.Millisecond

// pollEvents calls read soon after the descriptor becomes readable, until the file is closed
// or read returns false.
func pollEvents(file *os.File, done <-chan struct{}, read func() bool) {
	conn, err := file.SyscallConn()
	if err != nil {
		return
	}
	for {
		if err := conn.Read(isReadable); err != nil {
			return
		}
		select {
		case <-time.After(burstDelay):
		case <-done:
			return
		}
		if !read() {
			return
		}
	}
}

func isReadable(fd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	n, err := unix.Poll(fds, 0)
	return err == nil && n > 0
}

// retryEINTR repeats a call that was interrupted by a signal.
func retryEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func closeFD(fd int) { _ = unix.Close(fd) }
