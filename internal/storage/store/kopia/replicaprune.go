package kopia

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/manifest"

	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// A pack of a copy is made anew when less than this is live, or when it is one of many small ones.
const (
	minLiveCopy   = 0.5
	minSmallCopy  = 64
	smallCopyPack = 4 << 20
)

// Prune makes the indexes of a copy without what its lines do not reach. What is live in packs that are
// mostly dead comes from the store, so that nothing has to be read from the copy.
func (c *replicaCopy) Prune(ctx context.Context, req replica.PruneRequest, emit func(replica.Pack) error) (replica.Pruned, error) {
	reached, err := c.reachedBy(ctx, req.Lines)
	if err != nil {
		return replica.Pruned{}, fmt.Errorf("look for what is used: %w", err)
	}
	list, _ := content.ParseID(req.List)
	var live, dead []content.Info
	err = c.contents.IterateContents(ctx, content.IterateOptions{}, func(i content.Info) error {
		if req.List != "" && i.ContentID == list || i.ContentID.Prefix() != manifest.ContentPrefix && reached.isReachable(i.ContentID) {
			live = append(live, i)
		} else {
			dead = append(dead, i)
		}
		return nil
	})
	if err != nil {
		return replica.Pruned{}, fmt.Errorf("read indexes of the copy: %w", err)
	}
	moving := packsToMove(live, req.Packs)
	f := c.newFiller(emit)
	f.entries = []content.Info{}
	var out replica.Pruned
	for _, i := range live {
		if !moving[i.PackBlobID] {
			f.entries = append(f.entries, i)
			continue
		}
		if err := f.moveContent(ctx, i); err != nil {
			return out, err
		}
	}
	if err := f.finish(ctx); err != nil {
		return out, err
	}
	out.Dead = unnamedPacks(f.entries, req.Packs)
	if len(dead) == 0 && len(moving) == 0 {
		return out, nil
	}
	out.Indexes, err = c.encodeIndex(ctx, f.entries)
	return out, err
}

// unnamedPacks returns the packs that no entry names.
func unnamedPacks(entries []content.Info, packs map[string]int64) (out []string) {
	named := map[blob.ID]bool{}
	for _, i := range entries {
		named[i.PackBlobID] = true
	}
	for _, name := range slices.Sorted(maps.Keys(packs)) {
		if !named[blob.ID(name)] {
			out = append(out, name)
		}
	}
	return out
}

// reachedBy walks the histories in the store. They must be there as the copy has them.
func (c *replicaCopy) reachedBy(ctx context.Context, lines []replica.Line) (*reachableSet, error) {
	now, _, err := c.newestLines(ctx)
	if err != nil {
		return nil, err
	}
	var ids []manifest.ID
	for _, l := range lines {
		i := slices.IndexFunc(now, func(n replica.Line) bool { return n.Workspace == l.Workspace })
		if i < 0 || now[i].Manifest != l.Manifest {
			return nil, fmt.Errorf("history %s: %w", l.Workspace, replica.ErrMoved)
		}
		ids = append(ids, manifest.ID(l.Manifest))
	}
	release, err := c.s.lockShared(ctx) // no sweep meanwhile
	if err != nil {
		return nil, err
	}
	defer release()
	v, err := c.s.newSession(ctx)
	if err != nil {
		return nil, err
	}
	m, err := newReachableSet(ctx, c.s, v)
	if err != nil {
		return nil, errors.Join(err, v.Close(ctx))
	}
	defer m.close(ctx)
	return m, errors.Join(m.walkManifests(ctx, v, ids), v.Close(context.WithoutCancel(ctx)))
}

// packsToMove returns the packs whose live contents get a new one.
func packsToMove(live []content.Info, sizes map[string]int64) map[blob.ID]bool {
	used := map[blob.ID]int64{}
	for _, i := range live {
		used[i.PackBlobID] += int64(i.PackedLength)
	}
	var sparse, small []blob.ID
	for id, n := range used {
		switch size := sizes[string(id)]; {
		case float64(n) < minLiveCopy*float64(size) && size > smallCopyPack:
			sparse = append(sparse, id)
		case size <= smallCopyPack:
			small = append(small, id)
		}
	}
	if len(small) < minSmallCopy {
		small = nil
	}
	out := map[blob.ID]bool{}
	for _, id := range slices.Concat(sparse, small) {
		out[id] = true
	}
	return out
}

// moveContent adds a content that the copy has to a new pack. If the store cannot read it, the copy can.
func (f *filler) moveContent(ctx context.Context, i content.Info) error {
	now, raw, err := f.c.readRaw(ctx, i.ContentID)
	if err != nil && (mayBeDamage(ctx, err) || errors.Is(err, store.ErrNotFound)) {
		now = i
		raw, err = f.c.blobs.get(ctx, string(i.PackBlobID), int64(i.PackOffset), int64(i.PackedLength))
	}
	if err != nil {
		return fmt.Errorf("move %s: %w", i.ContentID, err)
	}
	return f.addContent(ctx, now, raw)
}
