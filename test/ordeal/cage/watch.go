//go:build linux

package cage

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake/test/ordeal/daemonbed"
)

// processMemory is of one process, in bytes.
type processMemory struct {
	now, peak int64
	confined  bool // by a filter of calls
}

func memoryOf(pid int) (m processMemory, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return m, err
	}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		field, _, _ := strings.Cut(strings.TrimSpace(value), " ")
		n, _ := strconv.ParseInt(field, 10, 64) // other lines hold words
		switch key {
		case "VmRSS":
			m.now = n << 10
		case "VmHWM":
			m.peak = n << 10
		case "Seccomp":
			m.confined = n == 2
		}
	}
	return m, nil
}

// forgetPeak makes the kernel count the most memory of a process anew.
func forgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// watcher looks at a service from outside while a case lasts.
type watcher struct {
	pid      int
	before   int64 // memory of the service
	ended    chan struct{}
	all      sync.WaitGroup
	mu       sync.Mutex
	said     []string // what was out of bounds
	reader   int64    // the most memory of one that it started
	confined int
	slowest  time.Duration
	asked    int
}

const (
	watchEvery = 50 * time.Millisecond // the kernel remembers the most
	askEvery   = 250 * time.Millisecond
)

func (b *cageBed) watch() *watcher {
	w := &watcher{pid: b.pid, ended: make(chan struct{})}
	m, err := memoryOf(b.pid)
	w.note(errors.Join(err, forgetPeak(b.pid)))
	w.before = m.now
	w.all.Go(func() { w.every(watchEvery, w.look) })
	w.all.Go(func() { w.every(askEvery, func() { w.ask(b.status) }) })
	return w
}

// every does something at once, and again until the case is over.
func (w *watcher) every(d time.Duration, do func()) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		do()
		select {
		case <-w.ended:
			return
		case <-tick.C:
		}
	}
}

func (w *watcher) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && !slices.Contains(w.said, err.Error()) {
		w.said = append(w.said, err.Error())
	}
}

// ask asks how things stand, as somebody who waits for the answer.
func (w *watcher) ask(status func() error) {
	began := time.Now()
	err := status()
	took := time.Since(began)
	if err == nil && took > cageStatusTime {
		err = fmt.Errorf("meanwhile status takes %s", took.Round(time.Millisecond))
	}
	w.note(err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slowest, w.asked = max(w.slowest, took), w.asked+1
}

// look weighs what the service started. What is confined has nothing open but pipes, and
// what the runtime of Go opens in every program before it begins.
func (w *watcher) look() {
	for _, pid := range daemonbed.Below(w.pid) {
		m, err := memoryOf(pid)
		if err != nil {
			continue // it ended
		}
		if m.confined {
			w.note(onlyPipes(pid))
		}
		w.mu.Lock()
		w.reader = max(w.reader, m.peak)
		if m.confined {
			w.confined++
		}
		w.mu.Unlock()
	}
}

func onlyPipes(pid int) error {
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil // it ended
	}
	for _, n := range names {
		to, err := os.Readlink(filepath.Join(dir, n.Name()))
		if err == nil && !strings.HasPrefix(to, "pipe:") && !strings.HasPrefix(to, "anon_inode:") && !strings.HasPrefix(to, "/sys/fs/cgroup/") {
			return fmt.Errorf("a reader has %s open", to)
		}
	}
	return nil
}

// stop ends the watch and answers what was out of bounds.
func (w *watcher) stop(b *cageBed, name string) error {
	m, err := memoryOf(w.pid)
	if err != nil {
		w.note(fmt.Errorf("the service is gone: %w", err))
	}
	w.note(idle(w.pid))
	close(w.ended)
	w.all.Wait()
	worst := &b.worst
	worst.status, worst.statuses, worst.confined = max(worst.status, w.slowest), worst.statuses+w.asked, worst.confined+w.confined
	grew := m.peak - w.before
	if grew > worst.daemon {
		worst.daemon, worst.daemonAt = grew, name
	}
	if w.reader > worst.reader {
		worst.reader, worst.readerAt = w.reader, name
	}
	if grew > cageDaemonMost {
		w.note(fmt.Errorf("the service grew by %d MB", grew>>20))
	}
	if w.reader > cageReaderMost {
		w.note(fmt.Errorf("a reader held %d MB", w.reader>>20))
	}
	if len(w.said) == 0 {
		return nil
	}
	return errors.New(strings.Join(w.said[:min(len(w.said), 3)], "; "))
}

// idle waits until nothing that a service started computes.
func idle(pid int) error {
	const looks, apart = 5, 20 * time.Millisecond
	busy := 0
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); {
		runs := map[int]int{}
		for range looks {
			for _, p := range daemonbed.Below(pid) {
				if computes(p) {
					runs[p]++
				}
			}
			<-time.After(apart)
		}
		busy = 0
		for p, n := range runs {
			if n > looks/2 {
				busy = p
			}
		}
		if busy == 0 {
			return nil
		}
	}
	return fmt.Errorf("process %d computes on after the story", busy)
}

// computes reports whether a thread of a process wants a processor. How much it gets
// depends on what else the machine does.
func computes(pid int) bool {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false
	}
	for _, s := range stats {
		text, err := os.ReadFile(s)
		if _, state, ok := strings.Cut(string(text), ") "); err == nil && ok && strings.HasPrefix(state, "R") {
			return true
		}
	}
	return false
}

// left wants everything gone that was started to read, and the memory that it took.
func (b *cageBed) left() error {
	if !daemonbed.Await(func() bool { return len(daemonbed.Below(b.pid)) == 0 }) {
		return fmt.Errorf("%d readers are left", len(daemonbed.Below(b.pid)))
	}
	m, err := memoryOf(b.pid)
	b.worst.left = m.now - b.base
	if err == nil && b.worst.left > cageDaemonMost {
		err = fmt.Errorf("the service is left with %d MB more than before all", b.worst.left>>20)
	}
	return err
}
