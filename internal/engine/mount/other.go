//go:build !linux

package mount

import (
	"context"
	"errors"

	"github.com/retake-dev/retake"
)

// Serve cannot mount here.
func Serve(context.Context, string, Options, func()) error {
	return &retake.Error{
		Kind: retake.Invalid, What: "mounting needs Linux", Safe: nothingChanged,
		Hint: "list the files: retake ls latest     print one: retake help cat", Err: errors.ErrUnsupported,
	}
}
