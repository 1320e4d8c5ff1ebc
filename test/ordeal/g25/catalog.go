//go:build linux

package g25

import (
	"context"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// recalling is a catalog that answers from memory what a history asks all the time; all is
// written to the one below, which answers everything else. Nothing is forgotten here: no
// history buries a checkpoint.
type recalling struct {
	catalog.Catalog
	mu    sync.Mutex
	roots map[retake.WorkspaceID]retake.Workspace
	lines map[retake.WorkspaceID][]retake.Checkpoint // by number, without a gap
	ids   map[retake.CheckpointID]retake.Checkpoint
	marks map[string]string
}

func newRecalling(below catalog.Catalog) *recalling {
	return &recalling{
		Catalog: below, roots: map[retake.WorkspaceID]retake.Workspace{}, lines: map[retake.WorkspaceID][]retake.Checkpoint{},
		ids: map[retake.CheckpointID]retake.Checkpoint{}, marks: map[string]string{},
	}
}

// known answers what a map holds.
func known[K comparable, V any](r *recalling, m map[K]V, key K) (V, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := m[key]
	if !ok {
		return v, catalog.ErrNotFound
	}
	return v, nil
}

func (r *recalling) PutWorkspace(ctx context.Context, ws retake.Workspace) error {
	err := r.Catalog.PutWorkspace(ctx, ws)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.roots[ws.ID] = ws
	}
	return err
}

func (r *recalling) Workspace(_ context.Context, id retake.WorkspaceID) (retake.Workspace, error) {
	return known(r, r.roots, id)
}

func (r *recalling) Append(ctx context.Context, cp retake.Checkpoint, marks ...catalog.Mark) error {
	err := r.Catalog.Append(ctx, cp, marks...)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range marks {
		r.marks[m.Key] = m.Value
	}
	if line := r.lines[cp.Workspace]; int64(len(line)) == cp.Number-1 {
		r.lines[cp.Workspace], r.ids[cp.ID] = append(line, cp), cp
	}
	return nil
}

func (r *recalling) Checkpoint(_ context.Context, id retake.CheckpointID) (retake.Checkpoint, error) {
	return known(r, r.ids, id)
}

func (r *recalling) ByNumber(_ context.Context, ws retake.WorkspaceID, number int64) (retake.Checkpoint, error) {
	line, _ := known(r, r.lines, ws)
	if number < 1 || number > int64(len(line)) {
		return retake.Checkpoint{}, catalog.ErrNotFound
	}
	return line[number-1], nil
}

func (r *recalling) Latest(ctx context.Context, ws retake.WorkspaceID, back int64) (retake.Checkpoint, error) {
	line, _ := known(r, r.lines, ws)
	return r.ByNumber(ctx, ws, int64(len(line))-back)
}

func (r *recalling) Page(ctx context.Context, q retake.LogQuery) ([]retake.Checkpoint, error) {
	if !q.Since.IsZero() || q.Good || q.Path != "" || q.Session != "" {
		return r.Catalog.Page(ctx, q)
	}
	line, _ := known(r, r.lines, q.Workspace)
	if q.Before > 0 && q.Before <= int64(len(line)) {
		line = line[:q.Before-1]
	}
	var out []retake.Checkpoint
	for i := len(line) - 1; i >= 0 && (q.Limit == 0 || len(out) < q.Limit); i-- {
		out = append(out, line[i])
	}
	return out, nil
}

func (r *recalling) SetMark(ctx context.Context, key, value string) error {
	err := r.Catalog.SetMark(ctx, key, value)
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.marks[key] = value
	}
	return err
}

func (r *recalling) Mark(_ context.Context, key string) (string, error) {
	v, _ := known(r, r.marks, key)
	return v, nil
}
