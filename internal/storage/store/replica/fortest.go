//go:build testing

package replica

import (
	"context"
	"time"
)

// NewForTest is New without waiting between two tries.
func NewForTest(o Options) *Replica {
	o.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return New(o)
}
