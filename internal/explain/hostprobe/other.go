//go:build !linux

package hostprobe

import (
	"context"

	"github.com/retake-dev/retake"
)

// Files knows no place here.
func Files(context.Context, Options) []File { return nil }

// Ports knows no table here.
func Ports(context.Context, Options) []retake.Trait { return nil }
