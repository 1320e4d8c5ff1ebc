package workspace

import (
	"context"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// maxCachedEntries bounds the entries that a dirCache keeps by default.
const maxCachedEntries = 50_000

// DirCache keeps stored directories that were read: a plan, its application and the
// verification afterwards read the same ones, and they never change.
type DirCache struct {
	mu         sync.Mutex
	dirs       map[retake.ObjectID][]retake.Entry // guarded by mu
	entryCount int                                // entries in dirs; guarded by mu
	MaxEntries int                                // 0: maxCachedEntries
}

// WrapTrees returns trees that read through the cache.
func (l *DirCache) WrapTrees(t store.Trees) store.Trees { return cachedTrees{t, l} }

// cachedTrees reads directories through a dirCache.
type cachedTrees struct {
	store.Trees
	cache *DirCache
}

// Dir returns a directory. The caller must not modify the entries.
func (t cachedTrees) Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error) {
	t.cache.mu.Lock()
	known, ok := t.cache.dirs[id]
	t.cache.mu.Unlock()
	if ok {
		return known, nil
	}
	entries, err := t.Trees.Dir(ctx, id)
	if err != nil {
		return nil, err
	}
	t.cache.put(id, entries)
	return entries, nil
}

// put adds a directory. A full cache is emptied first.
func (l *DirCache) put(id retake.ObjectID, entries []retake.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.MaxEntries
	if most == 0 {
		most = maxCachedEntries
	}
	if l.dirs == nil || l.entryCount+len(entries) > most {
		l.dirs, l.entryCount = map[retake.ObjectID][]retake.Entry{}, 0
	}
	l.dirs[id] = entries
	l.entryCount += len(entries) + 1
}

func (l *DirCache) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirs, l.entryCount = nil, 0
}
