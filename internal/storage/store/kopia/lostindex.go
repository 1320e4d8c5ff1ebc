package kopia

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/content/index"
	"github.com/kopia/kopia/repo/manifest"
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
	if err == nil {
		err = s.addEntries(ctx, v, packs)
	}
	if err == nil {
		err = v.contents.Flush(ctx)
	}
	return errors.Join(err, v.Close(ctx))
}

// addEntries adds the entries of packs to the index of a session.
func (s recovery) addEntries(ctx context.Context, v *session, packs []blob.Metadata) error {
	for _, m := range packs {
		_, err := v.contents.RecoverIndexFromPackBlob(ctx, m.BlobID, m.Length, true)
		if err == nil {
			err = syncBlob(s.homeDir, m.BlobID) // another process may have died before it did
		}
		if err != nil {
			return fmt.Errorf("read what pack %s holds: %w", m.BlobID, err)
		}
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
// other trace, and one that was just written has no copy. A new head counts only if all that it
// needs is there, unless force is set: a power cut can leave some packs of a save that was never
// finished.
func (s recovery) recoverLostIndexes(ctx context.Context, force bool) error {
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
	packs, err := s.unnamedPacks(ctx, v, index.AllIDs, "p", "q")
	packs = slices.DeleteFunc(packs, func(m blob.Metadata) bool {
		return !lost[content.SessionIDFromBlobID(m.BlobID)] || !hasUnknown(ctx, v, m)
	})
	if err == nil && len(packs) == 0 {
		return v.Close(ctx)
	}
	if err == nil {
		err = s.addEntries(ctx, v, packs)
	}
	if err == nil && !force {
		err = s.verifyNewHeads(ctx, v)
	}
	if err == nil {
		err = v.contents.Flush(ctx)
	}
	if err = errors.Join(err, v.Close(context.WithoutCancel(ctx)), s.retireView(ctx), s.rep.Refresh(ctx)); err != nil {
		return fmt.Errorf("%d new packs have no index: %w", len(packs), err)
	}
	s.reportRepair(fmt.Sprintf("built a lost index again from %d packs", len(packs)))
	return nil
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

// verifyNewHeads checks that everything is there that the heads need which a session has and the
// store has not.
func (s recovery) verifyNewHeads(ctx context.Context, v *session) error {
	before, err := findHistories(ctx, s.rep, "")
	if err != nil {
		return err
	}
	known := map[manifest.ID]bool{}
	for _, h := range before {
		known[h.id] = true
	}
	after, err := findHistories(ctx, v, "")
	if err != nil {
		return err
	}
	after = slices.DeleteFunc(after, func(h historyHead) bool { return known[h.id] })
	m, err := newReachableSet(ctx, s.Store, v)
	if err != nil {
		return err
	}
	defer m.close(ctx)
	return m.walkNewest(ctx, v, after)
}
