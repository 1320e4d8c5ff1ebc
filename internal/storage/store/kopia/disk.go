package kopia

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/mirror"
)

// blobSuffix and shardsFile are the stock disk layout; with these parameters all blobs are in one
// directory, so that one sync makes all their names durable.
const (
	blobSuffix   = ".f"
	shardsFile   = ".shards"
	shardsConfig = `{"default":[],"maxNonShardedLength":20}` + "\n"
)

// A long capture writes many packs before its index; they are synced in rounds
// of this size, to bound open files and the burst at the end.
const maxUnsynced = 32

// disk is the blob storage of one repository in one directory.
//
// Packs are renamed into place at once and synced together with the index that names them,
// before that index gets its name: on ext4, xfs and btrfs the sync of a file also carries the
// renames done to it. Then the directory is synced, and only then does PutBlob of an index
// return. After a failed sync the kernel may have dropped the pages, so nothing is published
// any more.
type disk struct {
	blob.DefaultProviderImplementation
	dir       fsx.Dir
	mirror    *mirror.Mirror
	diskSpace func() (free, total int64, err error)
	now       func() time.Time

	mu        sync.Mutex // held while syncing: a publisher waits for packs that another publisher took
	unsynced  []fsx.File // guarded by mu
	syncError error      // guarded by mu

	listing blobListing
}

var _ blobStore = (*disk)(nil)

// newDisk returns the disk in a directory. now stamps its blobs; wall measures the age of the
// listing.
func newDisk(dir fsx.Dir, m *mirror.Mirror, free func() (int64, int64, error), now, wall func() time.Time, sole bool) *disk {
	d := &disk{dir: dir, mirror: m, diskSpace: free, now: now}
	d.listing.now, d.listing.exclusive, d.listing.want = wall, sole, isListed
	d.listing.read = func(context.Context) ([]blob.Metadata, error) { return readBlobs(dir, isListed) }
	return d
}

func isListed(id blob.ID) bool { return id != "" && (id[0] == 'x' || id[0] == 's') }

// errIndexGone means that a listed index blob is gone because a sweep has replaced it. The
// engine would retry for a minute; we list again instead.
var errIndexGone = errors.New("replaced since it was listed")

const maxListTries = 5

// PutBlob writes a blob to a temporary file and publishes it.
func (d *disk) PutBlob(_ context.Context, id blob.ID, data blob.Bytes, opts blob.PutOptions) error {
	if opts.HasRetentionOptions() || opts.DoNotRecreate {
		return blob.ErrUnsupportedPutBlobOption
	}
	stamp := d.now()
	if !opts.SetModTime.IsZero() {
		stamp = opts.SetModTime
	}
	tmp := string(id) + ".tmp." + rand.Text()[:12]
	f, err := d.writeTemp(tmp, data, stamp)
	if err != nil {
		return d.removeTemp(tmp, fmt.Errorf("write blob %s: %w", id, err))
	}
	if err := d.publishBlob(id, tmp, f); err != nil {
		return d.removeTemp(tmp, fmt.Errorf("publish blob %s: %w", id, err))
	}
	d.mirror.Added(string(id) + blobSuffix)
	d.listing.add(blob.Metadata{BlobID: id, Length: int64(data.Length()), Timestamp: stamp})
	if opts.GetModTime != nil {
		*opts.GetModTime = stamp
	}
	return nil
}

func (d *disk) writeTemp(tmp string, data blob.Bytes, stamp time.Time) (fsx.File, error) {
	f, err := d.dir.Create(tmp, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = data.WriteTo(f); err == nil {
		err = f.SetMtime(stamp.UnixNano())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// removeTemp removes the rest of a failed write. A sweep removes what it cannot.
func (d *disk) removeTemp(tmp string, cause error) error {
	if err := d.dir.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(cause, err)
	}
	return cause
}

// publishBlob renames a blob into place. An index gets its name only after all packs before
// it are durable (B1); then the directory is synced.
func (d *disk) publishBlob(id blob.ID, tmp string, f fsx.File) error {
	name := string(id) + blobSuffix
	switch {
	case isPack(id):
		if err := d.dir.Rename(tmp, d.dir, name); err != nil {
			return errors.Join(err, f.Close())
		}
		return d.addUnsynced(f)
	case isMarker(id):
		return errors.Join(f.Close(), d.dir.Rename(tmp, d.dir, name))
	}
	if err := d.listing.staleError(); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := d.syncPacksAnd(f); err != nil {
		return err
	}
	if err := d.dir.Rename(tmp, d.dir, name); err != nil {
		return err
	}
	// The name stays when its sync is refused: others may lean on it already. The
	// seal is then in doubt: not acknowledged, and perhaps there, whole.
	if err := d.dir.Sync(); err != nil {
		return d.markBroken(err)
	}
	return nil
}

func (d *disk) addUnsynced(f fsx.File) error {
	d.mu.Lock()
	d.unsynced = append(d.unsynced, f)
	n := len(d.unsynced)
	d.mu.Unlock()
	if n < maxUnsynced {
		return nil
	}
	return d.syncPacksAnd(nil)
}

// syncPacksAnd syncs all unsynced packs and f, and closes them.
func (d *disk) syncPacksAnd(f fsx.File) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	files := d.unsynced
	d.unsynced = nil
	if f != nil {
		files = append(files, f)
	}
	var g errgroup.Group
	for _, f := range files {
		g.Go(func() error {
			return errors.Join(f.Sync(), f.Close())
		})
	}
	if err := g.Wait(); err != nil && d.syncError == nil {
		d.syncError = fmt.Errorf("sync: %w", err)
	}
	return d.syncError
}

// publishError returns why nothing can be published any more, or nil.
func (d *disk) publishError() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.syncError
}

// resetAfterError starts again after a failed sync. Nobody may have unpublished packs: they
// were closed with the writers that published no index. The directory is listed again, because
// it may contain a name that was not acknowledged.
func (d *disk) resetAfterError(ctx context.Context) error {
	if err := d.dir.Sync(); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := d.reloadListing(ctx); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range d.unsynced {
		_ = f.Close() // named by no index
	}
	d.unsynced, d.syncError = nil, nil
	return nil
}

func (d *disk) markBroken(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.syncError == nil {
		d.syncError = fmt.Errorf("sync directory: %w", errors.Join(store.ErrInDoubt, err))
	}
	return d.syncError
}

func (d *disk) GetBlob(_ context.Context, id blob.ID, offset, length int64, out blob.OutputBuffer) error {
	out.Reset()
	f, err := d.dir.OpenFile(string(id) + blobSuffix)
	if errors.Is(err, fs.ErrNotExist) && id[0] == 'x' {
		return fmt.Errorf("open blob %s: %w", id, errIndexGone)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return blob.ErrBlobNotFound
	}
	if err != nil {
		return fmt.Errorf("open blob %s: %w", id, err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	if length < 0 {
		_, err = io.Copy(out, f)
	} else {
		_, err = io.Copy(out, io.NewSectionReader(f, offset, length))
	}
	if err != nil {
		return fmt.Errorf("read blob %s: %w", id, err)
	}
	return blob.EnsureLengthExactly(out.Length(), length)
}

func (d *disk) GetMetadata(_ context.Context, id blob.ID) (blob.Metadata, error) {
	i, err := d.dir.Lstat(string(id) + blobSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return blob.Metadata{}, blob.ErrBlobNotFound
	}
	if err != nil {
		return blob.Metadata{}, fmt.Errorf("stat blob %s: %w", id, err)
	}
	return blob.Metadata{BlobID: id, Length: i.Size, Timestamp: time.Unix(0, i.Mtime)}, nil
}

func (d *disk) findBlobs(ctx context.Context, prefix blob.ID) ([]blob.Metadata, error) {
	if isListed(prefix) {
		return d.listing.findBlobs(ctx, prefix)
	}
	return readBlobs(d.dir, func(id blob.ID) bool { return strings.HasPrefix(string(id), string(prefix)) })
}

func (d *disk) reloadListing(ctx context.Context) error { return d.listing.reload(ctx) }

func (d *disk) ListBlobs(ctx context.Context, prefix blob.ID, cb func(blob.Metadata) error) error {
	found, err := d.findBlobs(ctx, prefix)
	if err != nil {
		return fmt.Errorf("list blobs %s*: %w", prefix, err)
	}
	for _, m := range found {
		if err := cb(m); err != nil {
			return err
		}
	}
	return nil
}

// FlushCaches is called when a listed index blob is gone because another process replaced it.
func (d *disk) FlushCaches(ctx context.Context) error { return d.reloadListing(ctx) }

// DeleteBlob removes a blob. The engine deletes a session marker after its index is published:
// if that fails, the next sweep removes it, and the seal stands.
func (d *disk) DeleteBlob(_ context.Context, id blob.ID) error {
	name := string(id) + blobSuffix
	done, err := d.mirror.Removing(name)
	if err != nil {
		return err
	}
	defer done()
	err = d.dir.Remove(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !isMarker(id) {
		return fmt.Errorf("delete blob %s: %w", id, err)
	}
	d.listing.remove(id)
	return nil
}

func (d *disk) Close(context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, f := range d.unsynced { // packs that no index names: garbage
		errs = append(errs, f.Close())
	}
	d.unsynced = nil
	return errors.Join(errs...)
}

func (d *disk) GetCapacity(context.Context) (blob.Capacity, error) {
	free, total, err := d.diskSpace()
	if err != nil {
		return blob.Capacity{}, fmt.Errorf("ask for room: %w", err)
	}
	return blob.Capacity{SizeB: uint64(total), FreeB: uint64(free)}, nil
}

func (d *disk) ConnectionInfo() blob.ConnectionInfo {
	return blob.ConnectionInfo{Type: storageType, Config: &storageOptions{}}
}

func (d *disk) DisplayName() string { return "retake" }
