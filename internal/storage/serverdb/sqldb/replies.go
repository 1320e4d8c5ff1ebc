package sqldb

import (
	"bytes"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// oldRepliesPerBegin is the number of old replies that are removed with a new one: more than
// are added, so that they cannot accumulate.
const oldRepliesPerBegin = 4

// BeginReply claims a key until the lease ends. Claims whose lease is over and expired replies
// are ignored; some of them are removed here.
func (b *Book) BeginReply(ctx context.Context, key string, digest [32]byte, now time.Time, lease time.Duration) (serverdb.Reply, serverdb.ReplyState, error) {
	var r serverdb.Reply
	state := serverdb.ReplyFresh
	err := b.l.inWriteTx(ctx, b.ns, "begin reply", func(tx *sql.Tx) error {
		old, err := queryList(ctx, tx, scanBytes, sqlOldReplies, string(b.ns), now.UnixMicro(), oldRepliesPerBegin)
		if err != nil {
			return err
		}
		old = slices.DeleteFunc(old, func(k []byte) bool { return string(k) == key })
		slices.SortFunc(old, bytes.Compare)
		after, _ := slices.BinarySearchFunc(old, []byte(key), bytes.Compare)
		// Ours has its place among the others: two that sweep the same must not wait for
		// each other.
		if err := b.deleteOldReplies(ctx, tx, old[:after], now); err != nil {
			return err
		}
		if r, state, err = b.claimReply(ctx, tx, key, digest, now, lease); err != nil {
			return err
		}
		return b.deleteOldReplies(ctx, tx, old[after:], now)
	})
	return r, state, err
}

func (b *Book) deleteOldReplies(ctx context.Context, tx *sql.Tx, keys [][]byte, now time.Time) error {
	for _, k := range keys {
		if _, err := tx.ExecContext(ctx, sqlSweepReply, string(b.ns), k, now.UnixMicro()); err != nil {
			return err
		}
	}
	return nil
}

// claimReply claims the key if it is free or its claim has expired; otherwise it returns the
// state of the existing claim.
func (b *Book) claimReply(ctx context.Context, tx *sql.Tx, key string, digest [32]byte, now time.Time, lease time.Duration) (serverdb.Reply, serverdb.ReplyState, error) {
	stamp := freshStamp()
	ours, err := execChanged(ctx, tx, sqlBeginReply, string(b.ns), []byte(key), digest[:], stamp, now.Add(lease).UnixMicro(), []byte{}, now.UnixMicro())
	if err != nil || ours {
		return serverdb.Reply{Stamp: stamp}, serverdb.ReplyFresh, err
	}
	var r serverdb.Reply
	var was []byte
	var done bool
	err = tx.QueryRowContext(ctx, sqlReply, string(b.ns), []byte(key)).Scan(&was, &done, &r.Status, &r.Type, &r.Body)
	switch {
	case err != nil:
		return serverdb.Reply{}, serverdb.ReplyHeld, err
	case !bytes.Equal(was, digest[:]):
		return serverdb.Reply{}, serverdb.ReplyOther, nil
	case !done:
		return serverdb.Reply{}, serverdb.ReplyHeld, nil
	}
	return r, serverdb.ReplyKnown, nil
}

// EndReply stores the reply of a claim. It returns ErrNotFound if the claim is over and
// another may have the key; the first reply is kept.
func (b *Book) EndReply(ctx context.Context, key string, r serverdb.Reply, keep time.Time) error {
	return b.l.inWriteTx(ctx, b.ns, "end reply", func(tx *sql.Tx) error {
		return execRequired(ctx, tx, serverdb.ErrNotFound, sqlEndReply,
			keep.UnixMicro(), r.Status, sanitizeText(r.Type), notNil(r.Body), string(b.ns), []byte(key), r.Stamp)
	})
}

// DropReply releases a key after a request that failed. A stored reply is kept.
func (b *Book) DropReply(ctx context.Context, key string) error {
	return b.l.inWriteTx(ctx, b.ns, "drop reply", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, sqlDropReply, string(b.ns), []byte(key))
		return err
	})
}

// OtherReplies lists stored replies whose bodies begin with other bytes than head.
func (b *Book) OtherReplies(ctx context.Context, head []byte, after string, now time.Time, limit int) ([]serverdb.SealedReply, error) {
	return findRows(ctx, b.l, b.ns, "list replies", func(row scanner) (serverdb.SealedReply, error) {
		var r serverdb.SealedReply
		var key []byte
		err := row.Scan(&key, &r.Body)
		r.Key = string(key)
		return r, err
	}, sqlOtherReplies, string(b.ns), []byte(after), len(head), notNil(head), now.UnixMicro(), limitOrMax(limit))
}

// PutReplyBody replaces the body that was.
func (b *Book) PutReplyBody(ctx context.Context, key string, was, body []byte) error {
	return b.l.inWriteTx(ctx, b.ns, "put body of reply", func(tx *sql.Tx) error {
		return execRequired(ctx, tx, serverdb.ErrChanged, sqlPutReplyBody, notNil(body), string(b.ns), []byte(key), notNil(was))
	})
}
