package service

import (
	"context"

	"github.com/retake-dev/retake"
)

// cachedSpace is Space with the last measured size of the store, because measuring reads
// every file of it. An exclusive service measures after every save; another one measures
// now.
func (s *Service) cachedSpace(ctx context.Context) (retake.StoreState, error) {
	if !s.parts.Exclusive {
		return s.Space(ctx)
	}
	s.retention.mu.Lock()
	out, swept := s.retention.lastSpace.StoreState, s.retention.lastSpace.isStale
	s.retention.mu.Unlock()
	if out.Bytes == 0 || swept {
		st, err := s.store(ctx)
		if err != nil {
			return out, wrapError("the store cannot be measured", unchanged, err)
		}
		r, err := s.measureSpace(ctx, st)
		return r.StoreState, wrapError("the store cannot be measured", unchanged, err)
	}
	var err error
	out.Free, out.Floor, err = s.diskSpace()
	return out, wrapError("the store cannot be measured", unchanged, err)
}

// markSpaceStale records that the measured size is outdated.
func (b *retentionState) markSpaceStale() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastSpace.isStale = true
}
