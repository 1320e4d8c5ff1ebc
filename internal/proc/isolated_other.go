//go:build !linux

package proc

import "context"

func (a Alone) run(ctx context.Context) (Ended, error) { return a.group(ctx) }
