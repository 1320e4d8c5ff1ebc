package proc

import (
	"context"
	"fmt"
	"time"
)

// lookStep is how often a process is looked at that cannot be waited for.
const exitPollInterval = 200 * time.Millisecond

func pollForExit(ctx context.Context, pid int) error {
	for IsAlive(pid) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for process %d: %w", pid, ctx.Err())
		case <-time.After(exitPollInterval):
		}
	}
	return nil
}
