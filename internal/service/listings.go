package service

import (
	"context"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
)

// maxListed bounds the entries that are kept of stored directories.
const maxListed = 50_000

// listings keeps stored directories that were listed: a plan, the plan that is applied
// and what is read back afterwards ask for the same ones, and they never change.
type listings struct {
	mu   sync.Mutex
	dirs map[retake.ObjectID][]retake.Entry // guarded by mu
	n    int                                // entries in dirs; guarded by mu
	most int                                // how many are kept; 0: maxListed
}

// over answers trees whose listings are kept.
func (l *listings) over(t store.Trees) store.Trees { return listed{t, l} }

type listed struct {
	store.Trees
	l *listings
}

// Dir answers what must not be changed.
func (t listed) Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error) {
	t.l.mu.Lock()
	known, ok := t.l.dirs[id]
	t.l.mu.Unlock()
	if ok {
		return known, nil
	}
	entries, err := t.Trees.Dir(ctx, id)
	if err != nil {
		return nil, err
	}
	t.l.keep(id, entries)
	return entries, nil
}

func (l *listings) keep(id retake.ObjectID, entries []retake.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.most
	if most == 0 {
		most = maxListed
	}
	if l.dirs == nil || l.n+len(entries) > most {
		l.dirs, l.n = map[retake.ObjectID][]retake.Entry{}, 0
	}
	l.dirs[id] = entries
	l.n += len(entries) + 1
}

func (l *listings) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dirs, l.n = nil, 0
}
