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

// EnableSystemUnit always fails: there is no service manager here.
func EnableSystemUnit(context.Context, string) error { return ErrUnsupported }

// AddSystemUser always fails: it is not known how to here.
func AddSystemUser(context.Context, string, string) error { return ErrUnsupported }
