//go:build !linux

package proc

import (
	"context"
	"errors"
)

// ErrNoManager means that the user has no running service manager.
var ErrNoManager = errors.New("no service manager of this user")

// SpawnUnit always fails: there is no service manager here.
func SpawnUnit(context.Context, string, string, Detached) error { return ErrNoManager }

// EnableUnit always fails: there is no service manager here.
func EnableUnit(context.Context, []string, string) error { return ErrUnsupported }
