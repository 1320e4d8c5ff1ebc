// Package catalog is the port to the rows: workspaces, timelines, pins and the
// outbox of one tenant.
//
// Every method is one transaction, ids are made by the caller, appends are
// idempotent, so that the catalog may be near or far. It never reads files and
// never opens the store; the store alone can make it again.
//
//	K1  A timeline only grows: a forgotten checkpoint leaves its tombstone, its number is never given again.
//	K2  Every key begins with the namespace; a Catalog sees one namespace only.
//	K3  What must follow a row is in the outbox in the same transaction.
package catalog

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/retake-dev/retake"
)

// Errors that callers branch on.
var (
	ErrNotFound = errors.New("no such row")
	ErrExists   = errors.New("there is another row with this key")
)

// ErrUnwritable: the rows can be read but not changed, because their disk is full or
// read-only.
var ErrUnwritable = errors.New("the catalog cannot be written")

// Catalog holds the rows of one namespace. Its methods may be called from several goroutines.
type Catalog interface {
	Workspaces
	Timeline
	Pins
	Outbox
	Findings
	Verifications
	Readings
	Marks
	// Wipe leaves nothing readable of rows that were changed or removed.
	Wipe(ctx context.Context) error
	io.Closer
}

// Workspaces are the protected roots.
type Workspaces interface {
	// PutWorkspace adds a workspace or changes its name, root, inode and end.
	PutWorkspace(ctx context.Context, ws retake.Workspace) error
	Workspace(ctx context.Context, id retake.WorkspaceID) (retake.Workspace, error)
	// Workspaces lists all with their newest checkpoint, most recent first.
	Workspaces(ctx context.Context) ([]retake.WorkspaceState, error)
}

// Timeline is the append-only tree of checkpoints of a workspace.
type Timeline interface {
	// Append adds a checkpoint, and its outbox row. The same id again changes
	// nothing; another id with the same number is ErrExists.
	Append(ctx context.Context, cp retake.Checkpoint) error
	// Bury puts tombstones in the place of checkpoints. Again is nothing; a
	// checkpoint that was never appended gets its tombstone all the same.
	Bury(ctx context.Context, ws retake.WorkspaceID, stones []retake.Tombstone) error
	// Checkpoint answers one that lives, by id.
	Checkpoint(ctx context.Context, id retake.CheckpointID) (retake.Checkpoint, error)
	// ByNumber answers one that lives, by number.
	ByNumber(ctx context.Context, ws retake.WorkspaceID, number int64) (retake.Checkpoint, error)
	// ByPrefix answers those that live whose id begins with the prefix, at most two.
	ByPrefix(ctx context.Context, ws retake.WorkspaceID, prefix string) ([]retake.Checkpoint, error)
	// Before answers the newest that lives with a time not after t.
	Before(ctx context.Context, ws retake.WorkspaceID, t time.Time) (retake.Checkpoint, error)
	// Latest answers the newest that lives, back steps before it. ErrNotFound.
	Latest(ctx context.Context, ws retake.WorkspaceID, back int64) (retake.Checkpoint, error)
	// Start answers the first complete one that lives.
	Start(ctx context.Context, ws retake.WorkspaceID) (retake.Checkpoint, error)
	// Page lists those that live, newest first.
	Page(ctx context.Context, q retake.LogQuery) ([]retake.Checkpoint, error)
	// Tombstones lists what was forgotten, by number.
	Tombstones(ctx context.Context, ws retake.WorkspaceID) ([]retake.Tombstone, error)
	// Counts answers how many live, and the highest number ever given.
	Counts(ctx context.Context, ws retake.WorkspaceID) (live, last int64, err error)
}

// Pins are names for checkpoints that stay.
type Pins interface {
	// SetPins makes the pins of a workspace exactly these.
	SetPins(ctx context.Context, ws retake.WorkspaceID, pins []retake.Pin) error
	Pins(ctx context.Context, ws retake.WorkspaceID) ([]retake.Pin, error)
}

// Outbox holds what must follow a row: notices, backups, search.
type Outbox interface {
	// Pending lists the oldest that were not taken.
	Pending(ctx context.Context, limit int) ([]Notice, error)
	// Take removes notices that were delivered.
	Take(ctx context.Context, ids []int64) error
}

// Notice is one row of the outbox.
type Notice struct {
	ID         int64
	Topic      string // "checkpoint.created", "checkpoint.forgotten", "checkpoint.verified"
	Workspace  retake.WorkspaceID
	Checkpoint retake.CheckpointID
	Time       time.Time // of the checkpoint, of the burial, or when the verification was started
}

// Findings are what was found out about checkpoints after they were sealed. They can be
// made again from the store, and go with the checkpoint that they are about.
type Findings interface {
	// PutNotes replaces what is known of a checkpoint. One that does not live is no error,
	// and keeps nothing.
	PutNotes(ctx context.Context, n Notes) error
	// Gists answers those that are there.
	Gists(ctx context.Context, ws retake.WorkspaceID, ids []retake.CheckpointID) (map[retake.CheckpointID]retake.Gist, error)
	// Bare lists checkpoints that live and have no gist, or one of a version below v,
	// newest first.
	Bare(ctx context.Context, ws retake.WorkspaceID, v, limit int) ([]retake.Checkpoint, error)
	// ByHead answers the first that lives whose commit begins so. ErrNotFound.
	ByHead(ctx context.Context, ws retake.WorkspaceID, sha string) (retake.Checkpoint, error)
	// Search finds checkpoints that live whose words hold all words of the text, in any
	// case and anywhere in a word, newest first. Each comes once, with the first place
	// that holds the first word.
	Search(ctx context.Context, q retake.SearchQuery) ([]Found, error)
	// Mentions lists the checkpoints that live with a fact of that name, newest first.
	Mentions(ctx context.Context, q retake.ChronicleQuery) ([]retake.Mention, error)
}

// Notes are what is known of one checkpoint. Words are by place: intent, prompt, words,
// path, fact.
type Notes struct {
	Workspace  retake.WorkspaceID
	Checkpoint retake.CheckpointID
	Gist       retake.Gist
	Facts      []retake.Fact
	Words      []Place
}

// Place is a text that a checkpoint can be found by.
type Place struct{ Where, Text string }

// Found is a checkpoint and the place that holds the words.
type Found struct {
	Checkpoint retake.Checkpoint
	Place      Place
}

// Verifications are the answers of commands. The store holds them too.
type Verifications interface {
	// PutVerification adds an answer, and its outbox row when it is no longer running;
	// the same id again replaces it, and the same answer again changes nothing.
	PutVerification(ctx context.Context, v retake.Verification) error
	// Verifications lists those of checkpoints that live, newest first; with contents
	// only those about them. Outputs are left out unless asked for.
	Verifications(ctx context.Context, q VerificationQuery) ([]retake.Verification, error)
	// WithContent lists the checkpoints that live and have this content, newest first.
	WithContent(ctx context.Context, ws retake.WorkspaceID, content retake.ContentID) ([]retake.Checkpoint, error)
}

// VerificationQuery chooses answers; what is empty is any.
type VerificationQuery struct {
	Workspace retake.WorkspaceID
	Contents  []retake.ContentID
	Name      string
	Command   string
	Output    bool
	Limit     int
}

// Readings remember what readers read in stored files, so that each is read once. They
// belong to no checkpoint; the oldest go when there are too many.
type Readings interface {
	Readings(ctx context.Context, keys []ReadingKey) (map[ReadingKey][]byte, error)
	PutReadings(ctx context.Context, readings map[ReadingKey][]byte) error
}

// ReadingKey is a reader with its version, and the bytes that it read.
type ReadingKey struct {
	Object retake.ObjectID
	Reader string
}

// Marks are small facts about the catalog itself, such as how far it follows
// the store.
type Marks interface {
	SetMark(ctx context.Context, key, value string) error
	// Mark answers "" when there is none.
	Mark(ctx context.Context, key string) (string, error)
	// Reset removes every row, so that it can be made again.
	Reset(ctx context.Context) error
}
