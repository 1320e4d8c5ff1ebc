package sqldb

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// PutAnchor stores a signed head and adds an entry about it to the chain. A head that is not
// an entry returns ErrNotFound; an existing anchor is kept.
func (b *Book) PutAnchor(ctx context.Context, a serverdb.Anchor) error {
	raw, err := encodeJSON(a)
	if err != nil {
		return err
	}
	return b.l.inAuditedTx(ctx, b.ns, fmt.Sprintf("put anchor at %d", a.Seq), func(tx *sql.Tx) (auditAct, error) {
		e, err := queryOne(ctx, tx, scanEntry, sqlEntry, string(b.ns), a.Seq)
		if err == nil && e.Hash != a.Hash {
			err = fmt.Errorf("with hash %.70q: %w", a.Hash, serverdb.ErrNotFound)
		}
		if err != nil {
			return noAct, err
		}
		isNew, err := execChanged(ctx, tx, sqlAddAnchor, string(b.ns), a.Seq, raw)
		if err != nil || !isNew {
			return noAct, err
		}
		return auditAct{VerbAnchor, anchorSubject(a.Seq, a.Hash)}, nil
	})
}

func anchorSubject(seq int64, hash string) string { return fmt.Sprintf("%d %s", seq, hash) }

// Anchors lists the anchors, oldest first.
func (b *Book) Anchors(ctx context.Context) ([]serverdb.Anchor, error) {
	return findRows(ctx, b.l, b.ns, "list anchors", scanJSON[serverdb.Anchor], sqlAnchors, string(b.ns))
}

// Unanchored returns the newest entry of a chain. It returns false if there is nothing since
// the last anchor but the entry about it, so that anchoring does not make a log grow.
func Unanchored(ctx context.Context, book serverdb.Book) (retake.AuditEntry, bool, error) {
	last, err := book.Audit(ctx, retake.AuditQuery{Limit: 1})
	if err != nil || len(last) == 0 {
		return retake.AuditEntry{}, false, err
	}
	e := last[0]
	return e, e.Verb != VerbAnchor || e.Subject != anchorSubject(e.Seq-1, e.Prev), nil
}
