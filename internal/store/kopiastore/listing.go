package kopiastore

import (
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/kopia/kopia/repo/blob"

	"github.com/retake-dev/retake/internal/fsx"
)

// listing remembers the index blobs and session markers of the directory. The
// engine asks for them six times in each flush. Between two readings it knows the
// directory as it was then, and our own changes since.
//
// What other processes add must show soon: the engine decides by it in which epoch
// it writes, and whether that epoch is over already. An index blob in an epoch that
// others have compacted is never read again. So a listing is read again when it is
// a few seconds old, which is nothing beside an epoch.
//
// The engine repeats a listing that did not work for ever. Therefore begin, refresh
// and sweep read it by renew, whose error we see; one that cannot be read again
// serves on, and no index is published by it.
type listing struct {
	now   func() time.Time
	sole  bool // nobody else adds or removes: what was read once is kept
	mu    sync.Mutex
	at    time.Time                 // guarded by mu; when it was read
	stale error                     // guarded by mu; why it could not be read again
	known map[blob.ID]blob.Metadata // guarded by mu; nil: not read yet
	order []blob.ID                 // guarded by mu; known, sorted; nil: not sorted yet
}

const listingAge = 5 * time.Second

// trouble answers why the listing is out of date, if it is.
func (l *listing) trouble() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stale
}

func remembered(id blob.ID) bool { return id != "" && (id[0] == 'x' || id[0] == 's') }

func (l *listing) put(m blob.Metadata) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || !remembered(m.BlobID) {
		return
	}
	if _, ok := l.known[m.BlobID]; !ok {
		l.order = nil
	}
	l.known[m.BlobID] = m
}

func (l *listing) drop(id blob.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.known[id]; ok {
		delete(l.known, id)
		l.order = nil
	}
}

// renew reads the directory. After an error the listing is as it was.
func (l *listing) renew(dir fsx.Dir) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.read(dir)
}

func (l *listing) read(dir fsx.Dir) error {
	all, err := readBlobs(dir, remembered)
	if err != nil {
		return fmt.Errorf("list blobs: %w", err)
	}
	l.known, l.order, l.at, l.stale = make(map[blob.ID]blob.Metadata, len(all)), nil, l.now(), nil
	for _, m := range all {
		l.known[m.BlobID] = m
	}
	return nil
}

func (l *listing) find(prefix blob.ID, dir fsx.Dir) ([]blob.Metadata, error) {
	if !remembered(prefix) {
		return readBlobs(dir, func(id blob.ID) bool { return strings.HasPrefix(string(id), string(prefix)) })
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || !l.sole && l.now().Sub(l.at) > listingAge {
		err := l.read(dir)
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

func readBlobs(dir fsx.Dir, want func(blob.ID) bool) ([]blob.Metadata, error) {
	names, err := dir.Names()
	if err != nil {
		return nil, err
	}
	var out []blob.Metadata
	for _, n := range names {
		id, ok := strings.CutSuffix(n, suffix)
		if !ok || id == "" || !want(blob.ID(id)) {
			continue
		}
		i, err := dir.Lstat(n)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed since it was listed
		}
		if err != nil {
			return nil, err
		}
		out = append(out, blob.Metadata{BlobID: blob.ID(id), Length: i.Size, Timestamp: time.Unix(0, i.Mtime)})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].BlobID < out[j].BlobID })
	return out, nil
}
