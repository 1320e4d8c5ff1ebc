package kopia

import (
	"context"
	"fmt"
	"slices"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/maintenance"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/store"
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
	if c.shouldStop() {
		return nil
	}
	if ok, err := c.blockReaders(ctx); err != nil || !ok {
		return err
	}
	packs, err := c.findSparsePacks(ctx)
	if err != nil {
		return err
	}
	if full := slices.IndexFunc(packs, func(p sparsePack) bool { return !p.isSparse() }); !c.wipe && full >= 0 && len(packs)-full < minSmallPacks {
		packs = packs[:full] // a few small ones, full of live bytes, are as good as one
	}
	limit := c.batchSize()
	c.copyingSince = clock.Wall.Now()
	for len(packs) > 0 && (c.copied == 0 || !c.shouldStop() && !c.leaveRest()) {
		n, ids, bytes := firstBatch(packs, limit)
		if err := c.rewriteBatch(ctx, packs[:n], ids, bytes); err != nil {
			return err
		}
		packs = packs[n:]
		c.copied++
	}
	return nil
}

// firstBatch returns how many of the packs are rewritten together, their contents and their size.
func firstBatch(packs []sparsePack, limit int64) (n int, ids []content.ID, bytes int64) {
	for n < len(packs) && (n == 0 || bytes+packs[n].live <= limit) {
		ids = append(ids, packs[n].contents...)
		bytes += packs[n].live
		n++
	}
	return n, ids, bytes
}

// blockReaders makes the readers of an exclusive store wait until the sweep ends. It returns
// false if there is a reader already. To wipe, it waits for readers; after a while the writers,
// which wait as well, come first, and the wipe tries again in its next turn.
func (c *sweeper) blockReaders(ctx context.Context) (bool, error) {
	switch {
	case !c.s.opts.Exclusive || c.readersBlocked:
		return true, nil
	case !c.wipe:
		c.readersBlocked = c.s.readGate.tryBlock()
		return c.readersBlocked, nil
	}
	limit, cancel := context.WithTimeout(ctx, c.s.readerExit)
	defer cancel()
	err := c.s.readGate.block(limit)
	switch {
	case err == nil:
		c.readersBlocked = true
		return true, nil
	case ctx.Err() == nil && c.mayYield:
		c.rest = true
		return false, nil
	case ctx.Err() == nil:
		return false, fmt.Errorf("a file of the history is open for reading: %w", store.ErrBusy)
	}
	return false, err
}

func (c *sweeper) unblockReaders() {
	if c.readersBlocked {
		c.readersBlocked = false
		c.s.readGate.unblock()
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
