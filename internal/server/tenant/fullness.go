package tenant

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/retake-dev/retake"
)

// fullLevels are the percentages at which webhooks are told, the highest first.
var fullLevels = []int64{95, 80}

// passedLevel is the level that the store or a share has passed. Since identifies the climb, so
// that an event about a level is published once for each.
type passedLevel struct {
	Level int64 `json:"level"`
	Since int64 `json:"since"` // microseconds
}

// passedMark is the mark of the catalog that keeps the levels over restarts.
const passedMark = "nearly-full"

// fullness lists the store and the shares that are at the lowest level or above it, the store
// first. m.mu must be held.
func (m *meter) fullness(l retake.Limits) []retake.Fullness {
	out := []retake.Fullness{}
	add := func(f retake.Fullness) {
		if f.Limit <= 0 {
			return
		}
		if f.Percent = int64(float64(f.Bytes) / float64(f.Limit) * 100); levelOf(f.Percent) > 0 {
			out = append(out, f)
		}
	}
	add(retake.Fullness{Bytes: m.store, Limit: l.Store})
	for _, ws := range slices.Sorted(maps.Keys(m.byWorkspace)) {
		if m.workspaces[ws] {
			add(retake.Fullness{Workspace: ws, Bytes: m.byWorkspace[ws], Limit: m.workspaceShare(l, ws)})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(m.byKey)) {
		add(retake.Fullness{Key: key, Bytes: m.byKey[key], Limit: m.keyShare(l, key)})
	}
	return out
}

func levelOf(percent int64) int64 {
	for _, n := range fullLevels {
		if percent >= n {
			return n
		}
	}
	return 0
}

func subjectOf(f retake.Fullness) string {
	return cmp.Or(string(f.Workspace), string(f.Key), "store")
}

// reportFullness publishes an event for each level that was passed since the last time. One that
// cannot be published is tried again. m.mu must be held.
func (m *meter) reportFullness(ctx context.Context) {
	if m.notify == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), meterMaxAge)
	defer cancel()
	if err := m.publishPassed(ctx); err != nil {
		m.log.ErrorContext(ctx, "tell that the store is nearly full", "err", err)
	}
}

func (m *meter) publishPassed(ctx context.Context) error {
	if err := m.readPassed(ctx); err != nil {
		return err
	}
	now := map[string]retake.Fullness{}
	for _, f := range m.fullness(m.limits()) {
		now[subjectOf(f)] = f
	}
	for subject, was := range m.passed { // what is below all levels climbs anew the next time
		if is := levelOf(now[subject].Percent); is < was.Level {
			if err := m.setPassed(ctx, subject, passedLevel{is, m.clock.Now().UnixMicro()}); err != nil {
				return err
			}
		}
	}
	for subject, f := range now {
		is, was := levelOf(f.Percent), m.passed[subject]
		if is <= was.Level {
			continue
		}
		if was.Since == 0 { // stored before the event: after a crash the event has the same ID
			was.Since = m.clock.Now().UnixMicro()
			if err := m.setPassed(ctx, subject, was); err != nil {
				return err
			}
		}
		if err := m.notify(ctx, f, fmt.Sprintf("%s %d %d", subject, is, was.Since)); err != nil {
			return err
		}
		if err := m.setPassed(ctx, subject, passedLevel{is, was.Since}); err != nil {
			return err
		}
	}
	return nil
}

// readPassed reads the levels once. m.mu must be held.
func (m *meter) readPassed(ctx context.Context) error {
	if m.passed != nil {
		return nil
	}
	text, err := m.catalog.Mark(ctx, passedMark)
	if err != nil {
		return err
	}
	passed := map[string]passedLevel{}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &passed); err != nil {
			return fmt.Errorf("read the mark %s: %w", passedMark, err)
		}
	}
	m.passed = passed
	return nil
}

// setPassed stores a level. m.mu must be held.
func (m *meter) setPassed(ctx context.Context, subject string, p passedLevel) error {
	next := maps.Clone(m.passed)
	next[subject] = p
	text, err := json.Marshal(next)
	if err == nil {
		err = m.catalog.SetMark(ctx, passedMark, string(text))
	}
	if err == nil {
		m.passed = next
	}
	return err
}

// Usage measures what the namespace takes: the bytes of the store, and the workspaces and keys that
// added most, without the names of the keys.
func (t *Tenant) Usage(ctx context.Context) (retake.Usage, error) {
	m := &t.confined.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.measure(ctx); err != nil {
		return retake.Usage{}, err
	}
	m.measuredAt = m.clock.Now()
	m.reportFullness(ctx)
	l := m.limits()
	u := retake.Usage{Namespace: t.ID, Bytes: m.store, Limits: l, Largest: []retake.WorkspaceUsage{}, Keys: []retake.KeyUsage{}, NearlyFull: m.fullness(l)}
	for ws, n := range m.byWorkspace {
		u.Largest = append(u.Largest, retake.WorkspaceUsage{Workspace: ws, Name: m.names[ws], Bytes: n})
	}
	for key, n := range m.byKey {
		if key != "" {
			u.Keys = append(u.Keys, retake.KeyUsage{Key: key, Bytes: n})
		}
	}
	slices.SortFunc(u.Largest, func(a, b retake.WorkspaceUsage) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Workspace, b.Workspace))
	})
	slices.SortFunc(u.Keys, func(a, b retake.KeyUsage) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Key, b.Key))
	})
	return u, nil
}
