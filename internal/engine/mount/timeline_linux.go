package mount

import (
	"context"
	"sync"
	"time"

	"github.com/retake-dev/retake"
)

const (
	pageSize        = 500
	refreshInterval = time.Second // between two looks at the timeline
	maxNameLen      = 255
)

// checkpointList knows which folders and links exist.
type checkpointList struct {
	opts Options

	mu          sync.Mutex
	refreshedAt time.Time                      // guarded by mu: of the last look
	checkpoints []retake.Checkpoint            // guarded by mu: all, the newest first
	names       map[retake.CheckpointID]string // guarded by mu: of everything ever seen, so that a name stays
	usedNames   map[string]bool                // guarded by mu
	listing     *rootListing                   // guarded by mu; nil before the first look
}

// rootListing is what the root shows. It is immutable.
type rootListing struct {
	folders map[string]retake.Checkpoint
	links   map[string]string // to the name of a folder
	order   []string          // of both
	newest  time.Time
}

func newCheckpointList(o Options) *checkpointList {
	return &checkpointList{opts: o, names: map[retake.CheckpointID]string{}, usedNames: map[string]bool{latestName: true}}
}

// current returns the listing, refreshed if it is older than refreshInterval.
func (t *checkpointList) current(ctx context.Context) (*rootListing, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.opts.Clock.Now()
	if age := now.Sub(t.refreshedAt); t.listing != nil && age >= 0 && age < refreshInterval {
		return t.listing, nil
	}
	pins, err := t.update(ctx)
	if err != nil {
		return nil, err
	}
	t.refreshedAt, t.listing = now, t.buildListing(pins, now)
	return t.listing, nil
}

// update brings checkpoints up to date. One page is enough if there are only new ones.
func (t *checkpointList) update(ctx context.Context) ([]retake.Pin, error) {
	tl, err := t.fetchPage(ctx, 0)
	if err != nil {
		return nil, err
	}
	var fresh []retake.Checkpoint
	for _, cp := range tl.Checkpoints {
		if len(t.checkpoints) > 0 && cp.Number <= t.checkpoints[0].Number {
			break
		}
		fresh = append(fresh, cp)
	}
	if cps := append(fresh, t.checkpoints...); int64(len(cps)) == tl.Total {
		t.checkpoints = cps
		return tl.Pins, nil
	}
	cps := tl.Checkpoints
	for n := len(cps); n == pageSize; {
		next, err := t.fetchPage(ctx, cps[len(cps)-1].Number)
		if err != nil {
			return nil, err
		}
		n = len(next.Checkpoints)
		cps = append(cps, next.Checkpoints...)
	}
	t.checkpoints = cps
	return tl.Pins, nil
}

func (t *checkpointList) fetchPage(ctx context.Context, before int64) (retake.Timeline, error) {
	return t.opts.Service.Log(ctx, retake.LogQuery{Workspace: t.opts.Workspace.ID, Before: before, Limit: pageSize})
}

// buildListing builds the listing of all folders and of the links for pins and the newest
// checkpoint.
func (t *checkpointList) buildListing(pins []retake.Pin, now time.Time) *rootListing {
	v := &rootListing{folders: map[string]retake.Checkpoint{}, links: map[string]string{}}
	for i := len(t.checkpoints) - 1; i >= 0; i-- {
		name := t.folderName(t.checkpoints[i], now)
		v.folders[name] = t.checkpoints[i]
		v.order = append(v.order, name)
	}
	if len(t.checkpoints) > 0 {
		v.addLink(latestName, t.names[t.checkpoints[0].ID])
		v.newest = t.checkpoints[0].Time
	}
	for _, p := range pins {
		if name := safeName(p.Name, maxNameLen); name != "" {
			v.addLink(name, t.names[p.Checkpoint])
		}
	}
	return v
}

// addLink adds a link to an existing folder, unless the name is in use.
func (v *rootListing) addLink(name, to string) {
	_, there := v.folders[to]
	_, folder := v.folders[name]
	_, link := v.links[name]
	if there && !folder && !link {
		v.links[name] = to
		v.order = append(v.order, name)
	}
}

// folderName returns the name of a checkpoint's folder, which never changes once given.
func (t *checkpointList) folderName(cp retake.Checkpoint, now time.Time) string {
	if name, ok := t.names[cp.ID]; ok {
		return name
	}
	name := ""
	if t.opts.Label != nil {
		name = safeName(t.opts.Label(cp), maxNameLen)
	}
	for _, other := range []string{Label(cp, now), string(cp.ID)} {
		if name == "" || t.usedNames[name] {
			name = other
		}
	}
	t.names[cp.ID], t.usedNames[name] = name, true
	return name
}
