package jobs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// workLease is the lease on one long-running item.
type workLease struct {
	worker       *Worker
	item         serverdb.Due
	name, holder string
}

func (h *workLease) renew(ctx context.Context, ttl time.Duration) (bool, error) {
	return h.worker.opts.Leases.Lease(ctx, h.name, h.holder, h.worker.opts.Clock.Now(), ttl)
}

// keepAlive renews the lease and the claim until stop is called, and calls lost if another worker
// has taken the lease. stop gives the lease back. Without its claim the result would not be recorded.
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
			o := &h.worker.opts
			ours, err := h.renew(beating, o.Lease)
			if err == nil && !ours {
				lost()
				return
			}
			if err = errors.Join(err, o.Ledger.Extend(beating, h.item, o.Clock.Now().Add(o.Lease))); err != nil && beating.Err() == nil {
				o.Log.WarnContext(beating, "keep a claim", "queue", h.item.Queue, "namespace", h.item.Namespace, "id", h.item.ID, "err", err)
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
