package sqlcatalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// Append adds a checkpoint and its notice, and sets marks. For an id that is live or buried it only
// sets the marks.
func (c *Catalog) Append(ctx context.Context, cp retake.Checkpoint, marks ...catalog.Mark) error {
	raw, err := json.Marshal(cp)
	if err != nil {
		return fmt.Errorf("encode checkpoint: %w", err)
	}
	return c.inAuditedTx(ctx, auditVerb(&cp), func(tx *sql.Tx) ([]string, error) {
		for _, m := range marks {
			if _, err := tx.ExecContext(ctx, sqlSetMark, c.ns, m.Key, m.Value); err != nil {
				return nil, err
			}
		}
		if known, err := c.isKnown(ctx, tx, &cp); err != nil || known {
			return nil, err
		}
		_, err := tx.ExecContext(ctx, sqlAppend, c.ns, string(cp.ID), string(cp.Workspace), cp.Number, string(cp.Parent),
			cp.Time.UnixMicro(), sanitizeText(string(cp.Trigger)), sanitizeText(cp.Intent), string(cp.Tree), string(cp.Content),
			string(cp.Coverage.Grade), cp.Files, cp.Dirs, cp.Bytes, cp.NewBytes,
			cp.Changed.Added, cp.Changed.Deleted, cp.Changed.Edited, raw)
		if err == nil {
			_, err = tx.ExecContext(ctx, sqlIncrementTally, c.ns, string(cp.Workspace))
		}
		if err == nil {
			_, err = tx.ExecContext(ctx, sqlAddBrought, c.ns, string(cp.Workspace), sanitizeText(string(cp.Key)), cp.NewBytes)
		}
		if err != nil {
			return nil, err
		}
		return []string{string(cp.ID)}, c.addNotice(ctx, tx, catalog.Notice{Topic: topicCreated, Workspace: cp.Workspace, Checkpoint: cp.ID, Time: cp.Time})
	})
}

// auditVerb says in the audit log what made a checkpoint: a restore, an undo, a redo, an adopt, or a
// save.
func auditVerb(cp *retake.Checkpoint) string {
	if cp.Return != nil {
		return string(cp.Return.Course)
	}
	return "append checkpoint"
}

// Bury adds all tombstones or none, and removes what is known about the checkpoints. It
// returns ErrExists for a tombstone whose number or id belongs to another checkpoint.
func (c *Catalog) Bury(ctx context.Context, ws retake.WorkspaceID, stones []retake.Tombstone) error {
	if len(stones) == 0 {
		return nil
	}
	return c.inAuditedTx(ctx, "bury checkpoint", func(tx *sql.Tx) ([]string, error) {
		var done []string
		for _, s := range stones {
			buried, err := rowExists(ctx, tx, sqlBuried, c.ns, string(s.ID))
			if err == nil && !buried {
				done, err = append(done, string(s.ID)), c.buryOne(ctx, tx, ws, s)
			}
			if err != nil {
				return nil, fmt.Errorf("number %d: %w", s.Number, err)
			}
		}
		return done, nil
	})
}

// buryOne replaces one checkpoint and what is known about it with its tombstone, and adds a
// notice.
func (c *Catalog) buryOne(ctx context.Context, tx *sql.Tx, ws retake.WorkspaceID, s retake.Tombstone) error {
	cp, err := c.checkTombstone(ctx, tx, ws, s)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode tombstone: %w", err)
	}
	if cp != nil {
		if err := c.removeCheckpoint(ctx, tx, cp); err != nil {
			return err
		}
	}
	if err := c.deleteNotes(ctx, tx, s.ID); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, sqlDropAnswers, c.ns, string(s.ID)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, sqlBury, c.ns, string(s.ID), string(ws), s.Number, raw); err != nil {
		return err
	}
	return c.addNotice(ctx, tx, catalog.Notice{Topic: topicForgotten, Workspace: ws, Checkpoint: s.ID, Time: s.At})
}

// removeCheckpoint removes a live checkpoint from the timeline, from the tally, and its bytes from
// what was added.
func (c *Catalog) removeCheckpoint(ctx context.Context, tx *sql.Tx, cp *retake.Checkpoint) error {
	gone, err := tx.ExecContext(ctx, sqlRemove, c.ns, string(cp.ID))
	if err != nil {
		return err
	}
	n, err := gone.RowsAffected()
	if err != nil || n == 0 {
		return err
	}
	if _, err := tx.ExecContext(ctx, sqlDecrementTally, c.ns, string(cp.Workspace), n); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, sqlAddBrought, c.ns, string(cp.Workspace), sanitizeText(string(cp.Key)), -cp.NewBytes)
	return err
}

// checkTombstone checks that id and number of a tombstone belong to the same checkpoint, which it
// returns, or to none that is live.
func (c *Catalog) checkTombstone(ctx context.Context, tx *sql.Tx, ws retake.WorkspaceID, s retake.Tombstone) (*retake.Checkpoint, error) {
	var raw []byte
	err := tx.QueryRowContext(ctx, sqlCheckpoint, c.ns, string(s.ID)).Scan(&raw)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, c.checkNumberFree(ctx, tx, ws, s.Number, s.ID)
	}
	if err != nil {
		return nil, err
	}
	var cp retake.Checkpoint
	if err := decodeJSON(raw, &cp); err != nil {
		return nil, err
	}
	if cp.Workspace != ws || cp.Number != s.Number {
		return nil, fmt.Errorf("%s is number %d of %s: %w", cp.ID, cp.Number, cp.Workspace, catalog.ErrExists)
	}
	return &cp, nil
}

// isKnown reports whether the id of a checkpoint is live or buried. If it is not, its number must be
// free.
func (c *Catalog) isKnown(ctx context.Context, tx *sql.Tx, cp *retake.Checkpoint) (bool, error) {
	var known int64
	var holder retake.CheckpointID
	err := tx.QueryRowContext(ctx, sqlKnown, c.ns, string(cp.ID), string(cp.Workspace), cp.Number).Scan(&known, &holder)
	if err == nil && known == 0 && holder != "" {
		err = fmt.Errorf("number %d is %s, not %s: %w", cp.Number, holder, cp.ID, catalog.ErrExists)
	}
	return known > 0, err
}

// checkNumberFree checks that no other checkpoint has or had the number.
func (c *Catalog) checkNumberFree(ctx context.Context, tx *sql.Tx, ws retake.WorkspaceID, number int64, id retake.CheckpointID) error {
	var holder retake.CheckpointID
	err := tx.QueryRowContext(ctx, sqlNumberHolder, c.ns, string(ws), number).Scan(&holder)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("number %d is %s, not %s: %w", number, holder, id, catalog.ErrExists)
}

// sanitizeText makes text fit for a TEXT column: not every database accepts NUL or invalid
// UTF-8. The body keeps the original.
func sanitizeText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
