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

// scanWorkers is the number of parallel scanners. More would only wait for the same locks.
const scanWorkers = 2

// FindFileUsers finds the processes of this machine, except this one, that have one of these
// files open, mapped, or as their working directory. It inspects only processes that we have
// permission for; hidden counts the others. A process that ends meanwhile uses nothing.
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

// listProcesses returns the ids of all processes except this one.
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

// procScanner inspects one process after the other and reuses its buffers.
type procScanner struct {
	want     map[Inode]bool
	wantInos map[uint64]bool // the numbers in want, for lists that report another device
	buf      []byte
	names    []string
	current  []FileUser // of the process being scanned
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

// isGone reports whether err means that the process ended, or closed the file, meanwhile.
func isGone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) }

func isDenied(err error) bool { return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) }

// scanProcess inspects a process through one handle of its directory, which never refers to
// another process that was given the same id.
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

// ignoreGoneOrDenied drops errors that are about the other process: it ended, or we may not
// inspect it. A lack of descriptors or memory of our own stays an error.
func ignoreGoneOrDenied(err error) error {
	if isGone(err) || isDenied(err) {
		return nil
	}
	return err
}

// scanTask collects what one task uses. barred means that we were denied something, ended that
// the task has no working directory any more.
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

// scanThreads inspects the threads that live on after the main thread ended, and reads the
// command from them, because that of the main thread is gone.
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

// hasNoFiles reports whether a process has no files: it is a kernel thread or a zombie.
// Nothing is hidden there.
func (l *procScanner) hasNoFiles(dir int) bool {
	b, err := l.readFileHead(dir, "stat")
	if err != nil {
		return isGone(err)
	}
	return statHasNoFiles(b)
}

// readCommand returns the command line, and "" if the process ended.
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

// maxCommandLength is enough to recognize a process.
const maxCommandLength = 80

// commandText makes one line of the arguments, which the kernel separates by NULs.
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

// sortFileUsers sorts by process and file, and merges equal entries.
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
