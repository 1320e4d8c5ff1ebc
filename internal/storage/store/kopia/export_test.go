package kopia

import (
	"context"
	"time"

	"github.com/kopia/kopia/repo/blob"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store/replica"
)

// Place returns the file in which the first bytes of an object lie, and where in it.
func (s *Store) Place(ctx context.Context, id retake.ObjectID) (name string, offset int64, err error) {
	if err := s.refresh(ctx); err != nil {
		return "", 0, err
	}
	oid, err := parseObject(id)
	if err != nil {
		return "", 0, err
	}
	v, err := s.newSession(ctx)
	if err != nil {
		return "", 0, err
	}
	defer v.Close(ctx) // nothing was written
	parts, err := partsOf(ctx, v, oid)
	if err != nil {
		return "", 0, err
	}
	first := parts[min(1, len(parts)-1)] // of a large object, the list of its parts comes before them
	i, err := v.ContentInfo(ctx, first)
	if err != nil {
		return "", 0, err
	}
	return string(i.PackBlobID) + blobSuffix, int64(i.PackOffset) + int64(i.PackedLength)/2, nil
}

// Retire makes the next session begin on a new view.
func (s *Store) Retire(ctx context.Context) error { return s.retireView(ctx) }

// Impatient makes a bucket be away after so long.
func Impatient(o Options, d time.Duration) Options {
	o.timeout = d
	return o
}

// Nearby reads blobs of a bucket through what is kept in memory, and returns how many bytes
// that holds.
func Nearby(blobs map[string][]byte) (read func(id string, offset, length int64) ([]byte, error), held func() int64) {
	var c blobCache
	return func(id string, offset, length int64) ([]byte, error) {
			var out readBuffer
			err := c.read(blob.ID(id), offset, length, &out, func(offset, length int64, out blob.OutputBuffer) error {
				b := blobs[id]
				if b == nil {
					return blob.ErrBlobNotFound
				}
				if length < 0 {
					length = int64(len(b))
				}
				from := min(offset, int64(len(b)))
				if _, err := out.Write(b[from:min(from+length, int64(len(b)))]); err != nil {
					return err
				}
				return blob.EnsureLengthExactly(out.Length(), length)
			})
			return out.Bytes(), err
		}, func() int64 {
			var n int64
			for _, e := range c.pages {
				n += int64(len(e.Value.(*cachePage).data))
			}
			if n != c.bytes || len(c.pages) != c.order.Len() {
				return -1
			}
			return n
		}
}

// SetReaderExit sets how long a wipe keeps writers waiting for readers.
func (s *Store) SetReaderExit(d time.Duration) { s.readerExit = d }

// ShortenTurns makes a sweep let writers in after every batch, however quickly it was copied.
func (s *Store) ShortenTurns() { s.shortTurns = true }

// SetWriterExit sets how long new writers wait for present ones, for a sweep.
func (s *Store) SetWriterExit(d time.Duration) { s.writerExit = d }

// HoldShared keeps sweeps out, as a scrub does.
func (s *Store) HoldShared(ctx context.Context) (release func(), err error) { return s.lockShared(ctx) }

// ReadIndexOfPack returns how many contents the index at the end of a pack of a copy tells of.
func (s *Store) ReadIndexOfPack(ctx context.Context, get replica.GetFunc, name string, size int64) (int, error) {
	c := &replicaCopy{s: s}
	shared, contents, err := c.openContents(ctx, newCopyBlobs(nil, get))
	if err != nil {
		return 0, err
	}
	defer shared.CloseShared(ctx) // only read
	in, err := contents.RecoverIndexFromPackBlob(ctx, blob.ID(name), size, false)
	return len(in), err
}

// NewReplicaSourceOfSmallPacks is NewReplicaSource with packs of this size.
func NewReplicaSourceOfSmallPacks(s *Store, size int) replica.Source { return replicaSource{s, size} }
