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

// Catalog holds the rows of one namespace. Its methods may be called from several goroutines.
type Catalog interface {
	Workspaces
	Timeline
	Pins
	Outbox
	Marks
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
	Topic      string // "checkpoint.created", "checkpoint.forgotten"
	Workspace  retake.WorkspaceID
	Checkpoint retake.CheckpointID
	Time       time.Time
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
