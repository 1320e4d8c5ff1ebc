// Package daemon is the background process, and the code that starts and finds it. The
// daemon starts on first use, answers over a socket, and exits when it is idle.
//
// It may write its socket, its log and one small record below the data
// directory. It never decides a use case and never reads a workspace: the
// service behind it does. It never signals a process that does not hold its lock.
//
//	D1  One daemon per data directory: it holds the lock "daemon" alone from
//	    before it listens until its service is closed.
//	D2  What was asked for is finished: a daemon that leaves takes no new
//	    request and waits for those it has.
//	D3  Nobody but the user, and root, is answered: at the socket by who they are, at the
//	    console by a page that they opened.
//	D4  Nothing is acknowledged once the data directory is gone.
//	D5  A younger build takes over from an older one, never the other way round.
package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Options is what a daemon is made of.
type Options struct {
	Conf     config.Config
	Settings *config.Settings
	Version  string
	Clock    clock.Clock
	Open     func(context.Context) (retake.Service, error) // the service; called once
	News     *News                                         // what happens; nil: nobody can be told
	Say      func(line string) error                       // tells the starter how it went; nil: nobody waits
	Settle   func() (note string)                          // makes the process independent of its starter; nil in tests
	Tune     func()                                        // sets the memory of the process; nil: as the runtime does
}

// ErrAlive means that another daemon looks after this data directory.
var ErrAlive = errors.New("another daemon is alive")

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

// The lock of a daemon: alone, or shared by processes that work without one.
const (
	lockName  = "daemon"
	startLock = "daemon-start"
)

func lockPath(c config.Config) string { return filepath.Join(c.Data, "locks", lockName) }

// aloneWait outlasts those who take the lock for a moment to see who has it.
const aloneWait = 50 * time.Millisecond

// Locks gives the locks of a data directory.
func Locks(c config.Config) (fsx.Locks, error) {
	dir := filepath.Join(c.Data, "locks")
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
	patient, cancel := context.WithTimeout(context.Background(), aloneWait)
	defer cancel()
	release, err = locks.Lock(patient, lockName, false)
	if errors.Is(err, fsx.ErrLocked) {
		return nil, &retake.Error{
			Kind: retake.Busy, What: "a daemon is using this store, and --solo works without it", Safe: unchanged,
			Hint: "leave --solo out, or stop it first: retake daemon stop", Err: err,
		}
	}
	return release, err
}

// try takes the lock of the daemon if it is free at this moment.
func try(locks fsx.Locks, exclusive bool) (func(), error) {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	return locks.Lock(now, lockName, exclusive)
}

// record is what a daemon leaves for those who look for it: one small file that
// tells where it listens and how old it is, without asking.
type record struct {
	PID     int    `json:"pid"`
	Socket  string `json:"socket"`
	Version string `json:"version"`
	Stamp   int64  `json:"stamp"`
}

func recordPath(c config.Config) string { return filepath.Join(c.Data, "daemon.json") }

func writeRecord(c config.Config, r record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	tmp := recordPath(c) + ".new"
	if err := os.WriteFile(tmp, append(b, '\n'), 0o600); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	if err := os.Rename(tmp, recordPath(c)); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// dropRecord removes the record of a daemon, and never that of the next one.
func dropRecord(c config.Config, pid int) {
	if r, ok := readRecord(c); ok && r.PID == pid {
		_ = os.Remove(recordPath(c)) // who reads it looks whether it is true
	}
}

// readRecord answers false when there is none that can be read.
func readRecord(c config.Config) (record, bool) {
	var r record
	b, err := os.ReadFile(recordPath(c))
	if err != nil || json.Unmarshal(b, &r) != nil {
		return record{}, false
	}
	return r, true
}
