package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Put makes an item due. An existing item becomes due at the earlier of both times, and a
// claim on it ends.
func (l *Ledger) Put(ctx context.Context, d serverdb.Due) error {
	_, err := l.execShared(ctx, "put due", sqlPutDue, dueArgs(d)...)
	return err
}

// PutNew makes an item due, unless it is in the queue.
func (l *Ledger) PutNew(ctx context.Context, d serverdb.Due) error {
	_, err := l.execShared(ctx, "put new due", sqlPutNewDue, dueArgs(d)...)
	return err
}

func putDue(ctx context.Context, tx *sql.Tx, d serverdb.Due) error {
	_, err := tx.ExecContext(ctx, sqlPutDue, dueArgs(d)...)
	return err
}

func dueArgs(d serverdb.Due) []any {
	return []any{d.Queue, string(d.Namespace), d.ID, d.At.UnixMicro(), freshStamp()}
}

// freshStamp returns the first stamp of a row. It is random, because a row that was finished
// and put again must not repeat the stamps of claims that somebody still holds.
func freshStamp() int64 { return 1 + rand.Int64N(1<<53) }

// Claim takes due items, oldest first, and hides them until the lease ends. Items that another
// server claims at the same time are left to it.
func (l *Ledger) Claim(ctx context.Context, queue string, now time.Time, lease time.Duration, limit int) ([]serverdb.Due, error) {
	query := fmt.Sprintf(sqlClaim, l.skipLocked)
	got, err := findShared(ctx, l, "claim due", scanDue, query, queue, now.UnixMicro(), limit, now.Add(lease).UnixMicro())
	slices.SortFunc(got, func(a, b serverdb.Due) int { return cmp.Or(a.At.Compare(b.At), compareKeys(a, b)) })
	return got, err
}

// NextDue returns, for each queue that has items, when the first of them can be claimed.
func (l *Ledger) NextDue(ctx context.Context) (map[string]time.Time, error) {
	next := map[string]time.Time{}
	_, err := findShared(ctx, l, "find next due", func(row scanner) (struct{}, error) {
		var queue string
		var at int64
		err := row.Scan(&queue, &at)
		next[queue] = time.UnixMicro(at).UTC()
		return struct{}{}, err
	}, sqlNextDue)
	return next, err
}

func compareKeys(a, b serverdb.Due) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.ID, b.ID))
}

func scanDue(row scanner) (serverdb.Due, error) {
	var d serverdb.Due
	var at int64
	err := row.Scan(&d.Queue, &d.Namespace, &d.ID, &at, &d.Stamp, &d.Tries, &d.Reason)
	d.At = time.UnixMicro(at).UTC()
	return d, err
}

// Extend hides a claimed item until a later time, unless it was put or claimed again since.
func (l *Ledger) Extend(ctx context.Context, d serverdb.Due, until time.Time) error {
	_, err := l.execShared(ctx, "extend due", sqlExtend, until.UnixMicro(), d.Queue, string(d.Namespace), d.ID, d.Stamp)
	return err
}

// Finish removes a claimed item, unless it was put or claimed again since.
func (l *Ledger) Finish(ctx context.Context, d serverdb.Due) error {
	_, err := l.execShared(ctx, "finish due", sqlFinish, d.Queue, string(d.Namespace), d.ID, d.Stamp)
	return err
}

// Postpone ends a claim and makes the item due later, unless it was put or claimed again since.
// Tries and Reason become those of d.
func (l *Ledger) Postpone(ctx context.Context, d serverdb.Due, at time.Time) error {
	_, err := l.execShared(ctx, "postpone due", sqlPostpone, at.UnixMicro(), d.Tries, d.Reason, d.Queue, string(d.Namespace), d.ID, d.Stamp)
	return err
}

// Failing lists the items whose last try failed.
func (l *Ledger) Failing(ctx context.Context) ([]serverdb.Due, error) {
	return findShared(ctx, l, "list failing", scanDue, sqlFailing)
}

// Depth returns the number of items, including those that are not due yet, and the earliest of
// their times.
func (l *Ledger) Depth(ctx context.Context, queue string) (n int64, oldest time.Time, err error) {
	var at int64
	err = l.db.QueryRowContext(ctx, sqlDepth, queue).Scan(&n, &at)
	if err != nil || n == 0 {
		return n, oldest, l.wrapError("count due", err)
	}
	return n, time.UnixMicro(at).UTC(), nil
}

// Lease takes or renews a name. It returns false if another holder has it.
func (l *Ledger) Lease(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (bool, error) {
	return l.execShared(ctx, "lease "+name, sqlLease, name, holder, now.Add(ttl).UnixMicro(), now.UnixMicro())
}

// execShared runs one statement on tables that belong to no namespace, and reports whether it
// changed a row. It is a transaction by itself, so that the queue costs one statement.
func (l *Ledger) execShared(ctx context.Context, doing, query string, args ...any) (bool, error) {
	done, err := l.db.ExecContext(ctx, query, args...)
	if err != nil {
		return false, l.wrapError(doing, err)
	}
	n, err := done.RowsAffected()
	return n > 0 && err == nil, l.wrapError(doing, err)
}

// findShared reads the rows of one statement on tables that belong to no namespace.
func findShared[T any](ctx context.Context, l *Ledger, doing string, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	all, err := queryList(ctx, l.db, scan, query, args...)
	return all, l.wrapError(doing, err)
}

// newDueNow returns an item that is due at once.
func (l *Ledger) newDueNow(queue string, ns retake.NamespaceID, id string) serverdb.Due {
	return serverdb.Due{Queue: queue, Namespace: ns, ID: id, At: l.clock.Now()}
}
