package kopia

import (
	"context"
	"fmt"
	"slices"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/maintenance"
)

// A pack is rewritten when less than minLiveShare of it is live, or when it is one of
// many small ones: every save leaves two.
const (
	minLiveShare  = 0.8
	smallPackSize = 12 << 20
	minSmallPacks = 16
	minBatch      = 16 << 20
	maxBatch      = 256 << 20
)

type sparsePack struct {
	id       blob.ID
	size     int64
	live     int64
	contents []content.ID
}

func (p *sparsePack) isSparse() bool { return float64(p.live) < minLiveShare*float64(p.size) }

// rewriteSparse copies the live contents out of sparse packs, most garbage per byte first, and
// deletes the packs of each batch once the copies are durable. A reader with an older view
// would miss them, so it runs only while nobody reads; otherwise it is left for the next
// sweep.
func (c *sweeper) rewriteSparse(ctx context.Context) error {
	if c.shouldStop() || !c.blockReaders() {
		return nil
	}
	packs, err := c.findSparsePacks(ctx)
	if err != nil {
		return err
	}
	if full := slices.IndexFunc(packs, func(p sparsePack) bool { return !p.isSparse() }); !c.wipe && full >= 0 && len(packs)-full < minSmallPacks {
		packs = packs[:full] // a few small ones, full of live bytes, are as good as one
	}
	limit := c.batchSize()
	for len(packs) > 0 && (!c.rewrote || !c.shouldStop() && !c.yields()) {
		var ids []content.ID
		var n int
		var bytes int64
		for n < len(packs) && (n == 0 || bytes+packs[n].live <= limit) {
			ids = append(ids, packs[n].contents...)
			bytes += packs[n].live
			n++
		}
		if err := c.rewriteBatch(ctx, packs[:n], ids, bytes); err != nil {
			return err
		}
		packs, c.rewrote = packs[n:], true
	}
	return nil
}

// blockReaders makes the readers of an exclusive store wait until the sweep ends. It returns
// false if there is a reader already; to wipe, it waits for them instead.
func (c *sweeper) blockReaders() bool {
	switch {
	case !c.s.opts.Exclusive || c.readersBlocked:
		return true
	case c.wipe: // it must be done, so it waits for readers
		c.s.readLock.Lock()
		c.readersBlocked = true
	default:
		c.readersBlocked = c.s.readLock.TryLock()
	}
	return c.readersBlocked
}

func (c *sweeper) unblockReaders() {
	if c.readersBlocked {
		c.readersBlocked = false
		c.s.readLock.Unlock()
	}
}

// rewriteBatch copies contents to new packs, makes them durable and deletes the old packs.
// With a minimum age the old packs are left for a later sweep.
func (c *sweeper) rewriteBatch(ctx context.Context, packs []sparsePack, ids []content.ID, bytes int64) error {
	if _, err := maintenance.RewriteContents(ctx, c.session, &maintenance.RewriteContentsOptions{ContentIDs: ids, Parallel: 2}, exclusiveSafety); err != nil {
		for _, p := range packs {
			c.s.damage.suspectPack(p.id)
		}
		return err
	}
	if err := c.session.Flush(ctx); err != nil {
		return err
	}
	c.recordGrowth(bytes)
	moved, err := c.packsOf(ctx, ids)
	if err != nil {
		return err
	}
	for _, p := range packs {
		if moved[p.id] {
			return fmt.Errorf("pack %s still holds live contents after its rewrite", p.id)
		}
		if c.s.opts.MinPackAge > 0 {
			continue // nothing names it any more: a later sweep deletes it when it is old enough
		}
		if err := c.s.blobs.DeleteBlob(ctx, p.id); err != nil {
			return err
		}
		c.recordGrowth(-p.size)
	}
	return nil
}

// packsOf returns the packs that contain the contents now.
func (c *sweeper) packsOf(ctx context.Context, ids []content.ID) (map[blob.ID]bool, error) {
	in := map[blob.ID]bool{}
	for _, id := range ids {
		i, err := c.session.contents.ContentInfo(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("look up %s: %w", id, err)
		}
		in[i.PackBlobID] = true
	}
	return in, nil
}

func (c *sweeper) batchSize() int64 {
	if c.room > 0 {
		return c.room
	}
	free, err := c.s.blobs.freeSpace()
	if err != nil {
		return minBatch
	}
	return min(max(free/4, minBatch), maxBatch)
}

// findSparsePacks returns the sparse and the small packs, the sparsest first; to wipe, it
// returns those that contain unnamed bytes.
func (c *sweeper) findSparsePacks(ctx context.Context) ([]sparsePack, error) {
	sizes := map[blob.ID]int64{}
	for _, p := range content.PackBlobIDPrefixes {
		found, err := c.s.blobs.findBlobs(ctx, p)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			sizes[m.BlobID] = m.Length
		}
	}
	var packs []sparsePack
	err := c.session.contents.IteratePacks(ctx, content.IteratePackOptions{IncludeContentInfos: true}, func(p content.PackInfo) error {
		size, ok := sizes[p.PackID]
		if !ok { // its contents are dropped as damaged before the next sweep
			c.s.damage.suspectPack(p.PackID)
			return nil
		}
		sp := sparsePack{id: p.PackID, size: size, live: p.TotalSize}
		if !c.wipe && !sp.isSparse() && size >= smallPackSize {
			return nil
		}
		for _, i := range p.ContentInfos {
			sp.contents = append(sp.contents, i.ContentID)
		}
		if c.wipe && !c.hasUnnamedBytes(ctx, &sp) {
			return nil
		}
		packs = append(packs, sp)
		return nil
	})
	slices.SortFunc(packs, func(a, b sparsePack) int {
		ra, rb := float64(a.live)/float64(a.size), float64(b.live)/float64(b.size)
		switch {
		case ra < rb:
			return -1
		case ra > rb:
			return 1
		}
		return 0
	})
	return packs, err
}
