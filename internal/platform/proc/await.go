package proc

import (
	"context"
	"fmt"
	"time"
)

// exitPollInterval is the time between two checks of a process that cannot be waited for.
const exitPollInterval = 200 * time.Millisecond

// pollForExit waits for the end of a process by polling.
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
