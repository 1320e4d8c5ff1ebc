package service

import (
	"context"

	"github.com/retake-dev/retake"
)

// lastSpace is Space with the size of the store as it was measured last. That looks at
// every file of the store, and who asks how things stand waits for the answer. A service
// that alone writes measures after every save; another one measures now.
func (s *Service) lastSpace(ctx context.Context) (retake.StoreState, error) {
	if !s.p.Exclusive {
		return s.Space(ctx)
	}
	s.bounds.mu.Lock()
	out, swept := s.bounds.seen.StoreState, s.bounds.seen.swept
	s.bounds.mu.Unlock()
	if out.Bytes == 0 || swept {
		st, err := s.store(ctx)
		if err != nil {
			return out, fault("the store cannot be measured", unchanged, err)
		}
		r, err := s.measure(ctx, st)
		return r.StoreState, fault("the store cannot be measured", unchanged, err)
	}
	var err error
	out.Free, out.Floor, err = s.room()
	return out, fault("the store cannot be measured", unchanged, err)
}

// swept says that the size is another one now.
func (b *bounds) swept() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen.swept = true
}
