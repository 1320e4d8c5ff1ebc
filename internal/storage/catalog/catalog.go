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
	// Wipe makes sure that changed or removed rows cannot be recovered.
	Wipe(ctx context.Context) error
	io.Closer
}

// Workspaces are the protected directories.
type Workspaces interface {
	// PutWorkspace adds a workspace or changes its name, root, inode and end.
	PutWorkspace(ctx context.Context, ws retake.Workspace) error
	Workspace(ctx context.Context, id retake.WorkspaceID) (retake.Workspace, error)
	// Workspaces lists all workspaces with their newest checkpoints, most recent first.
	Workspaces(ctx context.Context) ([]retake.WorkspaceState, error)
}

// Timeline is the append-only tree of checkpoints of a workspace.
type Timeline interface {
	// Append adds a checkpoint and its outbox row, and sets marks. Appending the same id again only
	// sets the marks; another id with the same number returns ErrExists.
	Append(ctx context.Context, cp retake.Checkpoint, marks ...Mark) error
	// Bury replaces checkpoints with tombstones. Burying again changes nothing; a checkpoint
	// that was never appended gets its tombstone all the same.
	Bury(ctx context.Context, ws retake.WorkspaceID, stones []retake.Tombstone) error
	// Checkpoint returns the live checkpoint with an id.
	Checkpoint(ctx context.Context, id retake.CheckpointID) (retake.Checkpoint, error)
	// ByNumber returns the live checkpoint with a number.
	ByNumber(ctx context.Context, ws retake.WorkspaceID, number int64) (retake.Checkpoint, error)
	// ByPrefix returns at most two live checkpoints whose ids begin with the prefix.
	ByPrefix(ctx context.Context, ws retake.WorkspaceID, prefix string) ([]retake.Checkpoint, error)
	// Before returns the newest live checkpoint with a time not after t.
	Before(ctx context.Context, ws retake.WorkspaceID, t time.Time) (retake.Checkpoint, error)
	// Latest returns the live checkpoint back steps before the newest. ErrNotFound.
	Latest(ctx context.Context, ws retake.WorkspaceID, back int64) (retake.Checkpoint, error)
	// Start returns the first complete live checkpoint.
	Start(ctx context.Context, ws retake.WorkspaceID) (retake.Checkpoint, error)
	// Page lists live checkpoints, newest first.
	Page(ctx context.Context, q retake.LogQuery) ([]retake.Checkpoint, error)
	// Tombstones lists forgotten checkpoints by number.
	Tombstones(ctx context.Context, ws retake.WorkspaceID) ([]retake.Tombstone, error)
	// Counts returns the number of live checkpoints and the highest number ever used.
	Counts(ctx context.Context, ws retake.WorkspaceID) (live, last int64, err error)
	// Added returns the bytes that live checkpoints added, by workspace and key: the sum of their
	// NewBytes. It reads no checkpoints. Lines of zero bytes may be absent.
	Added(ctx context.Context) ([]Added, error)
}

// Added is what the live checkpoints of a workspace added that were taken with one API key.
type Added struct {
	Workspace retake.WorkspaceID
	Key       retake.KeyID // empty: taken without a key, or before keys were recorded
	Bytes     int64
}

// Pins are names of checkpoints that are kept.
type Pins interface {
	// SetPins replaces the pins of a workspace.
	SetPins(ctx context.Context, ws retake.WorkspaceID, pins []retake.Pin) error
	Pins(ctx context.Context, ws retake.WorkspaceID) ([]retake.Pin, error)
}

// Outbox holds notices about rows for notifications, backups and search.
type Outbox interface {
	// Pending lists the oldest notices that were not taken.
	Pending(ctx context.Context, limit int) ([]Notice, error)
	// Take removes delivered notices.
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

// Findings are facts about checkpoints that were found after they were sealed. They can be
// recomputed from the store, and are removed with their checkpoint.
type Findings interface {
	// PutNotes replaces what is known about a checkpoint. For a checkpoint that is not live it
	// stores nothing and returns no error.
	PutNotes(ctx context.Context, n Notes) error
	// Gists returns the gists that exist.
	Gists(ctx context.Context, ws retake.WorkspaceID, ids []retake.CheckpointID) (map[retake.CheckpointID]retake.Gist, error)
	// Bare lists live checkpoints that have no gist of version v or above, newest first.
	Bare(ctx context.Context, ws retake.WorkspaceID, v, limit int) ([]retake.Checkpoint, error)
	// ByHead returns the first live checkpoint whose commit begins with sha. ErrNotFound.
	ByHead(ctx context.Context, ws retake.WorkspaceID, sha string) (retake.Checkpoint, error)
	// Search finds live checkpoints that contain all words of the text, in any case and
	// anywhere in a word, newest first. Each is returned once, with the first place that
	// contains the first word.
	Search(ctx context.Context, q retake.SearchQuery) ([]Found, error)
	// Mentions lists the live checkpoints with a fact of that name, newest first.
	Mentions(ctx context.Context, q retake.ChronicleQuery) ([]retake.Mention, error)
}

// Notes are what is known about one checkpoint. Words are by place: intent, prompt, words,
// path, fact.
type Notes struct {
	Workspace  retake.WorkspaceID
	Checkpoint retake.CheckpointID
	Gist       retake.Gist
	Facts      []retake.Fact
	Words      []Place
}

// Place is a text by which a checkpoint can be found.
type Place struct{ Where, Text string }

// Found is a checkpoint and the place that contains the words.
type Found struct {
	Checkpoint retake.Checkpoint
	Place      Place
}

// Verifications are the results of commands. The store holds them too.
type Verifications interface {
	// PutVerification adds a result, and its outbox row once it is no longer running. Another
	// result with the same id replaces it; the same result again changes nothing.
	PutVerification(ctx context.Context, v retake.Verification) error
	// Verifications lists the results of live checkpoints, newest first; with contents, only
	// those about them. Outputs are omitted unless requested.
	Verifications(ctx context.Context, q VerificationQuery) ([]retake.Verification, error)
	// WithContent lists the live checkpoints with this content, newest first.
	WithContent(ctx context.Context, ws retake.WorkspaceID, content retake.ContentID) ([]retake.Checkpoint, error)
}

// VerificationQuery selects results; empty fields match everything.
type VerificationQuery struct {
	Workspace retake.WorkspaceID
	Contents  []retake.ContentID
	Name      string
	Command   string
	Output    bool
	Limit     int
}

// Readings cache what readers extracted from stored files, so that each file is read once.
// They belong to no checkpoint; the oldest are removed if there are too many.
type Readings interface {
	Readings(ctx context.Context, keys []ReadingKey) (map[ReadingKey][]byte, error)
	PutReadings(ctx context.Context, readings map[ReadingKey][]byte) error
}

// ReadingKey is a reader with its version, and the object that it read.
type ReadingKey struct {
	Object retake.ObjectID
	Reader string
}

// Mark is the value of a mark.
type Mark struct{ Key, Value string }

// Marks are small facts about the catalog itself, such as how far it follows the store.
type Marks interface {
	SetMark(ctx context.Context, key, value string) error
	// Mark returns the value of a mark, or "".
	Mark(ctx context.Context, key string) (string, error)
	// Reset removes every row, so that the catalog can be rebuilt.
	Reset(ctx context.Context) error
}
