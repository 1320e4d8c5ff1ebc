package jobs

import (
	"context"
	"sync"
	"time"
)

// hold is the lease of one piece of long work.
type hold struct {
	r            *Round
	name, holder string
}

func (h *hold) lease(ctx context.Context, ttl time.Duration) (bool, error) {
	return h.r.o.Leases.Lease(ctx, h.name, h.holder, h.r.o.Clock.Now(), ttl)
}

// keep renews the lease until the work ends, and ends the work when the lease is lost.
func (h *hold) keep(ctx context.Context, lost func()) (stop func()) {
	beating, cancel := context.WithCancel(ctx)
	var beat sync.WaitGroup
	beat.Go(func() {
		tick := time.NewTicker(h.r.o.Lease / 3)
		defer tick.Stop()
		for {
			select {
			case <-beating.Done():
				return
			case <-tick.C:
			}
			ours, err := h.lease(beating, h.r.o.Lease)
			if err == nil && !ours {
				lost()
				return
			}
		}
	})
	return func() {
		cancel()
		beat.Wait()
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), settling)
		defer done()
		_, _ = h.lease(ctx, 0) // else it ends by itself
	}
}
