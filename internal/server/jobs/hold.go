package jobs

import (
	"context"
	"sync"
	"time"
)

// workLease is the lease on one long-running item.
type workLease struct {
	worker       *Worker
	name, holder string
}

func (h *workLease) renew(ctx context.Context, ttl time.Duration) (bool, error) {
	return h.worker.opts.Leases.Lease(ctx, h.name, h.holder, h.worker.opts.Clock.Now(), ttl)
}

// keepAlive renews the lease until stop is called, and calls lost if another worker has taken
// it. stop gives the lease back.
func (h *workLease) keepAlive(ctx context.Context, lost func()) (stop func()) {
	beating, cancel := context.WithCancel(ctx)
	var beat sync.WaitGroup
	beat.Go(func() {
		tick := time.NewTicker(h.worker.opts.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-beating.Done():
				return
			case <-tick.C:
			}
			ours, err := h.renew(beating, h.worker.opts.Lease)
			if err == nil && !ours {
				lost()
				return
			}
		}
	})
	return func() {
		cancel()
		beat.Wait()
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), finishTimeout)
		defer done()
		_, _ = h.renew(ctx, 0) // on failure the lease expires by itself
	}
}
