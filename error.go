package retake

import (
	"context"
	"errors"
)

// ErrorKind is the class of an error, the only thing that callers branch on. Kinds are append-only.
type ErrorKind string

// The kinds, each with its exit code in exits below.
const (
	Internal ErrorKind = "internal" // a fault of Retake
	Invalid  ErrorKind = "invalid"  // invalid arguments
	NotFound ErrorKind = "not-found"
	Exists   ErrorKind = "exists"
	Moved    ErrorKind = "moved"  // the files changed since the plan
	Denied   ErrorKind = "denied" // confirmation is needed, or the key may not
	Limit    ErrorKind = "limit"
	Damaged  ErrorKind = "damaged" // stored bytes do not match
	Away     ErrorKind = "away"    // the store, daemon or server is unavailable
	Busy     ErrorKind = "busy"
	Partly   ErrorKind = "partly" // done in part
	Canceled ErrorKind = "canceled"
)

var exits = map[ErrorKind]int{
	Internal: 1, Invalid: 2, NotFound: 3, Exists: 4, Moved: 5, Denied: 6,
	Limit: 8, Damaged: 9, Away: 10, Busy: 11, Partly: 12, Canceled: 130,
}

// Error is what leaves the service: what happened, whether anything was changed,
// what to do next, in that order. An error means that the checkpoint, or
// the restore, did not happen; for everything else there are warnings.
type Error struct {
	Kind ErrorKind `json:"kind"`
	What string    `json:"what"`
	Safe string    `json:"safe,omitempty"`
	Hint string    `json:"hint,omitempty"`
	// Accept are the warnings that must be accepted; then Kind is Denied.
	Accept []string `json:"accept,omitempty"`
	Err    error    `json:"-"`
}

// Error says what happened, with its cause.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.What + ": " + e.Err.Error()
	}
	return e.What
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Exit is the exit code of a command that ends with this error.
func (e *Error) Exit() int { return exits[e.Kind] }

// AsError gives err as an *Error; one without a kind is Internal, and what
// the caller stopped is Canceled.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if errors.Is(err, context.Canceled) {
		return &Error{Kind: Canceled, What: "stopped", Safe: "Nothing was changed.", Err: nil}
	}
	return &Error{Kind: Internal, What: err.Error()}
}

// IsKind reports whether err carries the kind.
func IsKind(err error, k ErrorKind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == k
}

// WarningNotSaved says that a call may destroy files that no checkpoint has.
const WarningNotSaved = "not-saved"

// WarningRepeated says that a call does again what was done before the files were restored.
const WarningRepeated = "repeated"

// Warning means that the sacred thing happened and something around it did not.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}
