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

// Revive sees to it that a daemon listens. Of many who want that at once one
// starts it, and the others find it there.
func (h *Controller) Revive(ctx context.Context) error {
	if err := h.conf.CheckSocketDir(); err != nil {
		return err
	}
	locks, err := Locks(h.conf)
	if err != nil {
		return err
	}
	release, err := h.starting(ctx, locks)
	if err != nil {
		return err
	}
	defer release()
	return h.revive(ctx, locks)
}

// starting makes everybody else wait who wants to start a daemon.
func (h *Controller) starting(ctx context.Context, locks fsx.Locks) (func(), error) {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	release, err := locks.Lock(ctx, startLock, true)
	if err != nil {
		return nil, h.noDaemon(err)
	}
	return release, nil
}

// revive starts a daemon unless one answers. The caller holds the lock for that.
func (h *Controller) revive(ctx context.Context, locks fsx.Locks) error {
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
			started, err := h.start(ctx)
			if killed(err) && deaths < maxDeaths {
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
			if h.lead(ctx) {
				return nil
			}
		}
		if err := pause(ctx); err != nil {
			return h.noDaemon(err)
		}
	}
}

// maxDeaths is how often a new daemon may be killed before it says a word.
const maxDeaths = 3

// killed reports whether a signal ended the new daemon.
func killed(err error) bool {
	var ended interface{ ExitCode() int }
	return errors.As(err, &ended) && ended.ExitCode() == -1
}

func pause(ctx context.Context) error {
	t := time.NewTimer(pollStep)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func answers(ctx context.Context, socket string) bool {
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return false
	}
	_ = c.Close() // nothing was asked
	return true
}

// lead makes our address lead to a daemon that listens elsewhere: two shells may
// disagree about the directory for sockets, and still have one data directory.
// It changes nothing unless a daemon answers there, because that one holds the
// lock, and so none can be about to listen here.
func (h *Controller) lead(ctx context.Context) bool {
	r, ok := ReadRecord(h.conf)
	if !ok || r.Socket == h.conf.Socket || !answers(ctx, r.Socket) || h.conf.MakeSocketDir() != nil {
		return false
	}
	tmp := h.conf.Socket + ".new"
	_ = os.Remove(tmp) // what a killed process left
	if err := os.Symlink(r.Socket, tmp); err != nil {
		return false
	}
	return os.Rename(tmp, h.conf.Socket) == nil
}

// start starts a daemon; false when another one came first.
func (h *Controller) start(ctx context.Context) (bool, error) {
	if h.exe == "" {
		return false, ErrNoEngine
	}
	ctx, cancel := context.WithTimeout(ctx, wordWait)
	defer cancel()
	p := proc.Detached{Path: h.exe, Args: []string{ForVersion(h.build.Version), "daemon", "run"}, Env: h.conf.DaemonEnv()}
	unit := fmt.Sprintf("%s-daemon-%s-%d", proc.UnitPrefix, h.conf.DataDigest(), os.Getpid())
	if err := proc.SpawnUnit(ctx, h.conf.RuntimeDir, unit, p); err == nil {
		return h.listening(ctx)
	}
	p.Args = append(p.Args, "--starter", strconv.Itoa(proc.StarterFD))
	word, err := proc.Spawn(ctx, p)
	switch {
	case err != nil:
		return false, h.noDaemon(err)
	case word == WordReady:
		return true, nil
	case word == WordAlive:
		return false, nil
	}
	return false, h.trouble(word)
}

// listening waits for a daemon that has no pipe to us.
func (h *Controller) listening(ctx context.Context) (bool, error) {
	for !answers(ctx, h.conf.Socket) {
		if err := pause(ctx); err != nil {
			return false, h.noDaemon(err)
		}
	}
	return true, nil
}

// trouble is what a new daemon said instead of being ready.
func (h *Controller) trouble(word string) error {
	var s Trouble
	if err := json.Unmarshal([]byte(word), &s); err != nil || s.Error == nil || s.Kind == "" {
		return h.noDaemon(fmt.Errorf("it says %.200q", word))
	}
	if s.Kind == retake.Internal {
		return h.noDaemon(errors.New(s.Cause))
	}
	s.Err = errors.New(s.Cause)
	return s.Error
}

func (h *Controller) noDaemon(err error) error {
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
