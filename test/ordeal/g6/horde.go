//go:build linux

package g6

import (
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// build makes the root and what lies outside, with the same names in both.
func (a *assault) build() error {
	inside := map[string]string{
		"dir/one": "inside", "dir/two": "inside", "dir/sub/three": "inside", "path/q/r/deep": "inside", "file": "inside",
		"near-fifo": "inside", "near-socket": "inside", "near-zero": "inside", "near-giant": "inside", "near-link": "inside",
		"wander/a": "inside", "wander/b/c": "inside", "bound/x": "inside", "boundfile": "inside", "grow": "",
	}
	outside := map[string]string{
		"dir/one": mark, "dir/two": mark, "dir/sub/three": mark, "dir/" + mark: mark, "path/q/r/deep": mark, "secret": mark,
		"bound/x": mark, "bound/" + mark: mark,
	}
	for base, files := range map[string]map[string]string{a.root: inside, a.out: outside} {
		for name, text := range files {
			p := base + "/" + name
			if err := os.MkdirAll(p[:strings.LastIndex(p, "/")], 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(p, []byte(strings.Repeat(text+"\n", 200)), 0o644); err != nil {
				return err
			}
		}
	}
	giant, err := os.Create(a.root + "/giant")
	if err != nil {
		return err
	}
	for size := int64(1) << 60; size > 1<<40; size /= 2 { // as large as the file system lets it
		if err = giant.Truncate(size); err == nil {
			break
		}
	}
	return errors.Join(err, giant.Close(),
		os.Symlink(a.out+"/dir", a.root+"/dir-link"), os.Symlink("../outside/path", a.root+"/path-link"),
		os.Symlink(a.out+"/secret", a.root+"/file-link"), os.Symlink("/dev/zero", a.root+"/zero-link"),
		os.Symlink("../outside/secret", a.root+"/link-link"),
		unix.Mkfifo(a.root+"/fifo", 0o644), unix.Mknod(a.root+"/socket", unix.S_IFSOCK|0o644, 0))
}

// horde is the adversaries. They work all the time; what they do while a capture
// runs is counted.
type horde struct {
	captures atomic.Bool
	during   atomic.Int64
	binds    atomic.Int64
	ended    atomic.Bool
	wg       sync.WaitGroup
	fds      []int
}

func (h *horde) stop() {
	if h.ended.Swap(true) {
		return
	}
	h.wg.Wait()
	for _, fd := range h.fds {
		_ = unix.Close(fd) // scratch
	}
}

// loop repeats one deed until the end.
func (h *horde) loop(deed func() bool) {
	h.wg.Add(1)
	go func() {
		defer h.wg.Done()
		for !h.ended.Load() {
			if deed() && h.captures.Load() {
				h.during.Add(1)
			}
		}
	}()
}

// muster sets the adversaries to work: those that swap two names of the root in
// one goroutine each few, so that captures get their turn on a small machine.
func (a *assault) muster() (*horde, error) {
	h := &horde{}
	in, err := unix.Open(a.root, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	out, err := unix.Open(a.out, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	h.fds = []int{in, out}
	pairs := [][2]string{
		{"dir", "dir-link"}, {"path", "path-link"}, {"file", "file-link"}, {"near-link", "link-link"},
		{"near-fifo", "fifo"}, {"near-socket", "socket"}, {"near-zero", "zero-link"}, {"near-giant", "giant"},
	}
	for i := range 2 {
		mine, at := pairs[i*4:i*4+4], 0
		h.loop(func() bool {
			at++
			p := mine[at%len(mine)]
			return unix.Renameat2(in, p[0], in, p[1], unix.RENAME_EXCHANGE) == nil
		})
	}
	gone := false
	h.loop(func() bool {
		from, to := in, out
		if gone {
			from, to = out, in
		}
		gone = !gone
		return unix.Renameat2(from, "wander", to, "wander", unix.RENAME_NOREPLACE) == nil
	})
	h.loop(a.grow())
	h.loop(a.bind(h))
	return h, nil
}

// grow appends for ever, and begins again before the disk is full.
func (a *assault) grow() func() bool {
	f, err := os.OpenFile(a.root+"/grow", os.O_WRONLY|os.O_APPEND, 0)
	b, n := make([]byte, 4096), 0
	return func() bool {
		if err != nil {
			return false
		}
		if n++; n%4096 == 0 {
			err = f.Truncate(0)
		}
		_, err = f.Write(b)
		return false // it is no swap
	}
}

// bind covers a directory and a file of the root with ones from outside.
func (a *assault) bind(h *horde) func() bool {
	return func() bool {
		ok := true
		for from, to := range map[string]string{a.out + "/bound": a.root + "/bound", a.out + "/secret": a.root + "/boundfile"} {
			if unix.Mount(from, to, "", unix.MS_BIND, "") != nil {
				ok = false
				continue
			}
			h.binds.Add(1)
			time.Sleep(time.Millisecond) // long enough to be met
			ok = unix.Unmount(to, unix.MNT_DETACH) == nil && ok
		}
		return ok // counted as one
	}
}
