package kopia

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/blob/s3"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Bucket is an S3 bucket for the blobs of a store. It must be strongly consistent: what was
// written is read and listed by everybody at once.
type Bucket struct {
	Endpoint  string // host, or host:port
	Region    string // "": us-east-1
	Name      string
	Prefix    string // of the names of all blobs; a "/" is added when it does not end so
	AccessKey string
	SecretKey string
	Insecure  bool // http
	Observe   Observer
}

// validate refuses settings that the client would take from its environment.
func (b *Bucket) validate(password string) error {
	for _, x := range []struct{ what, is string }{
		{"an endpoint", b.Endpoint}, {"a name", b.Name}, {"an access key", b.AccessKey}, {"a secret key", b.SecretKey}, {"a password of the store", password},
	} {
		if x.is == "" {
			return &retake.Error{Kind: retake.Invalid, What: "the bucket needs " + x.what, Safe: "Nothing was changed."}
		}
	}
	return nil
}

// bucket is the blob storage of one repository in an object store.
//
// A put blob is durable once it is acknowledged, and complete or absent, so B1 holds by the
// order in which the engine puts. An index blob whose put got no answer is in doubt: it may
// exist, or appear later.
//
// The object store stamps blobs with its own clock, in whole seconds. Those times are compared
// only with each other (epochs), with two exceptions: startClock follows them, and a sweep
// keeps packs that are younger than its own start. A bucket whose clock is ahead therefore
// only delays the deletion of packs.
//
// Session markers are neither put nor deleted: they would cost two requests in every save, for
// other engines that are told by the policy not to maintain this repository and that spare
// packs of a day anyway.
type bucket struct {
	blob.DefaultProviderImplementation
	client  blob.Storage // the engine's own client, which repeats what goes wrong
	now     func() time.Time
	cache   blobCache
	windows windowCache
	listing blobListing

	timeout      time.Duration
	unresponsive atomic.Bool // the last request had no answer
}

var _ blobStore = (*bucket)(nil)

const defaultRegion = "us-east-1" // the client would ask for it before everything else

func newBucket(ctx context.Context, opts Options, now func() time.Time) (*bucket, error) {
	o := *opts.Bucket
	if o.Prefix != "" && !strings.HasSuffix(o.Prefix, "/") {
		o.Prefix += "/" // or a neighbour whose name begins the same would be ours too
	}
	if o.Region == "" {
		o.Region = defaultRegion
	}
	b := &bucket{now: now, timeout: responseTimeout, windows: windowCache{now: opts.Clock.Now}}
	if opts.timeout > 0 {
		b.timeout = opts.timeout
	}
	b.listing.now, b.listing.exclusive, b.listing.retryDelay, b.listing.want = opts.Clock.Now, opts.Exclusive, maxListingAge, isIndex
	b.listing.read = func(ctx context.Context) ([]blob.Metadata, error) { return b.listBucket(ctx, "x") }
	err := b.doRequest(ctx, smallRequest, func(ctx context.Context) (err error) {
		b.client, err = s3.New(ctx, &s3.Options{
			BucketName: o.Name, Prefix: o.Prefix, Endpoint: o.Endpoint, Region: o.Region, DoNotUseTLS: o.Insecure,
			AccessKeyID: o.AccessKey, SecretAccessKey: o.SecretKey,
		}, false)
		if err == nil && o.Observe != nil {
			b.client = observedBlobs{b.client, o.Observe}
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open bucket %s: %w", o.Name, err)
	}
	return b, nil
}

// PutBlob puts a blob and adds it to the listing. Session markers are not stored.
func (b *bucket) PutBlob(ctx context.Context, id blob.ID, data blob.Bytes, opts blob.PutOptions) error {
	if opts.HasRetentionOptions() || opts.DoNotRecreate {
		return blob.ErrUnsupportedPutBlobOption
	}
	if !opts.SetModTime.IsZero() {
		return blob.ErrSetTimeUnsupported
	}
	stamp := b.now()
	if !isMarker(id) {
		if err := b.putBlob(ctx, id, data); err != nil {
			return fmt.Errorf("put blob %s: %w", id, err)
		}
		stamp = b.listing.estimateTime()
		b.listing.add(blob.Metadata{BlobID: id, Length: int64(data.Length()), Timestamp: stamp})
	}
	if opts.GetModTime != nil { // to ask for it would be one more request
		*opts.GetModTime = stamp
	}
	return nil
}

func (b *bucket) putBlob(ctx context.Context, id blob.ID, data blob.Bytes) error {
	if isIndex(id) {
		if err := b.listing.staleError(); err != nil {
			return err
		}
	}
	err := b.doRequest(ctx, requestSizeOf(int64(data.Length())), func(ctx context.Context) error {
		return b.client.PutBlob(ctx, id, data, blob.PutOptions{})
	})
	if err != nil && isIndex(id) {
		b.listing.markInDoubt()
		return errors.Join(store.ErrInDoubt, err)
	}
	if err == nil {
		b.cache.putBlob(id, data)
	}
	return err
}

func (b *bucket) GetBlob(ctx context.Context, id blob.ID, offset, length int64, out blob.OutputBuffer) error {
	fetch := func(offset, length int64, out blob.OutputBuffer) error {
		return b.doRequest(ctx, requestSizeOf(length), func(ctx context.Context) error {
			return b.client.GetBlob(ctx, id, offset, length, out)
		})
	}
	if id[0] == 'p' {
		if out.Reset(); b.windows.read(id, offset, length, out, fetch) {
			return nil
		}
	}
	err := b.cache.read(id, offset, length, out, fetch)
	if errors.Is(err, blob.ErrBlobNotFound) && isIndex(id) {
		return fmt.Errorf("get blob %s: %w", id, errIndexGone)
	}
	return err
}

func (b *bucket) GetMetadata(ctx context.Context, id blob.ID) (m blob.Metadata, err error) {
	err = b.doRequest(ctx, smallRequest, func(ctx context.Context) error {
		m, err = b.client.GetMetadata(ctx, id)
		return err
	})
	return m, err
}

func (b *bucket) DeleteBlob(ctx context.Context, id blob.ID) error {
	if isMarker(id) {
		return nil
	}
	b.cache.removeBlob(id)
	err := b.doRequest(ctx, smallRequest, func(ctx context.Context) error { return b.client.DeleteBlob(ctx, id) })
	if err != nil {
		return fmt.Errorf("delete blob %s: %w", id, err)
	}
	b.listing.remove(id)
	return nil
}

func (b *bucket) ListBlobs(ctx context.Context, prefix blob.ID, cb func(blob.Metadata) error) error {
	found, err := b.findBlobs(ctx, prefix)
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

func (b *bucket) findBlobs(ctx context.Context, prefix blob.ID) ([]blob.Metadata, error) {
	if isIndex(prefix) {
		return b.listing.findBlobs(ctx, prefix)
	}
	return b.listBucket(ctx, prefix)
}

func (b *bucket) reloadListing(ctx context.Context) error { return b.listing.reload(ctx) }

func (b *bucket) FlushCaches(ctx context.Context) error { return b.reloadListing(ctx) }

// listBucket lists the bucket itself.
func (b *bucket) listBucket(ctx context.Context, prefix blob.ID) ([]blob.Metadata, error) {
	much := largeRequest
	if isIndex(prefix) {
		much = smallRequest
	}
	var found []blob.Metadata
	err := b.doRequest(ctx, much, func(ctx context.Context) error {
		found = nil
		return b.client.ListBlobs(ctx, prefix, func(m blob.Metadata) error {
			if !strings.Contains(string(m.BlobID), "/") { // the place of another store
				found = append(found, m)
			}
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	sort.Slice(found, func(i, j int) bool { return found[i].BlobID < found[j].BlobID })
	return found, nil
}

// removePartial removes what an interrupted Create left. It refuses if there may be other
// files among it.
func (b *bucket) removePartial(ctx context.Context) error {
	all, err := b.listBucket(ctx, "")
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.BlobID[0] == 'p' { // an interrupted Create has written no files of anybody
			return fmt.Errorf("blobs are there and no index that names them: %w", store.ErrDamaged)
		}
	}
	for _, m := range all {
		if err := b.DeleteBlob(ctx, m.BlobID); err != nil {
			return fmt.Errorf("clear a half-made store: %w", err)
		}
	}
	return b.reloadListing(ctx)
}

// publishError returns nil: after a failed put the next one may succeed.
func (b *bucket) publishError() error { return nil }

func (b *bucket) resetAfterError(ctx context.Context) error { return b.reloadListing(ctx) }

// saveClockMark writes the new mark before it removes those that it replaces.
func (b *bucket) saveClockMark(ctx context.Context, t time.Time) error {
	old, err := b.findBlobs(ctx, clockMarkPrefix)
	if err != nil {
		return err
	}
	id := clockMarkID(t)
	for _, m := range old {
		if at, ok := parseClockMark(m.BlobID); ok && !at.Before(t) {
			return nil
		}
	}
	if err := b.PutBlob(ctx, id, textBlob("clock\n"), blob.PutOptions{}); err != nil {
		return err
	}
	for _, m := range old {
		if err := b.DeleteBlob(ctx, m.BlobID); err != nil {
			return err
		}
	}
	return nil
}

func (b *bucket) removeOldTemps(time.Duration) error { return nil } // a put is whole or absent

func (b *bucket) foreignIndexes(ctx context.Context) ([]blob.ID, error) {
	return b.listing.foreignBlobs(ctx)
}

func (b *bucket) freeSpace() (int64, error) { return math.MaxInt64, nil }

func (b *bucket) dropCache() {
	b.cache.clearAll()
	b.windows.clearAll()
}

func (b *bucket) releaseHandles() error { return nil }

func (b *bucket) ConnectionInfo() blob.ConnectionInfo {
	return blob.ConnectionInfo{Type: storageType, Config: &storageOptions{}}
}

func (b *bucket) DisplayName() string { return "retake" }
