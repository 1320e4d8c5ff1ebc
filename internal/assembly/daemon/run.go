package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
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

// Run runs a daemon until ctx ends, it is asked to stop, or it was idle for long. It returns
// ErrAlive if another daemon serves this data directory.
func Run(ctx context.Context, o Options) error {
	err := o.run(ctx)
	if err != nil {
		o.reportStart(err)
	}
	return err
}

// reportStart tells the starter how it went. It may be gone, and is never needed.
func (o Options) reportStart(err error) {
	if o.ReportReady == nil {
		return
	}
	word := daemonctl.WordReady
	switch {
	case errors.Is(err, ErrAlive):
		word = daemonctl.WordAlive
	case err != nil:
		b, jerr := json.Marshal(daemonctl.StartError{Error: retake.AsError(err), Cause: err.Error()})
		if jerr != nil {
			return // the starter sees that we ended
		}
		word = string(b)
	}
	_ = o.ReportReady(word) // who does not wait does not hear
}

func (o Options) run(ctx context.Context) error {
	release, err := o.acquireLock(ctx)
	if err != nil {
		return err
	}
	d := &daemon{Options: o, exitReason: make(chan string, 1)}
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
	if d.lockInfo, err = os.Stat(daemonctl.LockPath(o.Conf)); err != nil {
		return fmt.Errorf("look at the lock: %w", err)
	}
	if o.Detach != nil {
		d.group = o.Detach()
	}
	if o.TuneMemory != nil {
		o.TuneMemory()
	}
	var build daemonctl.Build
	d.exe, build = daemonctl.Executable(o.Version)
	d.about = retake.About{
		Version: o.Version, API: retake.APIVersion, Stamp: build.Stamp, PID: os.Getpid(),
		Started: o.Clock.Now(), Home: o.Conf.DataDir,
	}
	sock, err := listenSocket(o.Conf, o.Listener)
	if err != nil {
		return err
	}
	d.sock.Store(sock)
	defer func() {
		if err := d.sock.Load().remove(); err != nil {
			d.log.Warn("socket stays", "err", err)
		}
	}()
	if err := daemonctl.WriteRecord(o.Conf, daemonctl.Record{PID: d.about.PID, Socket: sock.path, Version: o.Version, Stamp: build.Stamp}); err != nil {
		return errors.Join(err, sock.Close())
	}
	defer daemonctl.RemoveRecord(o.Conf, d.about.PID)
	d.log.Info("ready", "pid", d.about.PID, "version", o.Version, "socket", sock.path, "given", sock.activated, "group", d.group)
	o.reportStart(nil)
	return d.serve(ctx)
}

// acquireLock takes the lock alone. Who else may hold it: another daemon, processes
// that work without one, or somebody who looks.
func (o Options) acquireLock(ctx context.Context) (func(), error) {
	locks, err := daemonctl.Locks(o.Conf)
	if err != nil {
		return nil, err
	}
	release, err := lockWithin(ctx, locks, lockWait)
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
	return lockWithin(ctx, locks, daemonctl.FinishWait+lockWait)
}

func lockWithin(ctx context.Context, locks fsx.Locks, wait time.Duration) (func(), error) {
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
	sock       atomic.Pointer[socket] // another one after its file was removed
	lockInfo   os.FileInfo            // the lock as we hold it
	requests   requestCounter
	console    *console
	exitReason chan string // why; the first reason counts
	unfinished bool        // it leaves while something is still being done
}

// isDataDirLost reports whether the data directory was removed or replaced. What we would
// acknowledge then could never be read.
func (d *daemon) isDataDirLost() bool {
	now, err := os.Stat(daemonctl.LockPath(d.Conf))
	return err != nil || !os.SameFile(now, d.lockInfo)
}

// leaveLostDataDir says in the log that the data directory is gone, and asks the daemon to
// leave. Our log went with it; if a log can be written where it was, the reason is there too.
func (d *daemon) leaveLostDataDir() {
	d.logs.followPath()
	d.log.Error("the data directory was deleted or replaced under this daemon", "directory", d.Conf.DataDir, "pid", d.about.PID)
	d.requestExit("the data directory is gone")
}

// requestExit asks the daemon to exit; the first reason counts.
func (d *daemon) requestExit(why string) {
	select {
	case d.exitReason <- why:
	default:
	}
}
