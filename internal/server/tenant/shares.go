package tenant

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// meterMaxAge is how long what was measured is used. Bytes that were saved since are added.
const meterMaxAge = time.Minute

// meter knows what a namespace takes. What workspaces and keys added is counted in the catalog, in
// the transactions that add and remove checkpoints, so that it outlives the server.
type meter struct {
	mu          sync.Mutex
	clock       clock.Clock
	log         *slog.Logger
	limits      func() retake.Limits
	space       func(context.Context) (retake.StoreState, error)
	catalog     catalog.Catalog
	keys        serverdb.Keys
	notify      func(ctx context.Context, f retake.Fullness, id string) error // publishes an event, once for an ID; nil: nobody is told
	measuredAt  time.Time
	store       int64 // bytes that the store takes
	byWorkspace map[retake.WorkspaceID]int64
	byKey       map[retake.KeyID]int64
	workspaces  map[retake.WorkspaceID]bool // all, and whether they are protected
	names       map[retake.WorkspaceID]string
	agents      map[retake.KeyID]bool // live agent keys
	passed      map[string]passedLevel
}

// measure reads what the namespace takes. m.mu must be held.
func (m *meter) measure(ctx context.Context) error {
	st, err := m.space(ctx)
	if err != nil {
		return err
	}
	added, err := m.catalog.Added(ctx)
	if err != nil {
		return err
	}
	all, err := m.catalog.Workspaces(ctx) // all of them, not only those that the key may access
	if err != nil {
		return err
	}
	keys, err := m.keys.Keys(ctx)
	if err != nil {
		return err
	}
	m.store = st.Bytes
	m.setAdded(added)
	m.workspaces, m.names, m.agents = map[retake.WorkspaceID]bool{}, map[retake.WorkspaceID]string{}, map[retake.KeyID]bool{}
	for i := range all {
		m.workspaces[all[i].ID], m.names[all[i].ID] = all[i].Ended == nil, all[i].Name
	}
	for i := range keys {
		if keys[i].Kind == retake.KeyAgent && keys[i].Live(m.clock.Now()) {
			m.agents[keys[i].ID] = true
		}
	}
	return nil
}

// setAdded replaces the figures of workspaces and keys. m.mu must be held.
func (m *meter) setAdded(added []catalog.Added) {
	m.byWorkspace, m.byKey = map[retake.WorkspaceID]int64{}, map[retake.KeyID]int64{}
	for _, a := range added {
		m.byWorkspace[a.Workspace] += a.Bytes
		m.byKey[a.Key] += a.Bytes
	}
}

// refresh measures if the last time is too long ago. If that fails, the last figures are used: a
// failed measurement must not stop saves. m.mu must be held.
func (m *meter) refresh(ctx context.Context, maxAge time.Duration) {
	now := m.clock.Now()
	if maxAge > 0 && now.Sub(m.measuredAt) <= maxAge {
		return
	}
	m.measuredAt = now
	if err := m.measure(ctx); err != nil {
		m.log.WarnContext(ctx, "measure the store", "err", err)
		return
	}
	m.reportFullness(ctx)
}

// remeasure measures after something was added or removed in another way than by a save.
func (m *meter) remeasure(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), meterMaxAge)
	defer cancel()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refresh(ctx, 0)
}

// expire makes the next save measure.
func (m *meter) expire() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.measuredAt = time.Time{}
}

// countSaved adds what a save added. The counters are read and not added to: somebody may have
// measured since the checkpoint was stored.
func (m *meter) countSaved(ctx context.Context, cp retake.Checkpoint) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byWorkspace == nil {
		return // nothing is measured without a limit
	}
	m.store += cp.NewBytes
	added, err := m.catalog.Added(ctx)
	if err != nil {
		m.log.WarnContext(ctx, "read what was added", "err", err)
		return
	}
	m.setAdded(added)
	m.reportFullness(ctx)
}

// workspaceShare returns how many bytes a workspace may add; 0: no bound. A workspace that is alone
// may take all. m.mu must be held.
func (m *meter) workspaceShare(l retake.Limits, ws retake.WorkspaceID) int64 {
	for id, live := range m.workspaces {
		if live && id != ws {
			return l.ShareBytes(l.WorkspaceShare)
		}
	}
	return 0
}

// keyShare returns how many bytes an agent key may add; 0: no bound. m.mu must be held.
func (m *meter) keyShare(l retake.Limits, key retake.KeyID) int64 {
	for id := range m.agents {
		if id != key && m.agents[key] {
			return l.ShareBytes(l.KeyShare)
		}
	}
	return 0
}

// checkMayAdd returns an error if the store has reached the limit of the namespace, or a workspace
// or an agent key its share of it. The shares do not stop what is deliberate.
func (m *meter) checkMayAdd(ctx context.Context, ws retake.WorkspaceID, who retake.Actor, deliberate bool) error {
	l := m.limits()
	if l.Store <= 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refresh(ctx, meterMaxAge)
	if m.store >= l.Store {
		return overLimitError("the history of the namespace", "takes", m.store, "its limit is", l.Store, storeLimitHint)
	}
	if deliberate {
		return nil
	}
	if most := m.workspaceShare(l, ws); most > 0 && m.byWorkspace[ws] >= most {
		return overLimitError("the workspace "+termtext.Escape(m.names[ws]), "has added", m.byWorkspace[ws], fmt.Sprintf("its share is %d %% of the storage limit,", l.WorkspaceShare), most,
			"other workspaces can still save. Delete checkpoints of this one with POST /v1/deletions, or raise the limit \"workspace_share\" with PUT /v1/namespace/limits")
	}
	if most := m.keyShare(l, who.Key); most > 0 && m.byKey[who.Key] >= most {
		return overLimitError("the API key "+termtext.Escape(cmp.Or(who.Name, string(who.Key))), "has added", m.byKey[who.Key], fmt.Sprintf("its share is %d %% of the storage limit,", l.KeyShare), most,
			"other keys can still save. Delete checkpoints that it took with POST /v1/deletions, or raise the limit \"key_share\" with PUT /v1/namespace/limits")
	}
	return nil
}

// CheckMayAdd returns an error if the history would reach the limit of the namespace with more bytes,
// as far as they are new to it.
func (t *Tenant) CheckMayAdd(ctx context.Context, bytes int64) error {
	m := &t.confined.meter
	l := m.limits()
	if l.Store <= 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refresh(ctx, meterMaxAge)
	if m.store+bytes <= l.Store {
		return nil
	}
	return overLimitError("the history of the namespace with "+termtext.Bytes(bytes)+" more", "would take", m.store+bytes, "its limit is", l.Store, storeLimitHint)
}

const storeLimitHint = "keep checkpoints for a shorter time, delete some with POST /v1/deletions, or raise the limit \"store\" with PUT /v1/namespace/limits"

func overLimitError(who, did string, taken int64, may string, most int64, hint string) error {
	what := fmt.Sprintf("can't save: %s %s %s, and %s %s", who, did, termtext.Bytes(taken), may, termtext.Bytes(most))
	return &retake.Error{Kind: retake.Limit, What: what, Safe: unchanged, Hint: hint, Err: workspace.ErrOverLimit}
}

// Sweep deletes what no checkpoint needs.
func (w *confinedService) Sweep(ctx context.Context) (retake.SweepReport, error) {
	rep, err := w.inner.Sweep(ctx)
	w.meter.remeasure(ctx)
	return rep, err
}

// Thin deletes checkpoints that retention no longer keeps.
func (w *confinedService) Thin(ctx context.Context, q retake.ThinRequest) (retake.ThinReport, error) {
	rep, err := w.inner.Thin(ctx, q)
	w.meter.remeasure(ctx)
	return rep, err
}
