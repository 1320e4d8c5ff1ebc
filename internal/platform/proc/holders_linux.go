package proc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
)

// lookers share the processes. More would only wait for the same locks.
const lookers = 2

// Holders finds the processes of this machine that have one of these files open,
// mapped, or as their working directory, ourselves left out. It looks only at
// what we may look at; hidden counts the processes that we may not. A process
// that ends meanwhile holds nothing.
func Holders(ctx context.Context, want map[Inode]bool) (found []Holder, hidden int, err error) {
	if len(want) == 0 {
		return nil, 0, nil
	}
	pids, err := processes()
	if err != nil {
		return nil, 0, fmt.Errorf("list processes: %w", err)
	}
	var next atomic.Int64
	ls := make([]*looker, lookers)
	g, ctx := errgroup.WithContext(ctx)
	for i := range ls {
		ls[i] = newLooker(want)
		g.Go(func() error {
			for at := next.Add(1) - 1; at < int64(len(pids)); at = next.Add(1) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := ls[i].process(pids[at]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, 0, fmt.Errorf("look for holders: %w", err)
	}
	for _, l := range ls {
		found = append(found, l.found...)
		hidden += l.hidden
	}
	return inOrder(found), hidden, nil
}

func processes() ([]int, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close() //nolint:errcheck // only read
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	self := os.Getpid()
	pids := make([]int, 0, len(names))
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && pid != self {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// looker looks at one process after the other, and keeps its buffers.
type looker struct {
	want   map[Inode]bool
	inos   map[uint64]bool // of want, for lists that name another device
	buf    []byte
	names  []string
	holds  []Holder // of the process that is looked at
	found  []Holder
	hidden int
}

func newLooker(want map[Inode]bool) *looker {
	l := &looker{want: want, inos: make(map[uint64]bool, len(want)), buf: make([]byte, 64<<10)}
	for in, wanted := range want {
		if wanted {
			l.inos[in.Ino] = true
		}
	}
	return l
}

// gone: it ended, or let go, while it was looked at.
func gone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) }

func denied(err error) bool { return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) }

// process looks at everything through one handle, which never becomes another
// process that was given the same number.
func (l *looker) process(pid int) error {
	dir, err := unix.Open("/proc/"+strconv.Itoa(pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return unlessLost(err)
	}
	defer unix.Close(dir) //nolint:errcheck // only looked at
	l.holds = l.holds[:0]
	barred, ended, err := l.parts(dir)
	if err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	command := ""
	if ended { // perhaps only its first thread
		if command, err = l.threads(dir, pid); err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
	}
	if barred && !l.bare(dir) {
		l.hidden++
	}
	if len(l.holds) == 0 {
		return nil
	}
	if command == "" {
		command = l.command(dir)
	}
	if command == "" {
		return nil // it ended
	}
	for _, h := range l.holds {
		h.PID, h.Command = pid, command
		l.found = append(l.found, h)
	}
	return nil
}

// unlessLost forgives what lies in the other process: that it ended, or is not ours
// to see. What we lack ourselves, descriptors or memory, is an error.
func unlessLost(err error) error {
	if gone(err) || denied(err) {
		return nil
	}
	return err
}

// parts looks at what one task holds. barred: something was kept from us; ended:
// it stands nowhere any more.
func (l *looker) parts(dir int) (barred, ended bool, err error) {
	for i, part := range []func(int) error{l.standing, l.opened, l.mapped} {
		err := part(dir)
		switch {
		case err == nil:
		case gone(err):
			ended = ended || i == 0
		case denied(err):
			barred = true
		default:
			return barred, ended, err
		}
	}
	return barred, ended, nil
}

// threads looks at those that live on after the first one ended, and asks them
// for the command, which went with it.
func (l *looker) threads(dir, pid int) (command string, err error) {
	tasks, err := unix.Openat(dir, "task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", unlessLost(err)
	}
	defer unix.Close(tasks) //nolint:errcheck // only read
	names, err := l.list(tasks)
	if err != nil {
		return "", unlessLost(err)
	}
	for _, n := range slices.Clone(names) { // the list is used again below
		if n == strconv.Itoa(pid) {
			continue
		}
		task, err := unix.Openat(tasks, n, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // it ended too
		}
		_, ended, err := l.parts(task)
		command = l.command(task)
		_ = unix.Close(task)
		if err != nil || !ended { // threads share what they hold
			return command, err
		}
	}
	return "", nil
}

// bare: a process without files, one of the kernel or one that only waits to be
// collected. Nothing is hidden there.
func (l *looker) bare(dir int) bool {
	b, err := l.read(dir, "stat")
	if err != nil {
		return gone(err)
	}
	return bareStat(b)
}

// command is "" when the process ended.
func (l *looker) command(dir int) string {
	if b, err := l.read(dir, "cmdline"); err == nil {
		if s := commandText(b); s != "" {
			return s
		}
	}
	b, err := l.read(dir, "comm")
	if err != nil {
		return ""
	}
	return commandText(trimLine(b))
}

// maxCommand is enough to know a process again.
const maxCommand = 80

// commandText makes one line of the arguments as the kernel gives them, each
// ended by a zero.
func commandText(raw []byte) string {
	s := strings.ReplaceAll(string(bytes.Trim(raw, "\x00")), "\x00", " ")
	if len(s) <= maxCommand {
		return s
	}
	at := maxCommand
	for at > maxCommand-utf8.UTFMax && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at]
}

// inOrder sorts holders, and makes one of those that are the same process and file.
func inOrder(hs []Holder) []Holder {
	slices.SortFunc(hs, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Inode.Dev, b.Inode.Dev), cmp.Compare(a.Inode.Ino, b.Inode.Ino))
	})
	out := hs[:0]
	for _, h := range hs {
		if n := len(out); n > 0 && out[n-1].PID == h.PID && out[n-1].Inode == h.Inode {
			out[n-1].Writes = out[n-1].Writes || h.Writes
			continue
		}
		out = append(out, h)
	}
	return out
}
