package replica

import (
	"context"
	"errors"

	"github.com/retake-dev/retake"
)

// Source is the store that is copied.
type Source interface {
	// Format returns the blobs that open a copy, by name.
	Format(ctx context.Context) (map[string][]byte, error)
	// Family returns the name that all copies of stores with this key have in common.
	Family() (string, error)
	// Sealer returns the key of the heads.
	Sealer() (Sealer, error)
	// OpenCopy reads the indexes of a copy with get.
	OpenCopy(ctx context.Context, indexes []Index, get GetFunc) (Copy, error)
}

// GetFunc reads a part of an object of a copy; a negative length means to the end.
type GetFunc func(ctx context.Context, name string, offset, length int64) ([]byte, error)

// Copy knows what a copy has, and makes what it lacks. It puts nothing. Its methods are called by one
// goroutine at a time.
type Copy interface {
	// Use makes these the indexes of the copy. Those that were not there before are read.
	Use(ctx context.Context, indexes []Index) error
	// Fill makes the packs with all that the newest heads of the wanted histories reach and the copy
	// lacks. Each pack may be put as soon as it is emitted; what it leans on was emitted before.
	Fill(ctx context.Context, req FillRequest, emit func(Pack) error) (Filled, error)
	// Merge makes one index, in parts, with the entries of several.
	Merge(ctx context.Context, indexes []Index) ([]Blob, error)
	// Prune makes the indexes of a copy with only what its lines reach, and packs for what would be left
	// over in packs that are mostly dead. ErrMoved: the lines are not those of the store now.
	Prune(ctx context.Context, req PruneRequest, emit func(Pack) error) (Pruned, error)
	Close(ctx context.Context) error
}

// FillRequest says what to copy.
type FillRequest struct {
	Want    func(retake.WorkspaceID) bool // nil: all
	Erased  func(retake.WorkspaceID) bool // histories that were erased on purpose; nil: none
	Lines   []Line                        // that the copy has
	List    string                        // of these lines
	Missing []string                      // what it lacks of them
}

// Filled is the state of a copy once all emitted packs are in it.
type Filled struct {
	Lines   []Line
	List    string
	Missing []string
	Changed bool
}

// Pack is an object with contents, and an index of itself in its end.
type Pack struct {
	Name  string
	Data  []byte
	Index Index
}

// Blob is an index that is an object of its own.
type Blob struct {
	Index Index
	Data  []byte
}

// PruneRequest says what a copy is.
type PruneRequest struct {
	Lines []Line
	List  string
	Packs map[string]int64 // all packs that are there, and their sizes
}

// Pruned is what counts after it.
type Pruned struct {
	Indexes []Blob   // in place of all others; none: nothing is dead
	Dead    []string // packs in which nothing is reached
}

// Errors of a source that callers branch on.
var (
	// ErrMoved means that the store changed meanwhile: another try will do.
	ErrMoved = errors.New("the history went on while it was copied")
	// ErrBehind means that the copy has more than the store: the store was put back to an older state.
	ErrBehind = errors.New("the copy has a newer history than this store")
)
