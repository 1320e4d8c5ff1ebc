//go:build !linux

package proc

import "context"

func (a IsolatedCommand) run(ctx context.Context) (ExitStatus, error) { return a.runInGroup(ctx) }
