//go:build !linux

package hostprobe

import (
	"context"

	"github.com/retake-dev/retake"
)

// Files returns nil: on this system no places are known.
func Files(context.Context, Options) []File { return nil }

// Ports returns nil: on this system the ports are not read.
func Ports(context.Context, Options) []retake.Trait { return nil }
