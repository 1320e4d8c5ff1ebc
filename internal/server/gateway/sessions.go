package gateway

import (
	"context"
	"sync"
	"time"

	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// sessions knows which sessions of the console were ended. It asks the ledger once per keyCacheAge: after
// that time, every server refuses an ended session, as it does a revoked key.
type sessions struct {
	mu      sync.Mutex
	entries map[string]sessionState // guarded by mu; by the ID of the session
}

type sessionState struct {
	ended  bool
	readAt time.Time
}

func (s *sessions) end(ctx context.Context, book serverdb.Book, of session) error {
	if of.ID == "" { // of a version that gave them none
		return nil
	}
	if err := book.EndSession(ctx, of.ID, of.Until); err != nil {
		return err
	}
	s.forget(of.ID)
	return nil
}

func (s *sessions) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, id)
}

func (s *sessions) hasEnded(ctx context.Context, book serverdb.Book, of session, now time.Time) (bool, error) {
	s.mu.Lock()
	known, ok := s.entries[of.ID]
	s.mu.Unlock()
	if ok && now.Sub(known.readAt) < keyCacheAge {
		return known.ended, nil
	}
	ended, err := book.HasSessionEnded(ctx, of.ID)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.entries) >= maxCacheEntries {
		clear(s.entries)
	}
	s.entries[of.ID] = sessionState{ended, now}
	return ended, nil
}
