package kopia

import (
	"context"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/format"
)

// blobStore holds the blobs of one repository, in a directory or a bucket. It is the engine's
// storage plus what the store needs.
//
// Every implementation keeps B1, lists index blobs from a cached listing, and refuses to
// publish an index while that listing is out of date.
type blobStore interface {
	blob.Storage

	// findBlobs lists the blobs with a prefix, by name; index blobs come from the listing.
	findBlobs(ctx context.Context, prefix blob.ID) ([]blob.Metadata, error)
	// reloadListing reads the listing again. After an error it is unchanged.
	reloadListing(ctx context.Context) error
	// removePartial removes what an interrupted Create left. It refuses if there may be other
	// files among it.
	removePartial(ctx context.Context) error
	// publishError returns why nothing can be published any more, or nil.
	publishError() error
	// resetAfterError starts again after such an error. Nobody may have unpublished packs.
	resetAfterError(ctx context.Context) error
	// saveClockMark ensures that no clock starts below t again, even if its directory is
	// another one or was lost.
	saveClockMark(ctx context.Context, t time.Time) error
	// removeOldTemps removes half-written files that are older than age.
	removeOldTemps(age time.Duration) error
	// foreignIndexes reads the index blobs and returns those that another process added since
	// the last reading. There can be some only where no lock keeps others away.
	foreignIndexes(ctx context.Context) ([]blob.ID, error)
	// freeSpace returns the number of free bytes.
	freeSpace() (int64, error)
	// dropCache forgets cached bytes, so that the next reads reach the storage.
	dropCache()
	// releaseHandles closes what is still open after Close.
	releaseHandles() error
}

func isPack(id blob.ID) bool { return id[0] == 'p' || id[0] == 'q' }

func isIndex(id blob.ID) bool { return id != "" && id[0] == 'x' }

// isMarker reports whether a blob is a session marker. Markers concern only the garbage
// collection of other engines; losing one is no worse than a session that never wrote one.
func isMarker(id blob.ID) bool { return id[0] == 's' }

// repositoryExists reports whether there is a complete repository. Create writes the format
// first and the index of the policy last: if either is missing, it was interrupted.
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
