package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// AddKey adds a key. An existing id or digest returns ErrExists.
func (b *Book) AddKey(ctx context.Context, k retake.Key, digest [32]byte) error {
	var used int64
	if k.Used != nil {
		used = k.Used.UnixMicro()
	}
	k.Used = nil // it has a column of its own
	raw, err := encodeJSON(k)
	if err != nil {
		return err
	}
	return b.l.inAuditedTx(ctx, b.ns, fmt.Sprintf("add key %s", k.ID), func(tx *sql.Tx) (auditAct, error) {
		if err := execRequired(ctx, tx, serverdb.ErrExists, sqlAddKey, string(b.ns), string(k.ID), used, raw); err != nil {
			return noAct, err
		}
		return auditAct{"add key", string(k.ID)}, execRequired(ctx, tx, serverdb.ErrExists, sqlAddDigest, digest[:], string(b.ns), string(k.ID))
	})
}

// scanKey reads a key. The time of its last use is stored beside the body, so that updating it
// never conflicts with a change of the key.
func scanKey(row scanner) (retake.Key, error) {
	var k retake.Key
	var used int64
	var raw []byte
	if err := row.Scan(&used, &raw); err != nil {
		return k, err
	}
	if err := decodeJSON(raw, &k); err != nil {
		return k, err
	}
	if used != 0 {
		at := time.UnixMicro(used).UTC()
		k.Used = &at
	}
	return k, nil
}

// Keys lists all keys, oldest first.
func (b *Book) Keys(ctx context.Context) ([]retake.Key, error) {
	all, err := findRows(ctx, b.l, b.ns, "list keys", scanKey, sqlKeys, string(b.ns))
	slices.SortFunc(all, func(a, b retake.Key) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return all, err
}

// RevokeKey ends a key. A revoked key keeps its time. ErrNotFound.
func (b *Book) RevokeKey(ctx context.Context, id retake.KeyID, at time.Time) (retake.Key, error) {
	var k retake.Key
	err := b.l.inAuditedTx(ctx, b.ns, fmt.Sprintf("revoke key %s", id), func(tx *sql.Tx) (auditAct, error) {
		var err error
		if k, err = queryOne(ctx, tx, scanKey, sqlKey, string(b.ns), string(id)); err != nil || k.Revoked != nil {
			return noAct, err
		}
		k.Revoked = &at
		kept := k
		kept.Used = nil
		raw, err := encodeJSON(kept)
		if err != nil {
			return noAct, err
		}
		_, err = tx.ExecContext(ctx, sqlPutKey, raw, string(b.ns), string(id))
		return auditAct{"revoke key", string(id)}, err
	})
	if err != nil {
		return retake.Key{}, err
	}
	return k, nil
}

// UsedKey records that a key was used; the latest time is kept. ErrNotFound.
func (b *Book) UsedKey(ctx context.Context, id retake.KeyID, at time.Time) error {
	return b.l.inWriteTx(ctx, b.ns, fmt.Sprintf("note use of key %s", id), func(tx *sql.Tx) error {
		return execRequired(ctx, tx, serverdb.ErrNotFound, sqlUsedKey, at.UnixMicro(), string(b.ns), string(id))
	})
}

// EndSession ends a session, and forgets those whose time has come.
func (b *Book) EndSession(ctx context.Context, id string, until time.Time) error {
	return b.l.inWriteTx(ctx, b.ns, "end session", func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, sqlOldSessions, string(b.ns), b.l.clock.Now().UnixMicro()); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, sqlEndSession, string(b.ns), id, until.UnixMicro())
		return err
	})
}

// HasSessionEnded reports whether a session was ended.
func (b *Book) HasSessionEnded(ctx context.Context, id string) (ended bool, err error) {
	err = b.l.inReadTx(ctx, b.ns, "read sessions", func(tx *sql.Tx) error {
		var n int64
		if err := tx.QueryRowContext(ctx, sqlHasEnded, string(b.ns), id).Scan(&n); err != nil {
			return err
		}
		ended = n > 0
		return nil
	})
	return ended, err
}
