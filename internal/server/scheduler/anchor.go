package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

// anchorInterval is how much of a log may be cut off unnoticed by who can write to the database.
const anchorInterval = time.Minute

// maxAnchorDelay is how much may be cut off after the place outside of the database was away.
const maxAnchorDelay = 5 * time.Minute

// AnchorText returns the bytes of an anchor that are signed.
func AnchorText(ns retake.NamespaceID, a serverdb.Anchor) []byte {
	return fmt.Appendf(nil, "retake audit anchor 1\n%s\n%d\n%s\n%d\n", ns, a.Seq, a.Hash, a.Time.UnixMicro())
}

// signAnchor signs the head of an audit log if the log has grown. It is due again after
// anchorInterval.
func (t *Scheduler) signAnchor(ctx context.Context, d serverdb.Due) (time.Time, error) {
	now := t.opts.Clock.Now().UTC().Truncate(time.Microsecond)
	later := now.Add(anchorInterval + t.randomPart(anchorInterval/10))
	book := t.opts.Ledger.Book(d.Namespace)
	last, grew, err := sqldb.Unanchored(ctx, book)
	if err != nil {
		return time.Time{}, fmt.Errorf("read audit log: %w", err)
	}
	if !grew {
		return later, t.keepAgain(ctx, d, book)
	}
	a := serverdb.Anchor{Seq: last.Seq, Hash: last.Hash, Time: now}
	a.Signature = t.opts.SignAnchor(AnchorText(d.Namespace, a))
	kerr := t.opts.KeepAnchor(ctx, d.Namespace, a) // first: who has stopped before the other one signs the head again
	if err := book.PutAnchor(withActor(ctx, retake.KeyMaintainer, "anchor"), a); err != nil {
		return time.Time{}, fmt.Errorf("put anchor: %w", errors.Join(err, kerr))
	}
	return later, kerr
}

// keepAgain keeps the newest anchor outside of the database if that failed before.
func (t *Scheduler) keepAgain(ctx context.Context, d serverdb.Due, book serverdb.Book) error {
	if d.Tries == 0 {
		return nil
	}
	all, err := book.Anchors(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	return t.opts.KeepAnchor(ctx, d.Namespace, all[len(all)-1])
}
