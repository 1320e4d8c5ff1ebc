//go:build !linux

package proc

import "context"

func (a Isolated) run(ctx context.Context) (Ended, error) { return a.group(ctx) }
