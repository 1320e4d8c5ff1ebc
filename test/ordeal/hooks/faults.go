//go:build linux

package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

// hookFault is one thing that goes wrong while hooks are fired. begin answers how it
// is lifted. fire is the plain one when it is nil. A fault that leaves no place to
// keep anything in says lossy: nobody can be asked for those turns.
type hookFault struct {
	name  string
	begin func(l *lane) (lift func() error, err error)
	fire  func(l *lane, s *daemonbed.Speaker, kind retake.SignalKind) daemonbed.Fired
	lossy bool
}

var hookFaults = []hookFault{
	{name: "no daemon: the place of its socket is a file", begin: noRun},
	{name: "no daemon: its socket is a directory", begin: noSocket},
	{name: "no daemon: its settings are junk", begin: noSettings},
	{name: "the daemon hangs", begin: hung},
	{name: "the daemon is killed in the call", begin: unbroken, fire: killedMeanwhile},
	{name: "the disk is down to its floor", begin: atFloor},
	{name: "the clock jumps, the daemon listens", begin: unbroken, fire: jumped},
	{name: "the clock jumps, nobody listens", begin: noRun, fire: jumped},
	{name: "the home cannot be written, the daemon listens", begin: unbroken, fire: readOnly},
	{name: "the home cannot be written, nobody listens", begin: noRun, fire: readOnly, lossy: true},
	{name: "junk among the signals, no daemon", begin: junk},
}

func unbroken(*lane) (func() error, error) { return func() error { return nil }, nil }

// dead ends the daemon without a word.
func (l *lane) dead() error {
	l.Kill()
	if !daemonbed.Await(func() bool { return len(l.Daemons()) == 0 }) {
		return errors.New("kill: it lives on")
	}
	return nil
}

func noRun(l *lane) (func() error, error) {
	run := filepath.Join(l.Dir, "run")
	err := errors.Join(l.dead(), os.RemoveAll(run), os.WriteFile(run, []byte("not a directory"), 0o600))
	return func() error { return os.Remove(run) }, err
}

func noSocket(l *lane) (func() error, error) {
	socket := filepath.Join(l.Dir, "run", "daemon.sock")
	err := errors.Join(l.dead(), os.RemoveAll(socket), os.MkdirAll(filepath.Join(socket, "full"), 0o700))
	return func() error { return os.RemoveAll(socket) }, err
}

func noSettings(l *lane) (func() error, error) {
	file := filepath.Join(l.Dir, "config.json")
	was, err := os.ReadFile(file)
	err = errors.Join(err, l.dead(), os.WriteFile(file, []byte(`{"floor":`), 0o600))
	return func() error { return os.WriteFile(file, was, 0o600) }, err
}

func hung(l *lane) (func() error, error) {
	if err := l.up(); err != nil {
		return nil, err
	}
	pids := l.Daemons()
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return nil, err
		}
	}
	return func() error {
		for _, pid := range pids {
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// killedMeanwhile kills at some checkpoint between the start of the hook and what it
// usually needs.
func killedMeanwhile(l *lane, s *daemonbed.Speaker, kind retake.SignalKind) daemonbed.Fired {
	checkpoint := time.Duration(l.rnd.Intn(60_000)) * time.Microsecond
	done := make(chan struct{})
	go func() {
		defer close(done)
		<-time.After(checkpoint) // the checkpoint is random; that is the point
		l.Kill()
	}()
	f := l.Fire(s, kind)
	<-done
	return f
}

// atFloor leaves less on the disk than must stay free: on a small disk by filling it,
// else by asking for more than there is.
func atFloor(l *lane) (func() error, error) {
	if l.small == nil {
		file := filepath.Join(l.Dir, "config.json")
		was, err := os.ReadFile(file)
		return func() error { return os.WriteFile(file, was, 0o600) }, errors.Join(err, os.WriteFile(file, []byte(`{"floor":"900TB"}`), 0o600))
	}
	filler := filepath.Join(l.small.Dir, "filler")
	_, free, err := treebed.DiskOf(l.small.Dir)
	if err != nil {
		return nil, err
	}
	f, err := os.Create(filler)
	if err == nil {
		err = errors.Join(unix.Fallocate(int(f.Fd()), 0, 0, max(1<<20, free-leftOver)), f.Close())
	}
	return func() error { return os.Remove(filler) }, err
}

const (
	smallSize  = 192 << 20
	smallFloor = "24MB"
	leftOver   = 4 << 20
)

// jumped is a clock that went hours back or forth before this event.
func jumped(l *lane, s *daemonbed.Speaker, kind retake.SignalKind) daemonbed.Fired {
	return l.FireAt(s, kind, clock.NewManual(time.Now().Add(time.Duration(l.rnd.Intn(12*3600)-6*3600)*time.Second)))
}

// readOnly shows the hook a home in which nothing can be written.
func readOnly(l *lane, s *daemonbed.Speaker, kind retake.SignalKind) daemonbed.Fired {
	return l.Fire(s, kind, "unshare", "-m", "--", "sh", "-c", `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && cd "$1" && shift && exec "$@"`, l.Dir, s.Dir)
}

const manyJunk = 500

// junk fills the directory of the signals with what is none.
func junk(l *lane) (func() error, error) {
	if err := l.dead(); err != nil {
		return nil, err
	}
	dir := l.Signals()
	at := func(name string) string { return filepath.Join(dir, name+".signal") }
	foreign := retake.Signal{ID: queue.NewID(), Kind: retake.SignalTurnEnd, Time: time.Now(), Agent: "codex", Session: "gone", Dir: "/nowhere"}
	odd := foreign
	odd.ID, odd.Kind = queue.NewID(), "sneeze"
	renamed := foreign
	renamed.ID = queue.NewID()
	copied, err := json.Marshal(renamed)
	err = errors.Join(err, queue.Put(dir, foreign), queue.Put(dir, odd))
	for i := range manyJunk {
		err = errors.Join(err, os.WriteFile(at(fmt.Sprintf("junk-%d", i)), []byte(strings.Repeat("{", i)), 0o600))
	}
	huge, herr := os.Create(at("0-huge"))
	if herr == nil {
		herr = errors.Join(huge.Truncate(64<<20), huge.Close())
	}
	err = errors.Join(err, herr,
		os.WriteFile(at("another-name"), copied, 0o600),
		os.WriteFile(filepath.Join(dir, "new-left"), copied, 0o600),
		os.MkdirAll(filepath.Join(at("a-directory"), "full"), 0o700),
		unix.Mkfifo(at("0-pipe-"+spoolSuffix(l)), 0o600),
		os.Symlink("/dev/zero", at("0-endless-"+spoolSuffix(l))))
	return func() error { return nil }, err
}

func spoolSuffix(l *lane) string { return fmt.Sprint(l.rnd.Int63()) }
