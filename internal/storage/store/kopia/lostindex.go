package kopia

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/content/index"
	"github.com/kopia/kopia/repo/manifest"
	"github.com/kopia/kopia/snapshot/snapshotfs"

	"github.com/retake-dev/retake/internal/storage/store"
)

// recovery brings back what indexes and heads have lost.
type recovery struct{ *Store }

// recoverIndex writes the entries of the packs that no index names. What an interrupted save left
// stays unnamed: its marker is still there, and its head would lead to files that were never
// written. A pack that does not tell what it holds ends the repair, so that no sweep takes it for
// garbage.
func (s recovery) recoverIndex(ctx context.Context) error {
	v, err := s.newOwnSession(ctx)
	if err != nil {
		return err
	}
	packs, err := s.unnamedPacks(ctx, v, index.AllIDs, "p", "q")
	for _, m := range packs {
		if err == nil {
			err = s.addEntries(ctx, v, m)
		}
	}
	if err == nil {
		err = v.contents.Flush(ctx)
	}
	return errors.Join(err, v.Close(ctx))
}

// addEntries adds the entries of a pack to the index of a session.
func (s recovery) addEntries(ctx context.Context, v *session, m blob.Metadata) error {
	_, err := v.contents.RecoverIndexFromPackBlob(ctx, m.BlobID, m.Length, true)
	if err == nil {
		err = syncBlob(s.homeDir, m.BlobID) // another process may have died before it did
	}
	if err != nil {
		return fmt.Errorf("read what pack %s holds: %w", m.BlobID, err)
	}
	return nil
}

// unnamedPacks are the packs of finished saves that no content in a range names.
func (s recovery) unnamedPacks(ctx context.Context, v *session, ids content.IDRange, prefixes ...blob.ID) ([]blob.Metadata, error) {
	named := map[blob.ID]bool{}
	// A deletion names its pack too, in an index that may know nothing else of it.
	err := v.contents.IterateContents(ctx, content.IterateOptions{Range: ids}, func(i content.Info) error {
		named[i.PackBlobID] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	markers, err := s.blobs.findBlobs(ctx, content.BlobIDPrefixSession)
	if err != nil {
		return nil, err
	}
	unfinished := map[content.SessionID]bool{}
	for _, m := range markers {
		unfinished[content.SessionIDFromBlobID(m.BlobID)] = true
	}
	var out []blob.Metadata
	for _, prefix := range prefixes {
		found, err := s.blobs.findBlobs(ctx, prefix)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	return slices.DeleteFunc(out, func(m blob.Metadata) bool {
		return named[m.BlobID] || unfinished[content.SessionIDFromBlobID(m.BlobID)]
	}), nil
}

// recoverLostIndexes writes the entries of new packs that no index names. A lost index leaves no
// other trace, and one that was just written has no copy. A head that comes with them counts only if
// its newest checkpoint is all there: a power cut can leave some packs of a save that never finished.
func (s recovery) recoverLostIndexes(ctx context.Context) error {
	lost, err := s.sessionsWithoutIndex(ctx)
	if err != nil || len(lost) == 0 {
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
	n, err := s.recoverSessions(ctx, v, lost)
	if err = errors.Join(err, v.Close(context.WithoutCancel(ctx))); err != nil {
		return fmt.Errorf("new packs have no index: %w", err)
	}
	if n == 0 {
		return nil
	}
	s.reportRepair(fmt.Sprintf("built a lost index again from %d packs", n))
	return errors.Join(s.retireView(ctx), s.refresh(ctx))
}

// recoverSessions adds the packs of sessions to the index, and returns how many. A pack that does not
// tell what it holds keeps no other from it.
func (s recovery) recoverSessions(ctx context.Context, v *session, lost map[content.SessionID]bool) (n int, err error) {
	packs, err := s.unnamedPacks(ctx, v, index.AllIDs, "p", "q")
	if err != nil {
		return 0, err
	}
	swept, err := sweptUntil(ctx, v)
	if err != nil {
		return 0, err
	}
	for _, m := range packs {
		if !lost[content.SessionIDFromBlobID(m.BlobID)] || !m.Timestamp.After(swept) || !hasUnknown(ctx, v, m) {
			continue
		}
		switch err := s.addEntries(ctx, v, m); {
		case err == nil:
			n++
		case !mayBeDamage(ctx, err):
			return 0, err
		default:
			s.reportRepair(err.Error())
		}
	}
	if n == 0 {
		return 0, nil
	}
	if err := s.dropUnfinishedHeads(ctx, v); err != nil {
		return 0, err
	}
	return n, v.Flush(ctx)
}

// sweptUntil returns the time of the last sweep that hid what it deleted. It has decided about all
// packs from before.
func sweptUntil(ctx context.Context, v *session) (time.Time, error) {
	em, ok, err := v.contents.EpochManager(ctx)
	if err != nil || !ok {
		return time.Time{}, err
	}
	now, err := em.Current(ctx)
	return now.DeletionWatermark, err
}

// hasUnknown reports whether a pack holds a content that the index does not know, or cannot be
// read.
func hasUnknown(ctx context.Context, v *session, m blob.Metadata) bool {
	held, err := v.contents.RecoverIndexFromPackBlob(ctx, m.BlobID, m.Length, false)
	return err != nil || slices.ContainsFunc(held, func(i content.Info) bool {
		_, err := v.contents.ContentInfo(ctx, i.ContentID)
		return err != nil
	})
}

// sessionsWithoutIndex finds the sessions of new packs with metadata that no index names. Every
// save writes such a pack; what has a copy is not new.
func (s recovery) sessionsWithoutIndex(ctx context.Context) (map[content.SessionID]bool, error) {
	if s.metadata.mirror == nil {
		return nil, nil
	}
	names, err := s.metadata.mirror.Uncopied()
	isNew := map[blob.ID]bool{}
	for _, name := range names {
		if strings.HasPrefix(name, "q") {
			isNew[blob.ID(strings.TrimSuffix(name, blobSuffix))] = true
		}
	}
	if err != nil || len(isNew) == 0 {
		return nil, err
	}
	v, err := s.newReadingSession(ctx)
	if err != nil {
		return nil, err
	}
	packs, err := s.unnamedPacks(ctx, v, index.AllPrefixedIDs, "q")
	out := map[content.SessionID]bool{}
	for _, m := range packs {
		if isNew[m.BlobID] {
			out[content.SessionIDFromBlobID(m.BlobID)] = true
		}
	}
	return out, errors.Join(err, v.Close(ctx))
}

// newReadingSession opens a session on a new view that does not pack manifests as it reads them.
func (s recovery) newReadingSession(ctx context.Context) (*session, error) {
	vw, err := s.newView(ctx)
	if err != nil {
		return nil, err
	}
	return s.newSessionOn(ctx, vw, neverPack, vw.close)
}

// dropUnfinishedHeads deletes the heads that a session has and the store has not, if something is
// missing of their newest checkpoint.
func (s recovery) dropUnfinishedHeads(ctx context.Context, v *session) error {
	before, err := findHistories(ctx, s.rep, "")
	if err != nil && !errors.Is(err, store.ErrDamaged) {
		return err // with a damaged list all heads are new
	}
	known := map[manifest.ID]bool{}
	for _, h := range before {
		known[h.id] = true
	}
	after, err := findHistories(ctx, v, "")
	if errors.Is(err, store.ErrDamaged) {
		return nil // nobody reads these heads; a repair looks at them
	}
	if err != nil {
		return err
	}
	m, err := newReachableSet(ctx, s.Store, v)
	if err != nil {
		return err
	}
	defer m.close(ctx)
	for _, h := range after {
		if known[h.id] {
			continue
		}
		switch err := m.walkNewestRecord(ctx, v, h); {
		case err == nil:
		case !mayBeDamage(ctx, err):
			return err
		default:
			s.reportRepair(fmt.Sprintf("a save of %s was never finished: %v", h.ws, err))
			if err := v.DeleteManifest(ctx, h.id); err != nil {
				return err
			}
		}
	}
	return nil
}

// walkNewestRecord checks that the index has all that the newest checkpoint of a head needs.
func (m *reachableSet) walkNewestRecord(ctx context.Context, v *session, h historyHead) error {
	l, err := readHead(ctx, v, h)
	if err != nil || l.latest == 0 {
		return err
	}
	rec, err := l.findRecord(ctx, v, l.latest)
	if err != nil {
		return err
	}
	id, err := parseObject(rec.Files.Object)
	if err != nil {
		return err
	}
	return m.walker.Process(ctx, snapshotfs.DirectoryEntry(v, id, nil), "")
}
