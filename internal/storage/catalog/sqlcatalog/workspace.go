package sqlcatalog

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// PutWorkspace adds or changes a workspace; its creation time stays.
func (c *Catalog) PutWorkspace(ctx context.Context, ws retake.Workspace) error {
	return c.inAuditedTx(ctx, "put workspace", func(tx *sql.Tx) ([]string, error) {
		old, err := scanWorkspace(tx.QueryRowContext(ctx, sqlWorkspace, c.ns, string(ws.ID)))
		known := err == nil
		if known {
			ws.Created = old.Created
		} else if !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		raw, err := json.Marshal(ws)
		if err != nil {
			return nil, fmt.Errorf("encode workspace: %w", err)
		}
		if was, err := json.Marshal(old); known && err == nil && old.Root == ws.Root && bytes.Equal(was, raw) {
			return nil, nil
		}
		_, err = tx.ExecContext(ctx, sqlPutWorkspace, c.ns, string(ws.ID), sanitizeText(ws.Name), []byte(ws.Root), raw)
		return []string{string(ws.ID)}, err
	})
}

// Workspace returns the workspace with an id.
func (c *Catalog) Workspace(ctx context.Context, id retake.WorkspaceID) (retake.Workspace, error) {
	doing := fmt.Sprintf("find workspace %s", id)
	var ws retake.Workspace
	found, err := c.queryRow(ctx, doing, func(rows *sql.Rows) (err error) {
		ws, err = scanWorkspace(rows)
		return err
	}, sqlWorkspace, c.ns, string(id))
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", doing, catalog.ErrNotFound)
	}
	return ws, err
}

// scanWorkspace reads root, body and further columns. The root has its own column because
// paths are bytes, which JSON strings cannot represent.
func scanWorkspace(row interface{ Scan(...any) error }, more ...any) (retake.Workspace, error) {
	var ws retake.Workspace
	var root, raw []byte
	if err := row.Scan(append([]any{&root, &raw}, more...)...); err != nil {
		return ws, err
	}
	if err := decodeJSON(raw, &ws); err != nil {
		return ws, err
	}
	ws.Root = string(root)
	return ws, nil
}

// Workspaces lists all workspaces by the time of the newest checkpoint, or of creation if
// there is none.
func (c *Catalog) Workspaces(ctx context.Context) ([]retake.WorkspaceState, error) {
	all, err := queryList(ctx, c, "list workspaces", scanState, sqlWorkspaces, c.ns)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b retake.WorkspaceState) int {
		return cmp.Or(lastUsed(b).Compare(lastUsed(a)), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

func scanState(rows *sql.Rows) (retake.WorkspaceState, error) {
	var s retake.WorkspaceState
	var latest []byte
	var err error
	if s.Workspace, err = scanWorkspace(rows, &latest, &s.Count); err != nil || latest == nil {
		return s, err
	}
	s.Latest = &retake.Checkpoint{}
	return s, decodeJSON(latest, s.Latest)
}

func lastUsed(s retake.WorkspaceState) time.Time {
	if s.Latest != nil {
		return s.Latest.Time
	}
	return s.Created
}
