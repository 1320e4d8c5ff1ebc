package kopia

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/format"

	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// CopyOptions say what a copy has, as its head does.
type CopyOptions struct {
	Indexes []replica.Index
	Clock   time.Time // of the head
	Get     replica.GetFunc
	Packs   map[string]int64 // that are there, with their sizes, for a check; nil: nobody listed them
}

// copyBlobs is the storage of a copy as its head describes it: indexes are where the head says, whether
// they are objects or parts of packs, and nothing else is listed. What the engine puts is kept in memory
// until it is taken: it is on its way to the copy, or thrown away.
type copyBlobs struct {
	blob.DefaultProviderImplementation
	get   replica.GetFunc
	packs map[string]int64 // it never changes

	mu      sync.Mutex
	indexes map[blob.ID]replica.Index // guarded by mu
	added   map[blob.ID][]byte        // guarded by mu
}

var _ blobStore = (*copyBlobs)(nil)

func newCopyBlobs(indexes []replica.Index, get replica.GetFunc) *copyBlobs {
	b := &copyBlobs{get: get, added: map[blob.ID][]byte{}}
	b.useIndexes(indexes)
	return b
}

// useIndexes replaces the list of indexes.
func (b *copyBlobs) useIndexes(indexes []replica.Index) {
	by := make(map[blob.ID]replica.Index, len(indexes))
	for _, x := range indexes {
		by[blob.ID(x.Name)] = x
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.indexes = by
}

// takeAdded returns what was put, and forgets it.
func (b *copyBlobs) takeAdded() map[blob.ID][]byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.added
	b.added = map[blob.ID][]byte{}
	return out
}

// find returns what is known of a blob: its bytes if it was put here, else where its index is.
func (b *copyBlobs) find(id blob.ID) (added []byte, x replica.Index, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if added, ok = b.added[id]; ok {
		return added, x, true
	}
	x, ok = b.indexes[id]
	return nil, x, ok
}

func (b *copyBlobs) GetBlob(ctx context.Context, id blob.ID, offset, length int64, out blob.OutputBuffer) error {
	out.Reset()
	added, x, known := b.find(id)
	switch {
	case added != nil:
		x.Length = int64(len(added))
	case isIndex(id) && !known:
		return fmt.Errorf("get blob %s: %w", id, blob.ErrBlobNotFound)
	case !known:
		x.Length = math.MaxInt64
	}
	if offset < 0 || offset > x.Length || length > x.Length-offset {
		return blob.ErrInvalidRange
	}
	if length < 0 && known {
		length = x.Length - offset
	}
	if added != nil {
		_, err := out.Write(added[offset : offset+length])
		return err
	}
	data, err := b.getFrom(ctx, id, x, offset, length)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

// getFrom reads a blob where it is: an object, or a part of a pack.
func (b *copyBlobs) getFrom(ctx context.Context, id blob.ID, x replica.Index, offset, length int64) ([]byte, error) {
	name := string(id)
	if x.Pack != "" {
		name, offset = x.Pack, x.Offset+offset
	}
	data, err := b.get(ctx, name, offset, length)
	if err != nil {
		return nil, copyError(id, err)
	}
	if length >= 0 && int64(len(data)) != length {
		return nil, fmt.Errorf("get blob %s: %d bytes of %d: %w", id, len(data), length, blob.ErrInvalidRange)
	}
	return data, nil
}

// copyError says that a blob is missing as the engine says it. For an index it would try again for a minute.
func copyError(id blob.ID, err error) error {
	if errors.Is(err, replica.ErrMissing) && !isIndex(id) {
		err = errors.Join(blob.ErrBlobNotFound, err)
	}
	return fmt.Errorf("get blob %s: %w", id, err)
}

func (b *copyBlobs) GetMetadata(_ context.Context, id blob.ID) (blob.Metadata, error) {
	if added, x, ok := b.find(id); ok {
		return blob.Metadata{BlobID: id, Length: max(int64(len(added)), x.Length)}, nil
	}
	if size, ok := b.packs[string(id)]; ok {
		return blob.Metadata{BlobID: id, Length: size}, nil
	}
	return blob.Metadata{}, blob.ErrBlobNotFound
}

// PutBlob keeps a blob until it is taken.
func (b *copyBlobs) PutBlob(_ context.Context, id blob.ID, data blob.Bytes, opts blob.PutOptions) error {
	var buf bytes.Buffer
	if _, err := data.WriteTo(&buf); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.added[id] = buf.Bytes()
	if opts.GetModTime != nil {
		*opts.GetModTime = time.Time{}
	}
	return nil
}

// DeleteBlob forgets what was put. Of the copy itself nothing is deleted here.
func (b *copyBlobs) DeleteBlob(_ context.Context, id blob.ID) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.added, id)
	return nil
}

func (b *copyBlobs) ListBlobs(ctx context.Context, prefix blob.ID, cb func(blob.Metadata) error) error {
	found, err := b.findBlobs(ctx, prefix)
	for _, m := range found {
		if err := cb(m); err != nil {
			return err
		}
	}
	return err
}

// findBlobs lists the indexes. The two blobs of the format are always there; packs are found by the
// indexes only.
func (b *copyBlobs) findBlobs(_ context.Context, prefix blob.ID) ([]blob.Metadata, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []blob.Metadata
	add := func(id blob.ID, length int64) {
		if strings.HasPrefix(string(id), string(prefix)) {
			out = append(out, blob.Metadata{BlobID: id, Length: length})
		}
	}
	add(format.KopiaBlobCfgBlobID, 0)
	add(format.KopiaRepositoryBlobID, 0)
	for id, x := range b.indexes {
		add(id, x.Length)
	}
	for id, data := range b.added {
		add(id, int64(len(data)))
	}
	slices.SortFunc(out, func(a, b blob.Metadata) int { return strings.Compare(string(a.BlobID), string(b.BlobID)) })
	return out, nil
}

// A copy is not written through its storage: these have nothing to do.

func (b *copyBlobs) reloadListing(context.Context) error               { return nil }
func (b *copyBlobs) removePartial(context.Context) error               { return errCopyIsRead }
func (b *copyBlobs) publishError() error                               { return errCopyIsRead }
func (b *copyBlobs) resetAfterError(context.Context) error             { return errCopyIsRead }
func (b *copyBlobs) saveClockMark(context.Context, time.Time) error    { return nil }
func (b *copyBlobs) removeOldTemps(time.Duration) error                { return nil }
func (b *copyBlobs) foreignIndexes(context.Context) ([]blob.ID, error) { return nil, nil }
func (b *copyBlobs) freeSpace() (int64, error)                         { return math.MaxInt64, nil }
func (b *copyBlobs) dropCache()                                        {}
func (b *copyBlobs) releaseHandles() error                             { return nil }
func (b *copyBlobs) DisplayName() string                               { return "copy" }
func (b *copyBlobs) ConnectionInfo() blob.ConnectionInfo {
	return blob.ConnectionInfo{Type: storageType, Config: &storageOptions{}}
}

var errCopyIsRead = errors.New("a copy is only read")
