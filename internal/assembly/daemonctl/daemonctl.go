// Package daemonctl finds, starts, asks and stops the daemon of a data directory from another
// process.
//
// It may make the directory of locks, start the engine's program, write units of the user's
// service manager and make a link to a socket. It never opens a store and never decides a use
// case. It signals only a process that holds the daemon's lock.
//
//	D1  Of many who want a daemon at once one starts it, and the others find it there.
//	D2  A younger build takes over from an older one, never the other way round.
//	D3  The engine's program is found beside this one, then in the absolute directories of PATH.
package daemonctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// State is what a daemon tells about itself.
type State struct {
	About     retake.About `json:"about"`
	Exe       string       `json:"exe"`
	Socket    string       `json:"socket"`
	Log       string       `json:"log"`
	Activated bool         `json:"activated"` // started by a service manager, which holds the socket
	IdleSince time.Time    `json:"idle_since"`
	InFlight  int64        `json:"in_flight"`
	Group     string       `json:"group,omitempty"` // why it could not leave the control group of its starter
}

// Opening is where the console of a daemon can be opened, once.
type Opening struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

// LockName is the lock of a daemon: alone, or shared by processes that work without one.
const (
	LockName  = "daemon"
	startLock = "daemon-start"
)

// LockPath is the file of the daemon's lock.
func LockPath(c config.Config) string { return filepath.Join(c.DataDir, "locks", LockName) }

// soloLockWait outlasts those who take the lock for a moment to see who has it.
const soloLockWait = 50 * time.Millisecond

// Locks gives the locks of a data directory.
func Locks(c config.Config) (fsx.Locks, error) {
	dir := filepath.Join(c.DataDir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &retake.Error{
			Kind: retake.Away, What: "the directory of the store cannot be made", Safe: unchanged,
			Hint: "put it elsewhere: RETAKE_HOME=DIR", Err: err,
		}
	}
	return fsx.NewLocks(dir), nil
}

const unchanged = "Nothing was changed."

// HoldOff holds off any daemon until release is called; several processes may hold
// it at once. It refuses beside a daemon.
func HoldOff(c config.Config) (release func(), err error) {
	locks, err := Locks(c)
	if err != nil {
		return nil, err
	}
	patient, cancel := context.WithTimeout(context.Background(), soloLockWait)
	defer cancel()
	release, err = locks.Lock(patient, LockName, false)
	if errors.Is(err, fsx.ErrLocked) {
		return nil, &retake.Error{
			Kind: retake.Busy, What: "a daemon is using this store, and --solo works without it", Safe: unchanged,
			Hint: "leave --solo out, or stop it first: retake daemon stop", Err: err,
		}
	}
	return release, err
}

// tryLock takes the lock of the daemon if it is free at this moment.
func tryLock(locks fsx.Locks, exclusive bool) (func(), error) {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	return locks.Lock(now, LockName, exclusive)
}

// Record is what a daemon leaves for those who look for it: one small file that
// tells where it listens and how old it is, without asking.
type Record struct {
	PID     int    `json:"pid"`
	Socket  string `json:"socket"`
	Version string `json:"version"`
	Stamp   int64  `json:"stamp"`
}

func recordPath(c config.Config) string { return filepath.Join(c.DataDir, "daemon.json") }

// WriteRecord replaces the record of a data directory.
func WriteRecord(c config.Config, r Record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	if err := fsx.ReplaceFile(recordPath(c), append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// RemoveRecord removes the record of a daemon, and never that of the next one.
func RemoveRecord(c config.Config, pid int) {
	if r, ok := ReadRecord(c); ok && r.PID == pid {
		_ = os.Remove(recordPath(c)) // who reads it looks whether it is true
	}
}

// ReadRecord answers false when there is none that can be read.
func ReadRecord(c config.Config) (Record, bool) {
	var r Record
	b, err := os.ReadFile(recordPath(c))
	if err != nil || json.Unmarshal(b, &r) != nil {
		return Record{}, false
	}
	return r, true
}

// LogPath is where the daemon of a data directory writes its log.
func LogPath(c config.Config) string { return filepath.Join(c.DataDir, "daemon.log") }

// Waits of a daemon that leaves.
const (
	FinishWait = 60 * time.Second // for requests in flight
	GraceAfter = 5 * time.Second  // for what does not end in time
)

// What the starter hears. Anything else is a retake.Error in JSON.
const (
	WordReady = "ready"
	WordAlive = "alive"
)

// StartError is an error on its way to the starter; a retake.Error alone loses its cause.
type StartError struct {
	*retake.Error
	Cause string `json:"cause"`
}

// BusySolo is the error beside processes that work without a daemon.
func BusySolo(err error) error {
	return &retake.Error{
		Kind: retake.Busy, What: "a command with --solo is at work on this store", Safe: unchanged,
		Hint: "when it has stopped, try again", Err: err,
	}
}

// IsReadOnly reports whether the data directory is on a read-only file system and no daemon has it:
// then every process reads for itself.
func IsReadOnly(c config.Config) bool {
	if !fsx.IsReadOnly(c.DataDir) {
		return false
	}
	locks, err := Locks(c)
	return err == nil && LockHolder(locks) != HeldByDaemon
}

// Holder says who has the lock of the daemon.
type Holder int

const (
	HeldByNobody Holder = iota
	HeldBySolo          // processes that work without a daemon
	HeldByDaemon
)

// LockHolder takes the lock for a moment to see who has it: there is no other way. Who wants
// the lock waits that long.
func LockHolder(locks fsx.Locks) Holder {
	if release, err := tryLock(locks, true); err == nil {
		release()
		return HeldByNobody
	}
	if release, err := tryLock(locks, false); err == nil {
		release()
		return HeldBySolo
	}
	return HeldByDaemon
}
