package kopia

import (
	"context"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/format"
)

// blobStore is the place where the blobs of one repository lie: a directory or a bucket.
// Beside what the engine asks of a storage it answers what the store must know.
//
// Every place keeps B1, tells the engine about index blobs from a listing, and refuses
// to publish an index while that listing is out of date.
type blobStore interface {
	blob.Storage

	// find lists the blobs whose names begin so, by name; index blobs from the listing.
	findBlobs(ctx context.Context, prefix blob.ID) ([]blob.Metadata, error)
	// renew reads the listing again. After an error it is as it was.
	reloadListing(ctx context.Context) error
	// prepare removes what an interrupted Create left. It refuses when files of
	// somebody may be among it.
	removePartial(ctx context.Context) error
	// whole answers why nothing is published any more, or nil.
	publishError() error
	// mend begins again after that; nobody may have packs under way.
	resetAfterError(ctx context.Context) error
	// keepMark makes sure that nobody's clock begins below t again, whose directory is
	// another or was lost.
	saveClockMark(ctx context.Context, t time.Time) error
	// sweepTemps removes what writers left half-written, when it is older than age.
	removeOldTemps(age time.Duration) error
	// strangers reads the index blobs and answers those that somebody else put there since
	// they were last read. Only where no lock keeps others away there may be some.
	foreignIndexes(ctx context.Context) ([]blob.ID, error)
	// room answers the bytes that are free.
	freeSpace() (int64, error)
	// cool forgets bytes that are kept in memory: the next reads are true ones.
	dropCache()
	// release gives back what the place holds open, after Close.
	releaseHandles() error
}

func isPack(id blob.ID) bool { return id[0] == 'p' || id[0] == 'q' }

func isIndex(id blob.ID) bool { return id != "" && id[0] == 'x' }

// isMarker: session markers speak only to other engines' garbage collection, which
// would find a lost marker no worse than a session that never wrote one.
func isMarker(id blob.ID) bool { return id[0] == 's' }

// repositoryExists reports whether a whole repository lies there. Create writes the format first
// and the index of the rules last: without either it was interrupted.
func repositoryExists(ctx context.Context, b blobStore) (bool, error) {
	indexes, err := b.findBlobs(ctx, "x")
	if err != nil || len(indexes) == 0 {
		return false, err
	}
	formats, err := b.findBlobs(ctx, format.KopiaRepositoryBlobID)
	return len(formats) > 0, err
}

func totalSize(found []blob.Metadata) int64 {
	var n int64
	for _, m := range found {
		n += m.Length
	}
	return n
}
