// Package recent remembers rows of a catalog that every request needs: workspaces and marks.
//
// It may be used only where this process alone changes the catalog of a namespace. It keeps nothing
// that was read while something was being written, and forgets everything when rows are removed.
package recent

import (
	"context"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// maxRows is how many rows are remembered; then all are forgotten.
const maxRows = 4096

// Catalog remembers rows of the catalog below it.
type Catalog struct {
	catalog.Catalog

	mu         sync.Mutex
	writes     int64 // that began or ended: rows that were read meanwhile are not kept
	workspaces map[retake.WorkspaceID]retake.Workspace
	marks      map[string]string
}

// New returns a catalog that remembers rows of c.
func New(c catalog.Catalog) *Catalog {
	r := &Catalog{Catalog: c}
	r.forget()
	return r
}

// forget forgets everything. The caller holds the lock, or is the only one.
func (r *Catalog) forget() {
	r.workspaces, r.marks = map[retake.WorkspaceID]retake.Workspace{}, map[string]string{}
}

// write runs a change. What it touches is forgotten before and after it, because nobody knows what a
// change that failed has written. learn remembers what is known after one that did not fail, if
// nothing else was written meanwhile.
func (r *Catalog) write(change func() error, forget, learn func()) error {
	r.mu.Lock()
	r.writes++
	mine := r.writes
	forget()
	r.mu.Unlock()
	err := change()
	r.mu.Lock()
	defer r.mu.Unlock()
	alone := r.writes == mine
	r.writes++
	forget()
	if err == nil && alone {
		learn()
	}
	return err
}

func nothing() {}

// read returns a row that is remembered, or reads it.
func read[K comparable, V any](r *Catalog, rows func() map[K]V, key K, ask func() (V, error)) (V, error) {
	r.mu.Lock()
	v, known := rows()[key]
	writes := r.writes
	r.mu.Unlock()
	if known {
		return v, nil
	}
	v, err := ask()
	if err != nil {
		return v, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writes == writes {
		if len(rows()) >= maxRows {
			r.forget()
		}
		rows()[key] = v
	}
	return v, nil
}

// Workspace returns a workspace.
func (r *Catalog) Workspace(ctx context.Context, id retake.WorkspaceID) (retake.Workspace, error) {
	return read(r, func() map[retake.WorkspaceID]retake.Workspace { return r.workspaces }, id,
		func() (retake.Workspace, error) { return r.Catalog.Workspace(ctx, id) })
}

// PutWorkspace adds or changes a workspace.
func (r *Catalog) PutWorkspace(ctx context.Context, ws retake.Workspace) error {
	return r.write(func() error { return r.Catalog.PutWorkspace(ctx, ws) }, func() { delete(r.workspaces, ws.ID) }, nothing)
}

// Mark returns the value of a mark, or "".
func (r *Catalog) Mark(ctx context.Context, key string) (string, error) {
	return read(r, func() map[string]string { return r.marks }, key, func() (string, error) { return r.Catalog.Mark(ctx, key) })
}

// SetMark sets a mark.
func (r *Catalog) SetMark(ctx context.Context, key, value string) error {
	return r.write(func() error { return r.Catalog.SetMark(ctx, key, value) },
		func() { delete(r.marks, key) }, func() { r.marks[key] = value })
}

// Append adds a checkpoint and sets marks.
func (r *Catalog) Append(ctx context.Context, cp retake.Checkpoint, marks ...catalog.Mark) error {
	return r.write(func() error { return r.Catalog.Append(ctx, cp, marks...) }, func() {
		for _, m := range marks {
			delete(r.marks, m.Key)
		}
	}, func() {
		for _, m := range marks {
			r.marks[m.Key] = m.Value
		}
	})
}

// Reset removes every row.
func (r *Catalog) Reset(ctx context.Context) error {
	return r.write(func() error { return r.Catalog.Reset(ctx) }, r.forget, nothing)
}
