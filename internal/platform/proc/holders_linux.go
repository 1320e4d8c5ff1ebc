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
const scanWorkers = 2

// FindFileUsers finds the processes of this machine that have one of these files open,
// mapped, or as their working directory, ourselves left out. It looks only at
// what we may look at; hidden counts the processes that we may not. A process
// that ends meanwhile holds nothing.
func FindFileUsers(ctx context.Context, want map[Inode]bool) (found []FileUser, hidden int, err error) {
	if len(want) == 0 {
		return nil, 0, nil
	}
	pids, err := listProcesses()
	if err != nil {
		return nil, 0, fmt.Errorf("list processes: %w", err)
	}
	var next atomic.Int64
	ls := make([]*procScanner, scanWorkers)
	g, ctx := errgroup.WithContext(ctx)
	for i := range ls {
		ls[i] = newProcScanner(want)
		g.Go(func() error {
			for at := next.Add(1) - 1; at < int64(len(pids)); at = next.Add(1) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := ls[i].scanProcess(pids[at]); err != nil {
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
	return sortFileUsers(found), hidden, nil
}

func listProcesses() ([]int, error) {
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

// procScanner looks at one process after the other, and keeps its buffers.
type procScanner struct {
	want     map[Inode]bool
	wantInos map[uint64]bool // of want, for lists that name another device
	buf      []byte
	names    []string
	current  []FileUser // of the process that is looked at
	found    []FileUser
	hidden   int
}

func newProcScanner(want map[Inode]bool) *procScanner {
	l := &procScanner{want: want, wantInos: make(map[uint64]bool, len(want)), buf: make([]byte, 64<<10)}
	for in, wanted := range want {
		if wanted {
			l.wantInos[in.Ino] = true
		}
	}
	return l
}

// isGone: it ended, or let go, while it was looked at.
func isGone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) }

func isDenied(err error) bool { return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) }

// scanProcess looks at everything through one handle, which never becomes another
// process that was given the same number.
func (l *procScanner) scanProcess(pid int) error {
	dir, err := unix.Open("/proc/"+strconv.Itoa(pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ignoreGoneOrDenied(err)
	}
	defer unix.Close(dir) //nolint:errcheck // only looked at
	l.current = l.current[:0]
	barred, ended, err := l.scanTask(dir)
	if err != nil {
		return fmt.Errorf("process %d: %w", pid, err)
	}
	command := ""
	if ended { // perhaps only its first thread
		if command, err = l.scanThreads(dir, pid); err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
	}
	if barred && !l.hasNoFiles(dir) {
		l.hidden++
	}
	if len(l.current) == 0 {
		return nil
	}
	if command == "" {
		command = l.readCommand(dir)
	}
	if command == "" {
		return nil // it ended
	}
	for _, h := range l.current {
		h.PID, h.Command = pid, command
		l.found = append(l.found, h)
	}
	return nil
}

// ignoreGoneOrDenied forgives what lies in the other process: that it ended, or is not ours
// to see. What we lack ourselves, descriptors or memory, is an error.
func ignoreGoneOrDenied(err error) error {
	if isGone(err) || isDenied(err) {
		return nil
	}
	return err
}

// scanTask looks at what one task holds. barred: something was kept from us; ended:
// it stands nowhere any more.
func (l *procScanner) scanTask(dir int) (barred, ended bool, err error) {
	for i, part := range []func(int) error{l.scanWorkingDir, l.scanOpenFiles, l.scanMappings} {
		err := part(dir)
		switch {
		case err == nil:
		case isGone(err):
			ended = ended || i == 0
		case isDenied(err):
			barred = true
		default:
			return barred, ended, err
		}
	}
	return barred, ended, nil
}

// scanThreads looks at those that live on after the first one ended, and asks them
// for the command, which went with it.
func (l *procScanner) scanThreads(dir, pid int) (command string, err error) {
	tasks, err := unix.Openat(dir, "task", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", ignoreGoneOrDenied(err)
	}
	defer unix.Close(tasks) //nolint:errcheck // only read
	names, err := l.readDirNames(tasks)
	if err != nil {
		return "", ignoreGoneOrDenied(err)
	}
	for _, n := range slices.Clone(names) { // the list is used again below
		if n == strconv.Itoa(pid) {
			continue
		}
		task, err := unix.Openat(tasks, n, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			continue // it ended too
		}
		_, ended, err := l.scanTask(task)
		command = l.readCommand(task)
		_ = unix.Close(task)
		if err != nil || !ended { // threads share what they hold
			return command, err
		}
	}
	return "", nil
}

// hasNoFiles: a process without files, one of the kernel or one that only waits to be
// collected. Nothing is hidden there.
func (l *procScanner) hasNoFiles(dir int) bool {
	b, err := l.readFileHead(dir, "stat")
	if err != nil {
		return isGone(err)
	}
	return statHasNoFiles(b)
}

// readCommand is "" when the process ended.
func (l *procScanner) readCommand(dir int) string {
	if b, err := l.readFileHead(dir, "cmdline"); err == nil {
		if s := commandText(b); s != "" {
			return s
		}
	}
	b, err := l.readFileHead(dir, "comm")
	if err != nil {
		return ""
	}
	return commandText(trimNewline(b))
}

// maxCommand is enough to know a process again.
const maxCommandLength = 80

// commandText makes one line of the arguments as the kernel gives them, each
// ended by a zero.
func commandText(raw []byte) string {
	s := strings.ReplaceAll(string(bytes.Trim(raw, "\x00")), "\x00", " ")
	if len(s) <= maxCommandLength {
		return s
	}
	at := maxCommandLength
	for at > maxCommandLength-utf8.UTFMax && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at]
}

// sortFileUsers sorts holders, and makes one of those that are the same process and file.
func sortFileUsers(hs []FileUser) []FileUser {
	slices.SortFunc(hs, func(a, b FileUser) int {
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
