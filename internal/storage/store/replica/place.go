package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retake-dev/retake"
)

// Errors of a place that callers branch on.
var (
	ErrMissing = errors.New("no such object")
	ErrExists  = errors.New("there is an object of that name")
	ErrDenied  = errors.New("it does not let us in")
)

// Place is where the objects of one copy are. Names are ASCII letters, digits, dots, dashes and
// underscores. Its methods may be called from several goroutines, and do not try again.
type Place interface {
	// Put makes an object. It is durable when Put returns nil. If there is one of that name, it returns
	// ErrExists and changes nothing, as far as the place can tell: see Traits.
	Put(ctx context.Context, name string, data []byte) error
	// Get reads length bytes from offset; a negative length means to the end. ErrMissing.
	Get(ctx context.Context, name string, offset, length int64) ([]byte, error)
	// List returns the objects whose names begin with prefix, by name.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Delete removes an object. One that is not there is no error.
	Delete(ctx context.Context, name string) error
	// Traits asks what the place promises.
	Traits(ctx context.Context) (Traits, error)
	Close() error
}

// Address is where the copies of many stores are, each at a place of its own.
type Address interface {
	fmt.Stringer
	// Name is a short name for it: its bucket, host or last directory.
	Name() string
	// Open returns the place of a name. It makes a directory for it, but not what that is in: a disk that
	// is not mounted must not be mistaken for an empty one.
	Open(ctx context.Context, name string, access retake.RemoteAccess) (Place, error)
}

// Object is an object as it is listed.
type Object struct {
	Name  string
	Size  int64
	Since time.Time // by the clock of the place
}

// Traits is what a place promises.
type Traits struct {
	Refuses   bool          // it refuses to replace an object, also when two put at once
	Versioned bool          // it keeps what is deleted, as an older version
	Locked    time.Duration // for how long it refuses to delete a version; 0: it does not
}
