package kopia

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/content/index"
	"github.com/kopia/kopia/repo/manifest"
	"github.com/kopia/kopia/snapshot"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// repair brings back what can be without losing anything, and only then gives up heads: metadata
// from its copies, then indexes from the packs.
func (s recovery) repair(ctx context.Context) error {
	if _, err := s.metadata.restoreShared(ctx); err != nil {
		return err
	}
	if err := errors.Join(s.retireView(ctx), s.refresh(ctx)); err != nil {
		return err
	}
	if err := s.recoverLostIndexes(ctx); err != nil {
		return err
	}
	if err := s.repairHeads(ctx); err != nil {
		return err
	}
	return s.damage.drop(ctx) // else the next save would lean on what lay beside a lost head
}

// repairHeads makes every history go on from its newest head that can be read. The checkpoints
// that only a newer one knows are lost, so it is done only when a person asks for a repair.
func (s recovery) repairHeads(ctx context.Context) error {
	if err := s.damage.checkStorage(ctx); err != nil {
		return err
	}
	unlock, err := s.lockExclusive(ctx, repairWait)
	if err != nil {
		return err
	}
	defer unlock()
	v, err := s.newReadingSession(ctx)
	if err != nil {
		return err
	}
	err = s.dropDamagedManifests(ctx, v)
	if err == nil {
		err = s.dropDamagedHeads(ctx, v)
	}
	if err == nil {
		err = v.Flush(ctx)
	}
	if err = errors.Join(err, v.Close(context.WithoutCancel(ctx)), s.retireView(ctx), s.refresh(ctx)); err != nil {
		return fmt.Errorf("repair heads: %w", err)
	}
	return nil
}

// dropDamagedManifests deletes the contents with heads that cannot be read from the index: one of
// them hides all heads. The heads that such a content replaced were deleted when it was written,
// and are taken back.
func (s recovery) dropDamagedManifests(ctx context.Context, v *session) error {
	var all []content.Info
	err := v.contents.IterateContents(ctx, content.IterateOptions{Range: index.PrefixRange(manifest.ContentPrefix), IncludeDeleted: true}, func(i content.Info) error {
		all = append(all, i)
		return nil
	})
	if err != nil {
		return err
	}
	bad, err := damagedOf(ctx, v, slices.DeleteFunc(slices.Clone(all), func(i content.Info) bool { return i.Deleted }))
	if err != nil || len(bad) == 0 {
		return err
	}
	since := bad[0].TimestampSeconds
	for _, i := range bad {
		since = min(since, i.TimestampSeconds)
	}
	for _, i := range all {
		if !i.Deleted || i.TimestampSeconds < since {
			continue
		}
		if err := v.contents.UndeleteContent(ctx, i.ContentID); err != nil && !mayBeDamage(ctx, err) {
			return err // what is gone or damaged too is no reason to stop
		}
	}
	for _, i := range bad {
		s.damage.suspectPack(i.PackBlobID)
		if err := v.contents.DeleteContent(ctx, i.ContentID); err != nil {
			return err
		}
	}
	s.reportRepair(fmt.Sprintf("%d lists of heads are damaged; the ones before them are used", len(bad)))
	return v.reloadManifests(ctx, s.clock.Now)
}

// dropDamagedHeads deletes the heads whose newest checkpoint cannot be found, if the history has
// an older head whose newest can.
func (s recovery) dropDamagedHeads(ctx context.Context, v *session) error {
	all, err := findHistories(ctx, v, "")
	if err != nil {
		return err
	}
	of := map[retake.WorkspaceID][]historyHead{}
	for _, h := range all { // highest sequence number first
		of[h.ws] = append(of[h.ws], h)
	}
	for ws, heads := range of {
		good, err := firstGoodHead(ctx, v, heads)
		if err != nil {
			return err
		}
		for _, h := range heads[:good] {
			var m snapshot.Manifest
			if _, err := v.GetManifest(ctx, h.id, &m); err == nil {
				s.damage.suspectObject(retake.ObjectID(m.RootObjectID().String()))
			}
			if err := v.DeleteManifest(ctx, h.id); err != nil {
				return err
			}
		}
		if good > 0 {
			s.reportRepair(fmt.Sprintf("history %s goes on from checkpoint %d: newer heads are damaged", ws, heads[good].latest))
		}
	}
	return nil
}

// firstGoodHead returns which head lists its newest checkpoint, or 0 if none does. Whether the
// checkpoint itself is damaged does not matter: a scrub names what is. Of what the disk refuses to
// read nothing is known; that is an error.
func firstGoodHead(ctx context.Context, v *session, heads []historyHead) (int, error) {
	for i, h := range heads {
		l, err := readHead(ctx, v, h)
		if err == nil && l.latest > 0 {
			err = l.checkListed(ctx, v, l.latest)
		}
		if err == nil {
			return i, nil
		}
		if !mayBeDamage(ctx, err) {
			return 0, err
		}
	}
	return 0, ctx.Err()
}

// checkListed returns an error if a history does not list a checkpoint.
func (l *openHistory) checkListed(ctx context.Context, v *session, number int64) error {
	top, mid := groupNames(number)
	id, err := findGroup(ctx, v, l.root, top, mid)
	if err != nil {
		return err
	}
	g, err := readGroup(ctx, v, id)
	if err != nil {
		return err
	}
	if _, ok := g.records[number]; !ok {
		return store.ErrNotFound
	}
	return nil
}
