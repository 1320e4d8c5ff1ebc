package kopia

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/kopia/kopia/repo/blob"
)

// blobListing caches the names of index blobs, and for a disk also of session markers. The
// engine asks for them six times in each flush. Between two readings it consists of what was
// read and our own changes since.
//
// Changes of other processes must show soon: the engine decides by them in which epoch it
// writes, and whether that epoch is already closed. An index blob in an epoch that others have
// compacted is never read again. So a listing is read again after a few seconds, which is
// short compared to an epoch.
//
// The engine retries a failed listing forever. Therefore Begin, refresh and Sweep call reload,
// whose error we see. A listing that cannot be read again remains in use, but no index is
// published by it.
type blobListing struct {
	now        func() time.Time // the wall clock: one that is held back would let the listing go stale
	exclusive  bool             // nobody else adds or removes: what was read once is kept
	retryDelay time.Duration    // after a reading that did not work; 0: the next question reads again
	want       func(blob.ID) bool
	read       func(context.Context) ([]blob.Metadata, error) // all that is wanted

	mu      sync.Mutex
	readAt  time.Time                 // guarded by mu; when it was read
	triedAt time.Time                 // guarded by mu; when it was last to be read
	newest  time.Time                 // guarded by mu; among what was read
	stale   error                     // guarded by mu; why it could not be read again
	inDoubt bool                      // guarded by mu; one of our own blobs may be missing in it
	known   map[blob.ID]blob.Metadata // guarded by mu; nil: not read yet
	order   []blob.ID                 // guarded by mu; known, sorted; nil: not sorted yet
}

const maxListingAge = 5 * time.Second

// staleError returns why the listing is out of date, or nil.
func (l *blobListing) staleError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stale
}

func (l *blobListing) add(m blob.Metadata) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || !l.want(m.BlobID) {
		return
	}
	if _, ok := l.known[m.BlobID]; !ok {
		l.order = nil
	}
	l.known[m.BlobID] = m
}

func (l *blobListing) remove(id blob.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.known[id]; ok {
		delete(l.known, id)
		l.order = nil
	}
}

// markInDoubt makes the next query read the listing again, also in an exclusive store.
func (l *blobListing) markInDoubt() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inDoubt, l.triedAt = true, time.Time{}
}

// estimateTime returns the time of a blob that is put now, by the clock of the storage. It may
// be behind that clock but never ahead of it: an epoch then looks shorter than it is, never
// longer.
func (l *blobListing) estimateTime() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if l.newest.IsZero() || now.Before(l.readAt) {
		return now
	}
	return l.newest.Add(now.Sub(l.readAt))
}

// reload reads the listing. After an error it is unchanged.
func (l *blobListing) reload(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reloadLocked(ctx)
}

func (l *blobListing) reloadLocked(ctx context.Context) error {
	at := l.now()
	all, err := l.read(ctx)
	l.triedAt = l.now()
	if err != nil {
		return fmt.Errorf("list blobs: %w", err)
	}
	l.known, l.order, l.readAt, l.newest, l.stale, l.inDoubt = make(map[blob.ID]blob.Metadata, len(all)), nil, at, time.Time{}, nil, false
	for _, m := range all {
		l.known[m.BlobID] = m
		if m.Timestamp.After(l.newest) {
			l.newest = m.Timestamp
		}
	}
	return nil
}

// foreignBlobs reads the listing and returns the blobs that were neither there before nor put
// by us. They are returned again the next time. While one of our own puts is in doubt, it
// cannot be distinguished from a foreign one.
func (l *blobListing) foreignBlobs(ctx context.Context) ([]blob.ID, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, sure := l.known, l.exclusive && l.known != nil && !l.inDoubt
	if err := l.reloadLocked(ctx); err != nil || !sure {
		return nil, err
	}
	var found []blob.ID
	for id := range l.known {
		if _, ok := before[id]; !ok {
			found = append(found, id)
		}
	}
	for _, id := range found {
		delete(l.known, id)
	}
	sort.Slice(found, func(i, j int) bool { return found[i] < found[j] })
	return found, nil
}

// isDue reports whether the listing must be read again before it is used.
func (l *blobListing) isDue() bool {
	if l.known == nil {
		return true
	}
	now := l.now()
	if l.stale != nil && now.Sub(l.triedAt) < l.retryDelay && !now.Before(l.triedAt) {
		return false
	}
	age := now.Sub(l.readAt)
	return l.inDoubt || !l.exclusive && (age > maxListingAge || age < 0)
}

// findBlobs returns the known blobs with the prefix, by name.
func (l *blobListing) findBlobs(ctx context.Context, prefix blob.ID) ([]blob.Metadata, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isDue() {
		// A caller that gives up must not leave the others with a stale listing.
		err := l.reloadLocked(context.WithoutCancel(ctx))
		if err != nil && l.known == nil {
			return nil, err
		}
		l.stale = err
	}
	if l.order == nil {
		l.order = make([]blob.ID, 0, len(l.known))
		for id := range l.known {
			l.order = append(l.order, id)
		}
		sort.Slice(l.order, func(i, j int) bool { return l.order[i] < l.order[j] })
	}
	var found []blob.Metadata
	for i := sort.Search(len(l.order), func(i int) bool { return l.order[i] >= prefix }); i < len(l.order); i++ {
		if !strings.HasPrefix(string(l.order[i]), string(prefix)) {
			break
		}
		found = append(found, l.known[l.order[i]])
	}
	return found, nil
}
