// Package store is the port to the bytes: trees, cards and state, immutable and
// content-addressed, kept on lines.
//
// A line is the history of one workspace: an append-only directory of
// checkpoints. The store alone must be able to make the catalog again, so
// everything a row says is also written here.
//
//	S1  When Seal returns nil the checkpoint survives a power cut.
//	S2  A checkpoint is whole or absent; what was not sealed is never listed.
//	S3  Nothing that a listed checkpoint reaches is ever removed. Revise and Erase change
//	    what is listed, on a person's word alone; bytes go with a sweep that wipes.
//	S4  A Writer holds its line alone, and holds every Sweep back, until it is closed.
//	S5  The head of a line is the one with the highest sequence number, never the newest time.
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

// Store keeps the bytes of one tenant. Its methods may be called from several goroutines.
type Store interface {
	Trees
	Histories
	Maintenance
	io.Closer
}

// Trees reads what was stored.
type Trees interface {
	// Dir lists a directory, sorted by name. ErrNotFound, ErrDamaged.
	Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error)
	// File opens the bytes of a file or the text of a link.
	File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error)
}

// Histories reads and writes the histories.
type Histories interface {
	// Begin opens the line of a workspace for writing and makes it when it is
	// new. It waits for another writer of the same line as long as ctx allows,
	// then answers ErrBusy.
	Begin(ctx context.Context, ws retake.Workspace) (Writer, error)
	// Heads lists the lines. With an error it lists those that could be read.
	Heads(ctx context.Context) ([]Head, error)
	// Head answers one line. ErrNotFound when there is none.
	Head(ctx context.Context, ws retake.WorkspaceID) (Head, error)
	// Leaf answers one checkpoint of a line.
	Record(ctx context.Context, ws retake.WorkspaceID, number int64) (Record, error)
	// Leaves calls f for every checkpoint and every tombstone with a number
	// above after, in rising order; one of the two is nil.
	Records(ctx context.Context, ws retake.WorkspaceID, after int64, f func(*Record, *retake.Tombstone) error) error
	// Erase removes a whole line. Its bytes go with the next sweep. Durable.
	Erase(ctx context.Context, ws retake.WorkspaceID) error
}

// Head is the newest state of a line.
type Head struct {
	Workspace retake.Workspace
	Seq       int64        // grows with every change of the line
	Latest    int64        // number of the newest checkpoint; 0 when there is none
	Pins      []retake.Pin // by name
}

// Record is one sealed checkpoint.
type Record struct {
	Card  retake.Card
	Files retake.Entry // the root of the tree
	State []retake.Entry
}

// Writer adds to one line. Only one goroutine may call Seal, Annotate, Amend,
// Forget and Close; the Write methods may be called from several.
type Writer interface {
	// Head is the line as it was when the writer began, or after the last Seal.
	Head() Head
	// WriteFile stores the bytes of r.
	WriteFile(ctx context.Context, name string, r io.Reader) (retake.ObjectID, int64, error)
	// WriteDir stores a directory and answers its address and its summary.
	// modTime counts when it is empty. Entries need not be sorted.
	WriteDir(ctx context.Context, entries []retake.Entry, modTime int64) (retake.ObjectID, retake.Summary, error)
	// Seal appends a checkpoint and makes it durable. The card's number must be
	// Head().Latest+1 or higher; card.Checkpoint.Tree must be files.Object. After
	// an error there is no new checkpoint, but for ErrInDoubt: then it may be
	// there, whole.
	Seal(ctx context.Context, s SealRequest) error
	// Annotate adds entries to the state of a checkpoint, or replaces those of the
	// same name. Their bytes were written before by this writer, or are reached by
	// a checkpoint of this line. ErrNotFound; then nothing was changed. Durable.
	Annotate(ctx context.Context, number int64, state []retake.Entry) error
	// Amend changes what a line says of itself: its workspace, its pins. Durable.
	Amend(ctx context.Context, ws retake.Workspace, pins []retake.Pin) error
	// Forget replaces checkpoints by tombstones. ErrHeld for the newest and for
	// pinned ones; then nothing was changed. Durable.
	Forget(ctx context.Context, stones []retake.Tombstone) error
	// Revise replaces what checkpoints hold; numbers and ids stay. The bytes of files
	// and state were written before, by any writer. ErrNotFound; then nothing was
	// changed. Durable.
	Revise(ctx context.Context, leaves []Record) error
	// Close gives the line back. What was written and not sealed is garbage.
	Close() error
}

// SealRequest is what a Seal makes durable in one step.
type SealRequest struct {
	Card        retake.Card
	Files       retake.Entry
	State       map[string][]byte // name to bytes; nil when there is none
	StoredState []retake.Entry    // more of the state, whose bytes are stored already
}

// Maintenance looks after the bytes.
type Maintenance interface {
	// Sweep removes what no line reaches. It looks while others write; then it waits
	// for writers and keeps new ones waiting.
	Sweep(ctx context.Context, opts SweepOptions) (retake.SweepReport, error)
	// Scrub reads the structure of every checkpoint and a share of the bytes.
	Scrub(ctx context.Context, q retake.ScrubQuery) (retake.ScrubReport, error)
	// Tend does the upkeep that is due, between writers; nothing when none is.
	Maintain(ctx context.Context) error
	// Size answers the bytes the store takes.
	Size(ctx context.Context) (int64, error)
	// Contents calls f with every piece of stored bytes that can still be read, in the
	// clear: of objects that are reached and of those that are not.
	Contents(ctx context.Context, f func(b []byte) error) error
	// Prove lets the stock engine's own scan read a stored tree and answers the
	// address it computes, and by which program. ErrNotFound when there is no
	// stock engine here.
	Prove(ctx context.Context, files retake.Entry) (retake.ObjectID, string, error)
}

// SweepOptions bound a sweep; what is not set the store chooses, and does all there
// is to do.
type SweepOptions struct {
	Room int64         // extra bytes it may take
	Wait time.Duration // for writers; then it answers ErrBusy
	Wipe bool          // leave no unreached bytes in what stays, however many must be copied
	Stop func() bool   // asked between small steps; true leaves the rest for the next sweep
}
