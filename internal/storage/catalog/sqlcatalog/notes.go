package sqlcatalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// Topics of notices.
const (
	topicCreated   = "checkpoint.created"
	topicForgotten = "checkpoint.forgotten"
	topicVerified  = "checkpoint.verified"
)

// SetPins replaces the pins of a workspace. A duplicate name returns ErrExists.
func (c *Catalog) SetPins(ctx context.Context, ws retake.WorkspaceID, pins []retake.Pin) error {
	return c.inAuditedTx(ctx, "set pins", func(tx *sql.Tx) ([]string, error) {
		if same, err := c.hasPins(ctx, tx, ws, pins); err != nil || same {
			return nil, err
		}
		if _, err := tx.ExecContext(ctx, sqlUnpin, c.ns, string(ws)); err != nil {
			return nil, err
		}
		for _, p := range pins {
			if err := c.insertPin(ctx, tx, ws, p); err != nil {
				return nil, fmt.Errorf("pin %q: %w", p.Name, err)
			}
		}
		return []string{string(ws)}, nil
	})
}

// hasPins reports whether the pins of a workspace are exactly these, in any order.
func (c *Catalog) hasPins(ctx context.Context, tx *sql.Tx, ws retake.WorkspaceID, pins []retake.Pin) (bool, error) {
	left := map[string]int{}
	for _, p := range pins {
		raw, err := json.Marshal(p)
		if err != nil {
			return false, fmt.Errorf("encode pin: %w", err)
		}
		left[string(raw)]++
	}
	all := 0
	err := eachRow(ctx, tx, func(rows *sql.Rows) (bool, error) {
		var raw []byte
		err := rows.Scan(&raw)
		left[string(raw)]--
		all++
		return true, err
	}, sqlPins, c.ns, string(ws))
	differs := func(n int) bool { return n != 0 }
	return all == len(pins) && !slices.ContainsFunc(slices.Collect(maps.Values(left)), differs), err
}

func (c *Catalog) insertPin(ctx context.Context, tx *sql.Tx, ws retake.WorkspaceID, p retake.Pin) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode pin: %w", err)
	}
	res, err := tx.ExecContext(ctx, sqlPin, c.ns, string(ws), p.Name, string(p.Checkpoint), raw)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return catalog.ErrExists
}

// Pins lists the pins of a workspace, by name.
func (c *Catalog) Pins(ctx context.Context, ws retake.WorkspaceID) ([]retake.Pin, error) {
	return queryList(ctx, c, "list pins", scanJSON[retake.Pin], sqlPins, c.ns, string(ws))
}

// addNotice adds a notice to the outbox. The transaction holds the writer row, so that nobody
// sees a number before all lower ones.
func (c *Catalog) addNotice(ctx context.Context, tx *sql.Tx, n catalog.Notice) error {
	if err := tx.QueryRowContext(ctx, sqlNextNotice, c.ns).Scan(&n.ID); err != nil {
		return fmt.Errorf("number notice: %w", err)
	}
	_, err := tx.ExecContext(ctx, sqlNotice, c.ns, n.ID, n.Topic, string(n.Workspace), string(n.Checkpoint), n.Time.UnixMicro())
	return err
}

// Pending lists the oldest notices that were not taken; without a limit, all. Their times have
// microsecond resolution.
func (c *Catalog) Pending(ctx context.Context, limit int) ([]catalog.Notice, error) {
	scan := func(rows *sql.Rows) (catalog.Notice, error) {
		var n catalog.Notice
		var us int64
		err := rows.Scan(&n.ID, &n.Topic, &n.Workspace, &n.Checkpoint, &us)
		n.Time = time.UnixMicro(us).UTC()
		return n, err
	}
	return queryList(ctx, c, "list notices", scan, sqlPending, c.ns, limitOrMax(limit))
}

// Take removes notices; a missing one is not an error.
func (c *Catalog) Take(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	return c.inWriteTx(ctx, "take notices", func(tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, sqlTake, c.ns, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetMark sets or changes a mark.
func (c *Catalog) SetMark(ctx context.Context, key, value string) error {
	return c.inWriteTx(ctx, "set mark", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, sqlSetMark, c.ns, key, value)
		return err
	})
}

// Mark returns the value of a mark, or "".
func (c *Catalog) Mark(ctx context.Context, key string) (string, error) {
	var value string
	scan := func(rows *sql.Rows) error { return rows.Scan(&value) }
	_, err := c.queryRow(ctx, "find mark", scan, sqlMark, c.ns, key)
	return value, err
}

// Reset removes every row of the namespace; the numbers of notices continue.
func (c *Catalog) Reset(ctx context.Context) error {
	return c.inAuditedTx(ctx, "reset catalog", func(tx *sql.Tx) ([]string, error) {
		var gone int64
		for _, text := range sqlReset {
			res, err := tx.ExecContext(ctx, text, c.ns)
			if err != nil {
				return nil, err
			}
			n, err := res.RowsAffected()
			if err != nil {
				return nil, err
			}
			gone += n
		}
		if gone == 0 {
			return nil, nil
		}
		return []string{c.ns}, nil
	})
}
