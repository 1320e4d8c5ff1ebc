package daemonctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// EnsureRunning makes sure that a daemon listens. Of many concurrent callers one starts it.
func (h *Controller) EnsureRunning(ctx context.Context) error {
	if err := h.conf.CheckSocketDir(); err != nil {
		return err
	}
	if h.conf.System > 0 { // the service manager starts it when somebody connects
		if _, err := h.stateNow(ctx); err != nil {
			return h.noSystemDaemonError(err)
		}
		return nil
	}
	locks, err := Locks(h.conf)
	if err != nil {
		return err
	}
	release, err := h.lockStart(ctx, locks)
	if err != nil {
		return err
	}
	defer release()
	return h.ensureRunningLocked(ctx, locks)
}

// lockStart takes the lock that serializes starting a daemon.
func (h *Controller) lockStart(ctx context.Context, locks fsx.Locks) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	release, err := locks.Lock(ctx, startLock, true)
	if err != nil {
		return nil, h.noDaemonError(err)
	}
	return release, nil
}

// ensureRunningLocked starts a daemon unless one responds. The caller holds the start lock.
func (h *Controller) ensureRunningLocked(ctx context.Context, locks fsx.Locks) error {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	alone, cancelAlone := context.WithTimeout(ctx, soloWait)
	defer cancelAlone()
	for deaths := 0; ; {
		// A connection alone says little: a killed daemon listens until it is gone.
		if _, err := h.stateNow(ctx); err == nil {
			return nil
		}
		switch LockHolder(locks) {
		case HeldByNobody:
			started, err := h.startDaemon(ctx)
			if wasKilled(err) && deaths < maxStartKills {
				deaths++
				continue
			}
			if started || err != nil {
				return err
			}
		case HeldBySolo:
			if alone.Err() != nil {
				return BusySolo(alone.Err())
			}
		case HeldByDaemon: // it listens elsewhere, not yet, or not any more
			if h.linkSocket(ctx) {
				return nil
			}
		}
		if err := sleepBriefly(ctx); err != nil {
			return h.noDaemonError(err)
		}
	}
}

// maxStartKills is how often a new daemon may be killed before it reports anything.
const maxStartKills = 3

// wasKilled reports whether a signal ended the new daemon.
func wasKilled(err error) bool {
	var ended interface{ ExitCode() int }
	return errors.As(err, &ended) && ended.ExitCode() == -1
}

func sleepBriefly(ctx context.Context) error {
	t := time.NewTimer(pollStep)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func isAnswering(ctx context.Context, socket string) bool {
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return false
	}
	_ = c.Close() // nothing was asked
	return true
}

// linkSocket makes our socket path lead to a daemon that listens elsewhere: two shells may
// have different socket directories but the same data directory. It changes nothing unless a
// daemon responds there: that one holds the lock, so no other can be about to listen here.
func (h *Controller) linkSocket(ctx context.Context) bool {
	r, ok := ReadRecord(h.conf)
	if !ok || r.Socket == h.conf.Socket || !isAnswering(ctx, r.Socket) || h.conf.MakeSocketDir() != nil {
		return false
	}
	tmp := h.conf.Socket + ".new"
	_ = os.Remove(tmp) // what a killed process left
	if err := os.Symlink(r.Socket, tmp); err != nil {
		return false
	}
	return os.Rename(tmp, h.conf.Socket) == nil
}

// startDaemon starts a daemon; it returns false if another one came first.
func (h *Controller) startDaemon(ctx context.Context) (bool, error) {
	if h.exe == "" {
		return false, ErrNoEngine
	}
	ctx, cancel := context.WithTimeout(ctx, wordWait)
	defer cancel()
	p := proc.Detached{Path: h.exe, Args: []string{ForVersion(h.build.Version), "daemon", "run"}, Env: h.conf.DaemonEnv()}
	unit := fmt.Sprintf("%s-daemon-%s-%d", proc.UnitPrefix, h.conf.DataDigest(), os.Getpid())
	if err := proc.SpawnUnit(ctx, h.conf.RuntimeDir, unit, p); err == nil {
		return h.waitUntilListening(ctx)
	}
	p.Args = append(p.Args, "--starter", strconv.Itoa(proc.StarterFD))
	word, err := proc.Spawn(ctx, p)
	switch {
	case err != nil:
		return false, h.noDaemonError(err)
	case word == WordReady:
		return true, nil
	case word == WordAlive:
		return false, nil
	}
	return false, h.startError(word)
}

// waitUntilListening waits for a daemon that has no pipe to us.
func (h *Controller) waitUntilListening(ctx context.Context) (bool, error) {
	for !isAnswering(ctx, h.conf.Socket) {
		if err := sleepBriefly(ctx); err != nil {
			return false, h.noDaemonError(err)
		}
	}
	return true, nil
}

// startError returns the error that a new daemon reported instead of being ready.
func (h *Controller) startError(word string) error {
	var s StartError
	if err := json.Unmarshal([]byte(word), &s); err != nil || s.Error == nil || s.Kind == "" {
		return h.noDaemonError(fmt.Errorf("it says %.200q", word))
	}
	if s.Kind == retake.Internal {
		return h.noDaemonError(errors.New(s.Cause))
	}
	s.Err = errors.New(s.Cause)
	return s.Error
}

func (h *Controller) noDaemonError(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	kind, what := retake.Away, "the daemon could not be started"
	if errors.Is(err, fsx.ErrLocked) {
		kind, what = retake.Busy, "another process has been starting the daemon for long"
	}
	return &retake.Error{
		Kind: kind, What: what, Safe: unchanged,
		Hint: "run without it: add --solo\nsee its log: " + LogPath(h.conf), Err: err,
	}
}
