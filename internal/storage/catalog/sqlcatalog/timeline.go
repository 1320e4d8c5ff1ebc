package sqlcatalog

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"time"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// findOne returns the only row of a query, or ErrNotFound.
func (c *Catalog) findOne(ctx context.Context, doing, query string, args ...any) (retake.Checkpoint, error) {
	all, err := queryList(ctx, c, doing, scanJSON[retake.Checkpoint], query, args...)
	if err != nil {
		return retake.Checkpoint{}, err
	}
	if len(all) == 0 {
		return retake.Checkpoint{}, fmt.Errorf("%s: %w", doing, catalog.ErrNotFound)
	}
	return all[0], nil
}

// Checkpoint returns the live checkpoint with an id.
func (c *Catalog) Checkpoint(ctx context.Context, id retake.CheckpointID) (retake.Checkpoint, error) {
	return c.findOne(ctx, fmt.Sprintf("find checkpoint %s", id), sqlCheckpoint, c.ns, string(id))
}

// ByNumber returns the live checkpoint with a number.
func (c *Catalog) ByNumber(ctx context.Context, ws retake.WorkspaceID, number int64) (retake.Checkpoint, error) {
	return c.findOne(ctx, fmt.Sprintf("find checkpoint %d", number), sqlByNumber, c.ns, string(ws), number)
}

// lastRune ends the range of a prefix: no id contains it.
const lastRune = "\U0010FFFF"

// ByPrefix returns at most two live checkpoints whose ids begin with the prefix, by id.
func (c *Catalog) ByPrefix(ctx context.Context, ws retake.WorkspaceID, prefix string) ([]retake.Checkpoint, error) {
	if sanitizeText(prefix) != prefix {
		return []retake.Checkpoint{}, nil // no id begins so, and not every database takes it as text
	}
	return queryList(ctx, c, fmt.Sprintf("find checkpoint %.60q", prefix), scanJSON[retake.Checkpoint],
		sqlByPrefix, c.ns, string(ws), prefix, prefix+lastRune)
}

// Before returns the newest live checkpoint with a time not after t.
func (c *Catalog) Before(ctx context.Context, ws retake.WorkspaceID, t time.Time) (retake.Checkpoint, error) {
	return c.findOne(ctx, "find checkpoint by time", sqlBefore, c.ns, string(ws), t.UnixMicro())
}

// Latest returns the live checkpoint back steps before the one with the highest number.
func (c *Catalog) Latest(ctx context.Context, ws retake.WorkspaceID, back int64) (retake.Checkpoint, error) {
	doing := fmt.Sprintf("find latest checkpoint, %d back", back)
	if back < 0 {
		return retake.Checkpoint{}, fmt.Errorf("%s: %w", doing, catalog.ErrNotFound)
	}
	return c.findOne(ctx, doing, sqlLatest, c.ns, string(ws), back)
}

// Start returns the first complete live checkpoint.
func (c *Catalog) Start(ctx context.Context, ws retake.WorkspaceID) (retake.Checkpoint, error) {
	return c.findOne(ctx, "find first complete checkpoint", sqlStart, c.ns, string(ws), string(retake.Complete))
}

// Page lists live checkpoints, the highest number first. Without a positive limit it lists
// all; Since is inclusive, Before is not.
func (c *Catalog) Page(ctx context.Context, q retake.LogQuery) ([]retake.Checkpoint, error) {
	top := int64(math.MaxInt64)
	if q.Before != 0 {
		top = q.Before - 1
	}
	limit := limitOrMax(q.Limit)
	if q.Session != "" {
		limit = math.MaxInt64 // the session is in the body: most rows may be of others
	}
	query, args := sqlPage, []any{c.ns, string(q.Workspace), top, limit}
	if !q.Since.IsZero() {
		query, args = sqlPageSince, []any{c.ns, string(q.Workspace), q.Since.UnixMicro(), top, limit}
	}
	if q.Session != "" {
		return c.filterSession(ctx, q.Session, limitOrMax(q.Limit), query, args...)
	}
	return queryList(ctx, c, "list checkpoints", scanJSON[retake.Checkpoint], query, args...)
}

// filterSession returns the checkpoints of a session, by a prefix of its id or by the name of
// its agent. It reads rows until it has enough, and decodes only those whose text contains the
// session.
func (c *Catalog) filterSession(ctx context.Context, session string, limit int64, query string, args ...any) ([]retake.Checkpoint, error) {
	all := []retake.Checkpoint{}
	if !utf8.ValidString(session) {
		return all, nil // no id begins so
	}
	var signs [2][]byte
	for i, key := range []string{"session", "agent"} {
		sign, err := json.Marshal(map[string]string{key: session})
		if err != nil {
			return nil, fmt.Errorf("encode session: %w", err)
		}
		signs[i] = sign[1 : len(sign)-len(`"}`)] // the word may go on
	}
	err := c.queryRows(ctx, "list checkpoints", func(rows *sql.Rows) (bool, error) {
		var raw sql.RawBytes
		if err := rows.Scan(&raw); err != nil || !bytes.Contains(raw, signs[0]) && !bytes.Contains(raw, signs[1]) {
			return true, err
		}
		var cp retake.Checkpoint
		if err := decodeJSON(raw, &cp); err != nil {
			return false, err
		}
		if cp.Turn != nil && cp.Turn.Of(session) {
			all = append(all, cp)
		}
		return int64(len(all)) < limit, nil
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return all, nil
}

// limitOrMax returns a limit that every database accepts: not all allow a negative one.
func limitOrMax(limit int) int64 {
	if limit <= 0 {
		return math.MaxInt64
	}
	return int64(limit)
}

// Tombstones lists forgotten checkpoints by number.
func (c *Catalog) Tombstones(ctx context.Context, ws retake.WorkspaceID) ([]retake.Tombstone, error) {
	return queryList(ctx, c, "list tombstones", scanJSON[retake.Tombstone], sqlTombstones, c.ns, string(ws))
}

// Added returns the bytes that live checkpoints added, by workspace and key.
func (c *Catalog) Added(ctx context.Context) ([]catalog.Added, error) {
	return queryList(ctx, c, "list what was added", func(rows *sql.Rows) (a catalog.Added, err error) {
		return a, rows.Scan(&a.Workspace, &a.Key, &a.Bytes)
	}, sqlBrought, c.ns)
}

// Counts returns the number of live checkpoints and the highest number ever used.
func (c *Catalog) Counts(ctx context.Context, ws retake.WorkspaceID) (live, last int64, err error) {
	var top, buried int64
	scan := func(rows *sql.Rows) error { return rows.Scan(&live, &top, &buried) }
	_, err = c.queryRow(ctx, "count checkpoints", scan, sqlCounts, c.ns, string(ws))
	return live, max(top, buried), err
}
