package proc

import (
	"context"
	"fmt"
	"time"
)

// lookStep is how often a process is looked at that cannot be waited for.
const lookStep = 200 * time.Millisecond

func lookForEnd(ctx context.Context, pid int) error {
	for Alive(pid) {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for process %d: %w", pid, ctx.Err())
		case <-time.After(lookStep):
		}
	}
	return nil
}
