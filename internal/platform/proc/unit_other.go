//go:build !linux

package proc

import (
	"context"
	"errors"
)

// ErrNoManager means that no service manager of the user is there to ask.
var ErrNoManager = errors.New("no service manager of this user")

// SpawnUnit finds no manager here.
func SpawnUnit(context.Context, string, string, Detached) error { return ErrNoManager }

// EnableUnit finds no manager here.
func EnableUnit(context.Context, []string, string) error { return ErrUnsupported }
