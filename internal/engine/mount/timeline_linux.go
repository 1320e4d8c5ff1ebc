package mount

import (
	"context"
	"sync"
	"time"

	"github.com/retake-dev/retake"
)

const (
	pageSize = 500
	pause    = time.Second // between two looks at the timeline
	maxName  = 255
)

// timeline knows which folders and links there are.
type timeline struct {
	o Options

	mu    sync.Mutex
	at    time.Time                      // guarded by mu: of the last look
	cps   []retake.Checkpoint            // guarded by mu: all, the newest first
	names map[retake.CheckpointID]string // guarded by mu: of everything ever seen, so that a name stays
	taken map[string]bool                // guarded by mu
	top   *top                           // guarded by mu; nil before the first look
}

// top is what the root shows. It is never changed.
type top struct {
	folders map[string]retake.Checkpoint
	links   map[string]string // to the name of a folder
	order   []string          // of both
	newest  time.Time
}

func newTimeline(o Options) *timeline {
	return &timeline{o: o, names: map[retake.CheckpointID]string{}, taken: map[string]bool{latest: true}}
}

// look answers the root as it is now, or was a moment ago.
func (t *timeline) look(ctx context.Context) (*top, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.o.Clock.Now()
	if age := now.Sub(t.at); t.top != nil && age >= 0 && age < pause {
		return t.top, nil
	}
	pins, err := t.read(ctx)
	if err != nil {
		return nil, err
	}
	t.at, t.top = now, t.arrange(pins, now)
	return t.top, nil
}

// read brings cps up to date. One page is enough when nothing but new ones came.
func (t *timeline) read(ctx context.Context) ([]retake.Pin, error) {
	tl, err := t.page(ctx, 0)
	if err != nil {
		return nil, err
	}
	var fresh []retake.Checkpoint
	for _, cp := range tl.Checkpoints {
		if len(t.cps) > 0 && cp.Number <= t.cps[0].Number {
			break
		}
		fresh = append(fresh, cp)
	}
	if cps := append(fresh, t.cps...); int64(len(cps)) == tl.Total {
		t.cps = cps
		return tl.Pins, nil
	}
	cps := tl.Checkpoints
	for n := len(cps); n == pageSize; {
		next, err := t.page(ctx, cps[len(cps)-1].Number)
		if err != nil {
			return nil, err
		}
		n = len(next.Checkpoints)
		cps = append(cps, next.Checkpoints...)
	}
	t.cps = cps
	return tl.Pins, nil
}

func (t *timeline) page(ctx context.Context, before int64) (retake.Timeline, error) {
	return t.o.Service.Log(ctx, retake.LogQuery{Workspace: t.o.Workspace.ID, Before: before, Limit: pageSize})
}

func (t *timeline) arrange(pins []retake.Pin, now time.Time) *top {
	v := &top{folders: map[string]retake.Checkpoint{}, links: map[string]string{}}
	for i := len(t.cps) - 1; i >= 0; i-- {
		name := t.name(t.cps[i], now)
		v.folders[name] = t.cps[i]
		v.order = append(v.order, name)
	}
	if len(t.cps) > 0 {
		v.link(latest, t.names[t.cps[0].ID])
		v.newest = t.cps[0].Time
	}
	for _, p := range pins {
		if name := safe(p.Name, maxName); name != "" {
			v.link(name, t.names[p.Checkpoint])
		}
	}
	return v
}

// link adds a link to a folder that is there, unless the name is in use.
func (v *top) link(name, to string) {
	_, there := v.folders[to]
	_, folder := v.folders[name]
	_, link := v.links[name]
	if there && !folder && !link {
		v.links[name] = to
		v.order = append(v.order, name)
	}
}

// name answers the name that a checkpoint has got, or gives it one.
func (t *timeline) name(cp retake.Checkpoint, now time.Time) string {
	if name, ok := t.names[cp.ID]; ok {
		return name
	}
	name := ""
	if t.o.Label != nil {
		name = safe(t.o.Label(cp), maxName)
	}
	for _, other := range []string{Label(cp, now), string(cp.ID)} {
		if name == "" || t.taken[name] {
			name = other
		}
	}
	t.names[cp.ID], t.taken[name] = name, true
	return name
}
