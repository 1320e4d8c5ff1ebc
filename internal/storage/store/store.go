// Package store is the port to the bytes: trees, cards and state, immutable and
// content-addressed, in histories.
//
// A history is an append-only directory of the checkpoints of one workspace. The
// store alone must be able to make the catalog again, so everything a row says is also written
// here.
//
//	S1  When Seal returns nil the checkpoint survives a power cut.
//	S2  A checkpoint is whole or absent; what was not sealed is never listed.
//	S3  Nothing that a listed checkpoint reaches is ever removed. Revise and Erase change
//	    what is listed, on a person's word alone; bytes go with a sweep that wipes.
//	S4  A Writer holds its history alone, and holds every Sweep back, until it is closed.
//	S5  The head of a history is the one with the highest sequence number, never the newest time.
package store

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/retake-dev/retake"
)

// Errors that callers branch on.
var (
	ErrNotFound = errors.New("not in the store")
	ErrDamaged  = errors.New("stored bytes do not match")
	ErrBusy     = errors.New("the line is being written")
	ErrSealed   = errors.New("the writer is closed")
	ErrRequired = errors.New("a checkpoint that is needed cannot be forgotten")
	ErrInDoubt  = errors.New("written, but the disk refused to make it durable")
)

// Store holds the bytes of one tenant. Its methods may be called from several goroutines.
type Store interface {
	Trees
	Histories
	Maintenance
	io.Closer
}

// Trees reads stored files and directories.
type Trees interface {
	// Dir lists a directory, sorted by name. ErrNotFound, ErrDamaged.
	Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error)
	// File opens the bytes of a file or the text of a link. ErrNotFound, ErrDamaged.
	File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error)
}

// IsRemote reports whether every read waits for an answer from elsewhere, so that several reads at a
// time are faster than one after another.
func IsRemote(t Trees) bool {
	r, ok := t.(interface{ IsRemote() bool })
	return ok && r.IsRemote()
}

// RemoteReads is how many reads of a remote store may wait at a time, for one task.
const RemoteReads = 32

// Histories reads and writes the histories of workspaces.
type Histories interface {
	// Begin opens the history of a workspace for writing and creates it if it is new. It waits
	// for another writer of the same history as long as ctx allows, then returns ErrBusy.
	Begin(ctx context.Context, ws retake.Workspace) (Writer, error)
	// Heads lists the histories. If it returns an error, it also returns those that could be
	// read.
	Heads(ctx context.Context) ([]Head, error)
	// Head returns the head of one history, or ErrNotFound.
	Head(ctx context.Context, ws retake.WorkspaceID) (Head, error)
	// Record returns one checkpoint of a history.
	Record(ctx context.Context, ws retake.WorkspaceID, number int64) (Record, error)
	// Records calls f for every checkpoint and tombstone with a number above after, in rising
	// order. One of the two arguments is nil.
	Records(ctx context.Context, ws retake.WorkspaceID, after int64, f func(*Record, *retake.Tombstone) error) error
	// Erase removes a whole history. Its bytes are removed by the next sweep. Durable.
	Erase(ctx context.Context, ws retake.WorkspaceID) error
}

// Head is the newest state of a history.
type Head struct {
	Workspace retake.Workspace
	Seq       int64        // incremented with every change of the history
	Latest    int64        // number of the newest checkpoint; 0 when there is none
	Pins      []retake.Pin // by name
}

// Record is a sealed checkpoint.
type Record struct {
	Card  retake.Card
	Files retake.Entry // the root of the tree
	State []retake.Entry
}

// Writer adds to one history. Only one goroutine may call Seal, Annotate, Amend, Forget and
// Close; the Write methods may be called from several.
type Writer interface {
	// Head is the history as it was when the writer began, or after the last Seal.
	Head() Head
	// WriteFile stores the bytes of r.
	WriteFile(ctx context.Context, name string, r io.Reader) (retake.ObjectID, int64, error)
	// WriteDir stores a directory and returns its address and its summary. modTime counts when
	// it is empty. Entries need not be sorted.
	WriteDir(ctx context.Context, entries []retake.Entry, modTime int64) (retake.ObjectID, retake.Summary, error)
	// Seal appends a checkpoint and makes it durable. The card's number must be above
	// Head().Latest, and card.Checkpoint.Tree must be files.Object. After an error there is no
	// new checkpoint, except for ErrInDoubt: then it may exist, complete.
	Seal(ctx context.Context, s SealRequest) error
	// Annotate adds entries to the state of a checkpoint, or replaces those of the same name.
	// Their bytes were written before by this writer, or are reached by a checkpoint of this
	// history. ErrNotFound; then nothing was changed. Durable.
	Annotate(ctx context.Context, number int64, state []retake.Entry) error
	// Amend changes the workspace and the pins of the history. Durable.
	Amend(ctx context.Context, ws retake.Workspace, pins []retake.Pin) error
	// Forget replaces checkpoints with tombstones. It returns ErrRequired for the newest and
	// for pinned ones and then changes nothing. Durable.
	Forget(ctx context.Context, stones []retake.Tombstone) error
	// Revise replaces the content of checkpoints; numbers and ids stay. The bytes of files and
	// state were written before, by any writer. If it returns ErrNotFound, nothing was
	// changed. Durable.
	Revise(ctx context.Context, leaves []Record) error
	// Flush makes what was written durable without a checkpoint: checkpoints that exist need
	// it.
	Flush(ctx context.Context) error
	// Close releases the history. What was written and not sealed is garbage.
	Close() error
}

// SealRequest is what Seal makes durable in one step.
type SealRequest struct {
	Card        retake.Card
	Files       retake.Entry
	State       map[string][]byte // name to bytes; nil when there is none
	StoredState []retake.Entry    // more of the state, whose bytes are stored already
}

// Maintenance frees, verifies and measures the stored bytes.
type Maintenance interface {
	// Sweep removes what no history reaches. It marks while others write; then it waits for
	// writers and makes new ones wait, but not for all of a long sweep.
	Sweep(ctx context.Context, opts SweepOptions) (retake.SweepReport, error)
	// Scrub reads the structure of every checkpoint and a sample of the bytes.
	Scrub(ctx context.Context, q retake.ScrubQuery) (retake.ScrubReport, error)
	// Maintain does the maintenance that is due, between writers, if there is any.
	Maintain(ctx context.Context) error
	// Damage returns what was found damaged and was not written again. It is read from memory.
	Damage() Damage
	// Size returns the bytes that the store occupies.
	Size(ctx context.Context) (int64, error)
	// Contents calls f with every piece of stored bytes that can still be read, decrypted,
	// whether it is reachable or not.
	Contents(ctx context.Context, f func(b []byte) error) error
	// Prove lets the stock engine's own scanner read a stored tree. It returns the address
	// that the scanner computes and the name of the program, or ErrNotFound if there is no
	// stock engine.
	Prove(ctx context.Context, files retake.Entry) (retake.ObjectID, string, error)
}

// Damage is what is known to be damaged in a store. Its bytes are not reused any more: a writer who
// has them stores them again, and then everything that needs them is whole.
type Damage struct {
	Seq     int64                      // incremented whenever damage is found
	Parts   int                        // pieces of bytes that are damaged
	Touches func(retake.ObjectID) bool // reports whether an object may need one of them; false if it is nil
}

// SweepOptions limit a sweep. The store chooses what is not set; by default it does
// everything.
type SweepOptions struct {
	Room int64         // extra bytes it may take
	Wait time.Duration // for writers; then it returns ErrBusy
	Wipe bool          // leave no unreached bytes in what stays, however many must be copied
	Stop func() bool   // asked between small steps; true leaves the rest for the next sweep
}
