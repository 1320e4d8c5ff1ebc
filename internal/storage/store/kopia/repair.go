package kopia

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

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
	if s.opts.Copy != nil { // nothing is repaired in a copy, and the engine did not write it
		return guardEngine(func() (err error) {
			s.rep, err = openEngine(ctx, s.blobs, s.clock.Now, password)
			return err
		})
	}
	rep, err := openEngine(ctx, s.blobs, s.clock.Now, password)
	if err == nil {
		s.rep = rep
		s.copyKeysIfOurs()
		return nil
	}
	if (!mayBeDamage(ctx, err) && !isSystemError(err)) || s.opts.Bucket != nil { // a bad sector may have a copy
		return err
	}
	unlock, lerr := s.lockExclusive(ctx, repairWait)
	if lerr != nil {
		return errors.Join(err, lerr)
	}
	defer unlock()
	repaired := s.repairAndOpen(ctx, password)
	if repaired != nil && !isSystemError(repaired) {
		return errors.Join(store.ErrDamaged, repaired)
	}
	return repaired
}

// repairWait is how long a repair waits for others who use the store.
const repairWait = 10 * time.Second

// mayBeDamage reports whether an error may come from bytes that are wrong, as against a disk that
// cannot be read, storage that is away, or a program that is too old.
func mayBeDamage(ctx context.Context, err error) bool {
	return ctx.Err() == nil && !isSystemError(err) && !retake.IsKind(err, retake.Away) && !errors.Is(err, errIndexGone) && !errors.Is(err, errNoEngineFile)
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

// repairAndOpen is called with the store locked for nobody else. Another process may have repaired
// or swept it while we waited, so it looks again first.
func (s *Store) repairAndOpen(ctx context.Context, password string) error {
	if err := s.blobs.reloadListing(ctx); err != nil {
		return err
	}
	opened := s.tryOpen(ctx, password)
	if isSystemError(opened) {
		opened = s.openRestored(ctx, password, opened)
	}
	if opened == nil || !mayBeDamage(ctx, opened) {
		return opened
	}
	if s.opts.Password == "" && s.checkFormat(ctx, password) != nil {
		var err error
		if password, err = s.restoreKeys(); err != nil {
			return err
		}
		if opened = s.tryOpen(ctx, password); opened == nil {
			return nil
		}
	}
	if opened = s.openRestored(ctx, password, opened); opened == nil {
		return nil
	}
	bad, err := s.damagedIndexes(ctx, password)
	if err != nil {
		return errors.Join(opened, err)
	}
	if len(bad) == 0 {
		return opened
	}
	return s.repairIndexes(ctx, password, bad)
}

// openRestored puts metadata back from its copy, and opens the repository if there was any. Else
// it returns the error of the attempt before.
func (s *Store) openRestored(ctx context.Context, password string, before error) error {
	restored, err := s.metadata.restore(ctx, false)
	if err != nil || !restored {
		return errors.Join(before, err)
	}
	return s.tryOpen(ctx, password)
}

// restoreKeys puts the keys back from their copies, and returns the password.
func (s *Store) restoreKeys() (string, error) {
	back, err := restoreKeys(s.homeDir, s.stamp())
	if err != nil {
		return "", err
	}
	s.metadata.report(back)
	return readPassword(s.homeDir)
}

func (s *Store) tryOpen(ctx context.Context, password string) error {
	rep, err := openEngine(ctx, s.blobs, s.clock.Now, password)
	if err == nil {
		s.rep = rep
	}
	return err
}

// checkFormat returns nil if the password opens the format: then the keys are not damaged.
func (s *Store) checkFormat(ctx context.Context, password string) error {
	fm, err := format.NewManager(ctx, s.blobs, "", format.DefaultRepositoryBlobCacheDuration, password, s.clock.Now)
	if err == nil {
		_, err = fm.BlobCfgBlob(ctx)
	}
	return err
}

func (s *Store) stamp() string { return s.clock.Now().UTC().Format("20060102T150405") }

// repairIndexes opens the repository without its damaged index blobs, writes the entries of packs
// that no other index names, and sets the damaged blobs aside. If it is interrupted, it starts
// again: entries keep their times, so writing them twice changes nothing.
func (s *Store) repairIndexes(ctx context.Context, password string, bad []blob.ID) error {
	blobs := s.blobs
	s.blobs = &withoutBlobs{blobs, bad}
	err := s.tryOpen(ctx, password)
	if err == nil {
		err = recovery{s}.recoverIndex(ctx)
	}
	rep := s.rep
	s.blobs, s.rep = blobs, nil
	if rep != nil {
		err = errors.Join(err, rep.Close(ctx))
	}
	if err != nil {
		return err
	}
	for _, id := range bad {
		if err := s.setIndexAside(id); err != nil {
			return err
		}
		s.reportRepair("built a damaged index again from the packs: " + string(id))
	}
	if err := s.blobs.reloadListing(ctx); err != nil {
		return err
	}
	return s.tryOpen(ctx, password)
}

// setIndexAside moves a damaged index away. It is removed on purpose: its copy, which may be as
// damaged, must not bring it back.
func (s *Store) setIndexAside(id blob.ID) error {
	name := string(id) + blobSuffix
	done, err := s.metadata.mirror.Removing(name)
	if err != nil {
		return err
	}
	defer done()
	return setAside(s.homeDir, blobsDir, name, s.stamp())
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
		if isSystemError(err) || errors.Is(err, errIndexGone) {
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
