//go:build !linux

package mount

import (
	"context"
	"errors"

	"github.com/retake-dev/retake"
)

// Serve mounts at dir and serves until ctx ends or somebody unmounts it. It calls ready once
// files can be seen. dir must be empty and outside the workspace.
func Serve(context.Context, string, Options, func()) error {
	return &retake.Error{
		Kind: retake.Invalid, What: "mounting needs Linux", Safe: nothingChanged,
		Hint: "list the files: retake ls latest     print one: retake help cat", Err: errors.ErrUnsupported,
	}
}
