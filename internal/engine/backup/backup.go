// Package backup sends the checkpoints of a workspace to a git remote: one commit each, on
// one branch, from the stored trees.
//
// It runs git and ssh through internal/platform/proc, in directories of its own and with nothing of
// the user's: no settings, hooks, agents or keys. It never looks at the workspace, and
// knows nothing of catalogs.
//
//	G1  What is left out by a rule is in no object that is sent, of any checkpoint.
//	G2  Nothing of the remote is ever replaced: a branch that is not what we sent is refused.
//	G3  A checkpoint counts as sent when the branch was read back and is its commit.
//	G4  Only the host that was agreed to is spoken to, and only with the key made for it.
//	G5  The branch itself says how far it is; what is lost on our side is made again.
package backup

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Causes that callers and tests branch on; each comes inside a *retake.Error.
var (
	ErrNone        = errors.New("no backup is set")
	ErrRemote      = errors.New("not an address that backups go to")
	ErrRefusedHost = errors.New("this server does not connect to the host")
	ErrHost        = errors.New("not the host that was agreed to")
	ErrRefused     = errors.New("the remote refuses")
	ErrRewritten   = errors.New("the branch of the remote is not what was sent")
	ErrAway        = errors.New("the remote cannot be reached")
	ErrProgram     = errors.New("a program is missing")
	ErrState       = errors.New("what is kept for the backup cannot be used")
)

// Options say where backups are kept and how they are sent.
type Options struct {
	Dir   string // ours alone; made on first need
	Path  string // where programs are looked for, as in PATH
	Seal  Sealer // nil: private keys are in Dir as they are, for nobody else to read
	Locks fsx.Locks
	Clock clock.Clock
	// ResolveHost returns where a host is, or why it may not be spoken to. Nil: ssh asks by
	// itself.
	ResolveHost func(ctx context.Context, host string) (string, error)
	AllowPaths  bool          // also directories are remotes
	Stall       time.Duration // how long nothing may move before a try is given up; 0 is five minutes
	Timeout     time.Duration // how long one try may take in all; 0 is an hour
}

// Sealer encrypts private keys on disk.
type Sealer interface {
	Seal(ctx context.Context, purpose string, plain []byte) ([]byte, error)
	Open(ctx context.Context, purpose string, sealed []byte) ([]byte, error)
}

// Source reads the history of a workspace.
type Source interface {
	Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error)
	File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error)
	// After calls f for the checkpoints that live with a number above n, in rising order,
	// until f returns an error; then After returns it.
	After(ctx context.Context, n int64, f func(Checkpoint) error) error
	// Known returns the id of a number; "" when that is forgotten.
	Known(ctx context.Context, n int64) (retake.CheckpointID, error)
}

// Checkpoint is a checkpoint and what is known about it.
type Checkpoint struct {
	Checkpoint retake.Checkpoint
	Gist       string
	Answers    []retake.Answer
}

// Worker does backups. Its methods may be called from several goroutines.
type Worker struct {
	opts     Options
	contents *contentCache
}

const (
	defaultStall   = 5 * time.Minute
	defaultTimeout = time.Hour
)

// New returns a worker; it does nothing yet.
func New(o Options) *Worker {
	if o.Clock == nil {
		o.Clock = clock.Wall
	}
	if o.Locks == nil {
		o.Locks = fsx.NewMemoryLocks()
	}
	if o.Stall <= 0 {
		o.Stall = defaultStall
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	return &Worker{opts: o, contents: newContentCache()}
}

// nothingChanged is true of every error here: a backup only adds, and the checkpoints are in
// the store.
const nothingChanged = "Nothing of the history was changed."

// fault is an error with a cause for callers; people read only the error.
type fault struct {
	err   *retake.Error
	cause error
}

func (f *fault) Error() string   { return f.err.Error() }
func (f *fault) Unwrap() []error { return []error{f.err, f.cause} }

// newFault returns an error of a kind with its cause. said adds detail, if there is any.
func newFault(kind retake.ErrorKind, is error, said error, what, hint string) error {
	return &fault{err: &retake.Error{Kind: kind, What: what, Safe: nothingChanged, Hint: hint, Err: said}, cause: is}
}

func notSetError() error {
	return newFault(retake.NotFound, ErrNone, nil, "this workspace has no backup", "set one: retake backup set git@host:path")
}
