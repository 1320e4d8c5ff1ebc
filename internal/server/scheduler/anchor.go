package scheduler

import (
	"context"
	"fmt"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

const anchorEvery = 5 * time.Minute

// AnchorText is what is signed of an anchor.
func AnchorText(ns retake.NamespaceID, a serverdb.Anchor) []byte {
	return fmt.Appendf(nil, "retake audit anchor 1\n%s\n%d\n%s\n%d\n", ns, a.Seq, a.Hash, a.Time.UnixMicro())
}

// anchor signs the head of an audit log that grew, and looks again after a while.
func (t *Timetable) anchor(ctx context.Context, d serverdb.Due) (time.Time, error) {
	now := t.o.Clock.Now().UTC().Truncate(time.Microsecond)
	later := now.Add(anchorEvery + t.some(anchorEvery/10))
	book := t.o.Ledger.Book(d.Namespace)
	last, grew, err := sqldb.Unanchored(ctx, book)
	if err != nil {
		return time.Time{}, fmt.Errorf("read audit log: %w", err)
	}
	if !grew {
		return later, nil
	}
	a := serverdb.Anchor{Seq: last.Seq, Hash: last.Hash, Time: now}
	a.Signature = t.o.Sign(AnchorText(d.Namespace, a))
	if err := book.PutAnchor(as(ctx, retake.KeyMaintainer, "anchor"), a); err != nil {
		return time.Time{}, fmt.Errorf("put anchor: %w", err)
	}
	return later, nil
}
