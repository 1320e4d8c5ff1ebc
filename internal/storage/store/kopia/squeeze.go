package kopia

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/content/index"
	"github.com/kopia/kopia/repo/content/indexblob"
)

// compactIndex replaces the index of all settled epochs with one range that has only live
// entries: the engine never drops a deleted entry and never removes a superseded compaction.
// The range is published and adopted by the engine before anything it supersedes is deleted; a
// crash leaves only extra blobs.
func compactIndex(ctx context.Context, s *Store, v *session) error {
	em, ok, err := v.contents.EpochManager(ctx)
	if err != nil || !ok {
		return err
	}
	em.Invalidate()
	if err := v.Refresh(ctx); err != nil {
		return err
	}
	cur, err := em.Current(ctx)
	if err != nil {
		return err
	}
	settled := cur.WriteEpoch - 2
	if settled < 1 { // the engine takes no range of one epoch
		return nil
	}
	temps, err := writeRange(ctx, s, v, settled)
	if err != nil {
		return err
	}
	em.Invalidate()
	if err := v.Refresh(ctx); err != nil {
		return err
	}
	if cur, err = em.Current(ctx); err != nil {
		return err
	}
	sets := cur.LongestRangeCheckpointSets
	if len(sets) != 1 || sets[0].MaxEpoch != settled {
		return fmt.Errorf("the engine did not adopt the range 0..%d", settled)
	}
	keep := map[blob.ID]bool{}
	for _, m := range sets[0].Blobs {
		keep[m.BlobID] = true
	}
	if err := deleteSuperseded(ctx, s.blobs, settled, keep, temps); err != nil {
		return err
	}
	em.Invalidate()
	return v.Refresh(ctx)
}

// writeRange writes the live view as the range 0..settled and returns the intermediate blobs.
func writeRange(ctx context.Context, s *Store, v *session, settled int) ([]blob.ID, error) {
	b := index.NewOneUseBuilder()
	err := v.contents.IterateContents(ctx, content.IterateOptions{IncludeDeleted: true}, func(i content.Info) error {
		b.Add(i)
		return nil
	})
	if err != nil {
		return nil, err
	}
	fm := v.FormatManager()
	mp, err := fm.GetMutableParameters(ctx)
	if err != nil {
		return nil, err
	}
	shards, cleanup, err := b.BuildShards(mp.IndexVersion, true, indexblob.DefaultIndexShardSize)
	if err != nil {
		return nil, err
	}
	defer cleanup()
	em, _, err := v.contents.EpochManager(ctx)
	if err != nil {
		return nil, err
	}
	st := v.BlobStorage()
	m := indexblob.NewManagerV1(st, indexblob.NewEncryptionManager(st, fm, nil, nil), em, s.clock.Now, fm, nil)
	temps, err := m.WriteIndexBlobs(ctx, shards, blob.ID("s"+strconv.FormatInt(s.clock.Now().UnixNano(), 16)))
	if err != nil {
		return nil, err
	}
	ids := blob.IDsFromMetadata(temps)
	return ids, m.CompactEpoch(ctx, ids, blob.ID(fmt.Sprintf("xr0_%d_", settled)))
}

// deleteSuperseded deletes the index blobs that the range 0..settled covers, and the
// intermediate ones.
func deleteSuperseded(ctx context.Context, b blobStore, settled int, keep map[blob.ID]bool, temps []blob.ID) error {
	found, err := b.findBlobs(ctx, "x")
	if err != nil {
		return err
	}
	gone := temps
	for _, m := range found {
		if isSuperseded(string(m.BlobID), settled) && !keep[m.BlobID] {
			gone = append(gone, m.BlobID)
		}
	}
	for _, id := range gone {
		if keep[id] {
			continue
		}
		if err := b.DeleteBlob(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// isSuperseded reports whether the range 0..settled covers an index blob: single blobs
// xn<epoch>_, compactions xs<epoch>_ and ranges xr<from>_<to>_.
func isSuperseded(id string, settled int) bool {
	if len(id) < 3 {
		return false
	}
	parts := strings.Split(id[2:], "_")
	last := parts[0]
	if id[1] == 'r' && len(parts) > 1 {
		last = parts[1]
	}
	e, err := strconv.Atoi(last)
	return err == nil && e <= settled && (id[1] == 'n' || id[1] == 's' || id[1] == 'r')
}
