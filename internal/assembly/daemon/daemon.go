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
//	D6  A system daemon does what loses history for root alone.
//	D5  A younger build takes over from an older one, never the other way round.
package daemon

import (
	"context"
	"errors"
	"net"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/diag"
)

// Options is what a daemon is made of.
type Options struct {
	Conf     config.Config
	Settings *config.Settings
	Version  string
	Clock    clock.Clock
	Listener *net.UnixListener // where to listen; nil: at the socket of Conf
	// Open opens the service; called once. What it does in the background is recorded there.
	Open        func(context.Context, *diag.Recorder) (retake.Service, error)
	Events      *EventBuffer            // what happens; nil: nobody can be told
	ReportReady func(line string) error // tells the starter how it went; nil: nobody waits
	Detach      func() (note string)    // makes the process independent of its starter; nil in tests
	TuneMemory  func()                  // sets the memory of the process; nil: as the runtime does
}

// ErrAlive means that another daemon looks after this data directory.
var ErrAlive = errors.New("another daemon is alive")

const unchanged = "Nothing was changed."
