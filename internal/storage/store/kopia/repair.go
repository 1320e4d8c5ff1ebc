package kopia

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/content"
	"github.com/kopia/kopia/repo/format"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// openOrRepair opens the repository. If that fails because files of the store are damaged, it
// puts back the keys from their copy and builds damaged indexes again from the packs, which
// describe their own contents. Damaged files are set aside, never deleted.
func (s *Store) openOrRepair(ctx context.Context, password string) error {
	rep, err := openEngine(ctx, s.blobs, s.clock.Now, password)
	if err == nil {
		s.rep = rep
		s.copyKeysIfOurs()
		s.findLostIndexes(ctx, recentPacks)
		return nil
	}
	if ctx.Err() != nil || isSystemError(err) || retake.IsKind(err, retake.Away) || s.opts.Bucket != nil {
		return err
	}
	unlock, lerr := s.lockExclusive(ctx, 0)
	if lerr != nil {
		return errors.Join(err, lerr)
	}
	defer unlock()
	repaired := s.repairAndOpen(ctx, password)
	if repaired == nil {
		return nil
	}
	return errors.Join(store.ErrDamaged, err, repaired)
}

// copyKeysIfOurs copies what opened the store. A disk that is full or read-only is no reason not
// to open it; the next start tries again.
func (s *Store) copyKeysIfOurs() {
	if s.opts.Bucket == nil && s.opts.Password == "" {
		if err := copyKeys(s.homeDir); err != nil {
			s.reportRepair(fmt.Sprintf("the keys of the store have no second copy: %v", err))
		}
	}
}

func (s *Store) reportRepair(text string) {
	if s.opts.OnRepair != nil {
		s.opts.OnRepair(text)
	}
}

// repairAndOpen is called with the store locked for nobody else.
func (s *Store) repairAndOpen(ctx context.Context, password string) error {
	if s.opts.Password == "" {
		back, err := restoreKeys(s.homeDir, s.stamp())
		if err != nil {
			return err
		}
		for _, name := range back {
			s.reportRepair("put back from its copy: " + name)
		}
		if slices.Contains(back, passwordFile) {
			if password, err = readPassword(s.homeDir); err != nil {
				return err
			}
		}
		if rep, err := openEngine(ctx, s.blobs, s.clock.Now, password); err == nil {
			s.rep = rep
			return nil
		}
	}
	return s.repairIndexes(ctx, password)
}

func (s *Store) stamp() string { return s.clock.Now().UTC().Format("20060102T150405") }

// repairIndexes opens the repository without its damaged index blobs, writes their entries again
// from the packs, and sets them aside. If it is interrupted, it starts again: entries keep their
// times, so writing them twice changes nothing.
func (s *Store) repairIndexes(ctx context.Context, password string) error {
	bad, err := s.damagedIndexes(ctx, password)
	if err != nil || len(bad) == 0 {
		return err
	}
	blobs := s.blobs
	s.blobs = &withoutBlobs{blobs, bad}
	s.rep, err = openEngine(ctx, s.blobs, s.clock.Now, password)
	if err == nil {
		err = s.recoverIndex(ctx)
	}
	s.blobs = blobs
	if err != nil {
		return err
	}
	for _, id := range bad {
		if err := setAside(s.homeDir, blobsDir, string(id)+blobSuffix, s.stamp()); err != nil {
			return err
		}
		s.reportRepair("built a damaged index again from the packs: " + string(id))
	}
	if err := s.blobs.reloadListing(ctx); err != nil {
		return err
	}
	s.rep, err = openEngine(ctx, s.blobs, s.clock.Now, password)
	return err
}

// damagedIndexes returns the index blobs that cannot be read.
func (s *Store) damagedIndexes(ctx context.Context, password string) ([]blob.ID, error) {
	fm, err := format.NewManager(ctx, s.blobs, "", format.DefaultRepositoryBlobCacheDuration, password, s.clock.Now)
	if err != nil {
		return nil, fmt.Errorf("read format: %w", err)
	}
	shared, err := content.NewSharedManager(ctx, s.blobs, fm, &content.CachingOptions{},
		&content.ManagerOptions{TimeNow: s.clock.Now, PermissiveCacheLoading: true}, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("open without indexes: %w", err)
	}
	defer shared.CloseShared(ctx) //nolint:errcheck // nothing was written
	found, err := s.blobs.findBlobs(ctx, "x")
	if err != nil {
		return nil, err
	}
	var bad []blob.ID
	for _, m := range found {
		if len(m.BlobID) < 2 || m.BlobID[1] == 'e' || m.BlobID[1] == 'w' { // markers of epochs hold nothing
			continue
		}
		err := loadIndex(ctx, m.BlobID, shared.LoadIndexBlob)
		if isSystemError(err) {
			return nil, err // a disk that cannot be read says nothing about its bytes
		}
		if err != nil {
			bad = append(bad, m.BlobID)
		}
	}
	return bad, nil
}

// loadIndex calls a function of the engine whose buffer has a type that only the engine can name.
func loadIndex[T any](ctx context.Context, id blob.ID, load func(context.Context, blob.ID, *T) ([]content.Info, error)) error {
	var buffer T
	_, err := load(ctx, id, &buffer)
	return err
}

// recoverIndex writes the entries of all packs again. A pack whose own index is damaged is left
// out; what it holds is found missing by whoever needs it.
func (s *Store) recoverIndex(ctx context.Context) error {
	v, err := s.newOwnSession(ctx)
	if err != nil {
		return err
	}
	packs, err := s.allPacks(ctx)
	for _, m := range packs {
		_, rerr := v.contents.RecoverIndexFromPackBlob(ctx, m.BlobID, m.Length, true)
		if rerr != nil && (ctx.Err() != nil || isSystemError(rerr)) {
			return errors.Join(rerr, v.Close(ctx))
		}
		if rerr != nil {
			s.reportRepair(fmt.Sprintf("a pack does not tell what it holds: %s: %v", m.BlobID, rerr))
		}
	}
	if err == nil {
		err = v.contents.Flush(ctx)
	}
	return errors.Join(err, v.Close(ctx))
}

// recentPacks is how many of the newest packs are looked up when a store is opened. An index that
// is gone leaves no other trace, and without it the newest checkpoints would be too.
const recentPacks = 200 // about 10 ms

// findLostIndexes looks whether the index knows what the newest packs hold, and writes its entries
// again where it does not. With most 0 it looks at all packs. What an interrupted save left is
// found too: it becomes garbage that the next sweep removes.
func (s *Store) findLostIndexes(ctx context.Context, most int) (found int) {
	if !s.opts.Exclusive || s.opts.Bucket != nil {
		return 0
	}
	n, err := s.recoverLostIndexes(ctx, most)
	if err != nil && ctx.Err() == nil {
		s.reportRepair(fmt.Sprintf("the index could not be compared with the packs: %v", err))
	}
	if n > 0 {
		s.reportRepair(fmt.Sprintf("found %d packs that no index names, and wrote their entries again", n))
	}
	return n
}

// comparePacksOnce compares all packs with the index, once after the store was opened.
func (s *Store) comparePacksOnce(ctx context.Context) error {
	s.mu.Lock()
	due := s.opts.Exclusive && s.opts.Bucket == nil && !s.comparedPacks
	s.comparedPacks = true
	s.mu.Unlock()
	if !due {
		return nil
	}
	unlock, err := s.lockShared(ctx) // a sweep would move packs under our hands
	if err != nil {
		return err
	}
	defer unlock()
	if s.findLostIndexes(ctx, 0) == 0 {
		return nil
	}
	return s.retireView(ctx)
}

// recoverLostIndexes returns of how many packs it wrote the entries again.
func (s *Store) recoverLostIndexes(ctx context.Context, most int) (found int, err error) {
	packs, err := s.newestPacks(ctx, most)
	if err != nil || len(packs) == 0 {
		return 0, err
	}
	v, err := s.newOwnSession(ctx)
	if err != nil {
		return 0, err
	}
	for _, m := range packs {
		infos, rerr := v.contents.RecoverIndexFromPackBlob(ctx, m.BlobID, m.Length, false)
		if rerr != nil || !hasUnknown(ctx, v, infos) {
			continue // a damaged pack is found by whoever needs it
		}
		if _, err = v.contents.RecoverIndexFromPackBlob(ctx, m.BlobID, m.Length, true); err != nil {
			break
		}
		found++
	}
	if err == nil && found > 0 {
		err = v.contents.Flush(ctx)
	}
	return found, errors.Join(err, v.Close(ctx))
}

// newestPacks returns the newest packs; with most 0, all of them.
func (s *Store) newestPacks(ctx context.Context, most int) ([]blob.Metadata, error) {
	packs, err := s.allPacks(ctx)
	if err != nil || most == 0 || len(packs) <= most {
		return packs, err
	}
	slices.SortFunc(packs, func(a, b blob.Metadata) int { return b.Timestamp.Compare(a.Timestamp) })
	return packs[:most], nil
}

func (s *Store) allPacks(ctx context.Context) ([]blob.Metadata, error) {
	files, err := s.blobs.findBlobs(ctx, "p")
	if err != nil {
		return nil, err
	}
	dirs, err := s.blobs.findBlobs(ctx, "q")
	return slices.Concat(files, dirs), err
}

func hasUnknown(ctx context.Context, v *session, infos []content.Info) bool {
	return slices.ContainsFunc(infos, func(i content.Info) bool {
		_, err := v.contents.ContentInfo(ctx, i.ContentID)
		return errors.Is(err, content.ErrContentNotFound)
	})
}

// isSystemError reports whether the system refused to read, as against bytes that are wrong.
func isSystemError(err error) bool {
	var errno syscall.Errno
	return errors.As(err, &errno) && errno != syscall.ENOENT
}

// withoutBlobs hides blobs of a storage.
type withoutBlobs struct {
	blobStore
	hidden []blob.ID
}

func (w *withoutBlobs) GetBlob(ctx context.Context, id blob.ID, offset, length int64, out blob.OutputBuffer) error {
	if slices.Contains(w.hidden, id) {
		return blob.ErrBlobNotFound
	}
	return w.blobStore.GetBlob(ctx, id, offset, length, out)
}

func (w *withoutBlobs) GetMetadata(ctx context.Context, id blob.ID) (blob.Metadata, error) {
	if slices.Contains(w.hidden, id) {
		return blob.Metadata{}, blob.ErrBlobNotFound
	}
	return w.blobStore.GetMetadata(ctx, id)
}

func (w *withoutBlobs) findBlobs(ctx context.Context, prefix blob.ID) ([]blob.Metadata, error) {
	found, err := w.blobStore.findBlobs(ctx, prefix)
	return slices.DeleteFunc(slices.Clone(found), func(m blob.Metadata) bool { return slices.Contains(w.hidden, m.BlobID) }), err
}

func (w *withoutBlobs) ListBlobs(ctx context.Context, prefix blob.ID, call func(blob.Metadata) error) error {
	found, err := w.findBlobs(ctx, prefix)
	if err != nil {
		return err
	}
	for _, m := range found {
		if err := call(m); err != nil {
			return err
		}
	}
	return nil
}
