package maintenance

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// CachedSpace is Space with the last measured size of the store, because measuring reads
// every file of it. An exclusive service measures after every save; another one measures
// now.
func (s *Maintenance) CachedSpace(ctx context.Context) (retake.StoreState, error) {
	if !s.workspaces.Exclusive {
		return s.Space(ctx)
	}
	s.retention.mu.Lock()
	out, swept := s.retention.lastSpace.StoreState, s.retention.lastSpace.isStale
	s.retention.mu.Unlock()
	if out.Bytes == 0 || swept {
		st, err := s.workspaces.Store(ctx)
		if err != nil {
			return out, workspace.WrapError("the store cannot be measured", workspace.Unchanged, err)
		}
		r, err := s.measureSpace(ctx, st)
		return r.StoreState, workspace.WrapError("the store cannot be measured", workspace.Unchanged, err)
	}
	var err error
	out.Free, out.Floor, err = s.workspaces.DiskSpace()
	return out, workspace.WrapError("the store cannot be measured", workspace.Unchanged, err)
}

// markSpaceStale records that the measured size is outdated.
func (b *retentionState) markSpaceStale() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lastSpace.isStale = true
}
