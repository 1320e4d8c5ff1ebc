package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/daemonctl"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/proc"
)

const (
	lockWait   = 250 * time.Millisecond // for those who only look who holds it
	brokenStay = time.Second            // of a daemon whose service did not open
)

// Run is the life of a daemon. It returns when ctx ends, when it is asked to
// stop, or when nobody asked it anything for long; ErrAlive when another daemon
// looks after this data directory.
func Run(ctx context.Context, o Options) error {
	err := o.run(ctx)
	if err != nil {
		o.say(err)
	}
	return err
}

// say tells the starter how it went. It may be gone, and is never needed.
func (o Options) say(err error) {
	if o.Say == nil {
		return
	}
	word := daemonctl.WordReady
	switch {
	case errors.Is(err, ErrAlive):
		word = daemonctl.WordAlive
	case err != nil:
		b, jerr := json.Marshal(daemonctl.Trouble{Error: retake.AsError(err), Cause: err.Error()})
		if jerr != nil {
			return // the starter sees that we ended
		}
		word = string(b)
	}
	_ = o.Say(word) // who does not wait does not hear
}

func (o Options) run(ctx context.Context) error {
	release, err := o.lock(ctx)
	if err != nil {
		return err
	}
	d := &daemon{Options: o, leave: make(chan string, 1)}
	defer func() {
		if !d.unfinished { // else work is under way, and only our end may give the lock back
			release()
		}
	}()
	out, err := openLog(daemonctl.LogPath(o.Conf))
	if err != nil {
		return err
	}
	defer out.Close() //nolint:errcheck // every line was written at once
	d.logs, d.log = out, out.logger(o.Conf.Debug)
	if d.place, err = os.Stat(daemonctl.LockPath(o.Conf)); err != nil {
		return fmt.Errorf("look at the lock: %w", err)
	}
	if o.Settle != nil {
		d.group = o.Settle()
	}
	if o.Tune != nil {
		o.Tune()
	}
	var build daemonctl.Build
	d.exe, build = daemonctl.Executable(o.Version)
	d.about = retake.About{
		Version: o.Version, API: retake.APIVersion, Stamp: build.Stamp, PID: os.Getpid(),
		Started: o.Clock.Now(), Home: o.Conf.DataDir,
	}
	if d.sock, err = listen(o.Conf); err != nil {
		return err
	}
	defer func() {
		if err := d.sock.remove(); err != nil {
			d.log.Warn("socket stays", "err", err)
		}
	}()
	if err := daemonctl.WriteRecord(o.Conf, daemonctl.Record{PID: d.about.PID, Socket: d.sock.path, Version: o.Version, Stamp: build.Stamp}); err != nil {
		return errors.Join(err, d.sock.Close())
	}
	defer daemonctl.DropRecord(o.Conf, d.about.PID)
	d.log.Info("ready", "pid", d.about.PID, "version", o.Version, "socket", d.sock.path, "given", d.sock.given, "group", d.group)
	o.say(nil)
	return d.serve(ctx)
}

// lock takes the lock alone. Who else may hold it: another daemon, processes
// that work without one, or somebody who looks.
func (o Options) lock(ctx context.Context) (func(), error) {
	locks, err := daemonctl.Locks(o.Conf)
	if err != nil {
		return nil, err
	}
	release, err := lockFor(ctx, locks, lockWait)
	if err == nil || !errors.Is(err, fsx.ErrLocked) {
		return release, err
	}
	if daemonctl.LockHolder(locks) != daemonctl.HeldByDaemon {
		return nil, daemonctl.BusySolo(err)
	}
	if o.Conf.ListenFDs == 0 {
		return nil, ErrAlive
	}
	// The service manager gave us the socket, so nobody reaches the other any more.
	r, ok := daemonctl.ReadRecord(o.Conf)
	if !ok || proc.Terminate(r.PID) != nil {
		return nil, ErrAlive
	}
	return lockFor(ctx, locks, daemonctl.FinishWait+lockWait)
}

func lockFor(ctx context.Context, locks fsx.Locks, wait time.Duration) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	release, err := locks.Lock(ctx, daemonctl.LockName, true)
	if err != nil {
		return nil, fmt.Errorf("take the place of the daemon: %w", err)
	}
	return release, nil
}

// daemon is one life.
type daemon struct {
	Options
	logs       *logFile
	log        *slog.Logger
	about      retake.About
	exe        string
	group      string
	sock       *socket
	place      os.FileInfo // the lock as we hold it
	calls      traffic
	console    *console
	leave      chan string // why; the first reason counts
	unfinished bool        // it leaves while something is still being done
}

// uprooted reports whether the data directory was removed or replaced under us.
// What we would acknowledge then, nobody could ever read.
func (d *daemon) uprooted() bool {
	now, err := os.Stat(daemonctl.LockPath(d.Conf))
	return err != nil || !os.SameFile(now, d.place)
}

// leaveLostHome says in the log that the data directory is gone, and asks the daemon to
// leave. Our log went with it; if a log can be written where it was, the reason is there too.
func (d *daemon) leaveLostHome() {
	d.logs.followPath()
	d.log.Error("the data directory was deleted or replaced under this daemon", "directory", d.Conf.DataDir, "pid", d.about.PID)
	d.goAway("the data directory is gone")
}

// goAway asks the daemon to leave.
func (d *daemon) goAway(why string) {
	select {
	case d.leave <- why:
	default:
	}
}
