package sqldb

import (
	"cmp"
	"context"
	"database/sql"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Put makes an item due. An existing item becomes due at the earlier of both times, and a
// claim on it ends.
func (l *Ledger) Put(ctx context.Context, d serverdb.Due) error {
	return l.inWriteTx(ctx, allNamespaces, "put due", func(tx *sql.Tx) error { return putDue(ctx, tx, d) })
}

func putDue(ctx context.Context, tx *sql.Tx, d serverdb.Due) error {
	_, err := tx.ExecContext(ctx, sqlPutDue, d.Queue, string(d.Namespace), d.ID, d.At.UnixMicro(), freshStamp())
	return err
}

// freshStamp returns the first stamp of a row. It is random, because a row that was finished
// and put again must not repeat the stamps of claims that somebody still holds.
func freshStamp() int64 { return 1 + rand.Int64N(1<<53) }

const (
	claimRounds = 4 // how often Claim looks again when others were faster
	claimSpread = 4 // how many times the limit it then looks ahead
)

// Claim takes due items, oldest first, and hides them until the lease ends. It reads without a
// lock and takes what has not changed since. If others were faster, it looks again at a random
// distance behind, so that concurrent claims spread out.
func (l *Ledger) Claim(ctx context.Context, queue string, now time.Time, lease time.Duration, limit int) ([]serverdb.Due, error) {
	mine, ahead := []serverdb.Due{}, 0
	for round := 0; round < claimRounds && len(mine) < limit; round++ {
		seen, got, err := l.claimBatch(ctx, serverdb.Due{Queue: queue, At: now}, now.Add(lease), limit-len(mine), ahead)
		if err != nil && len(mine) == 0 {
			return nil, err
		}
		if err != nil {
			break // what was taken is ours; the trouble comes again
		}
		mine = append(mine, got...)
		switch {
		case len(got) < seen:
			ahead = rand.IntN(limit * claimSpread)
		case ahead > 0:
			ahead = 0
		default:
			round = claimRounds // nobody was faster: there are no more
		}
	}
	slices.SortFunc(mine, func(a, b serverdb.Due) int { return cmp.Or(a.At.Compare(b.At), compareKeys(a, b)) })
	return mine, nil
}

// claimBatch returns the number of items that it saw, and those that it claimed.
func (l *Ledger) claimBatch(ctx context.Context, by serverdb.Due, until time.Time, limit, ahead int) (int, []serverdb.Due, error) {
	ready, err := findRows(ctx, l, allNamespaces, "list due", scanDue, sqlReady, by.Queue, by.At.UnixMicro(), limit, ahead)
	if err != nil || len(ready) == 0 {
		return 0, nil, err
	}
	slices.SortFunc(ready, compareKeys)
	got := make([]serverdb.Due, 0, len(ready))
	err = l.inWriteTx(ctx, allNamespaces, "claim due", func(tx *sql.Tx) error {
		for _, d := range ready {
			ok, err := execChanged(ctx, tx, sqlClaim, until.UnixMicro(), d.Queue, string(d.Namespace), d.ID, d.Stamp)
			if err != nil {
				return err
			}
			if ok {
				d.Stamp++
				got = append(got, d)
			}
		}
		return nil
	})
	if err != nil {
		return 0, nil, err
	}
	return len(ready), got, nil
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
	return l.inWriteTx(ctx, allNamespaces, "extend due", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, sqlExtend, until.UnixMicro(), d.Queue, string(d.Namespace), d.ID, d.Stamp)
		return err
	})
}

// Finish removes a claimed item, unless it was put or claimed again since.
func (l *Ledger) Finish(ctx context.Context, d serverdb.Due) error {
	return l.inWriteTx(ctx, allNamespaces, "finish due", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, sqlFinish, d.Queue, string(d.Namespace), d.ID, d.Stamp)
		return err
	})
}

// Postpone ends a claim and makes the item due later, unless it was put or claimed again since.
// Tries and Reason become those of d.
func (l *Ledger) Postpone(ctx context.Context, d serverdb.Due, at time.Time) error {
	return l.inWriteTx(ctx, allNamespaces, "postpone due", func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, sqlPostpone, at.UnixMicro(), d.Tries, d.Reason, d.Queue, string(d.Namespace), d.ID, d.Stamp)
		return err
	})
}

// Failing lists the items whose last try failed.
func (l *Ledger) Failing(ctx context.Context) ([]serverdb.Due, error) {
	return findRows(ctx, l, allNamespaces, "list failing", scanDue, sqlFailing)
}

// Depth returns the number of items, including those that are not due yet, and the earliest of
// their times.
func (l *Ledger) Depth(ctx context.Context, queue string) (n int64, oldest time.Time, err error) {
	err = l.inReadTx(ctx, allNamespaces, "count due", func(tx *sql.Tx) error {
		var at int64
		if err := tx.QueryRowContext(ctx, sqlDepth, queue).Scan(&n, &at); err != nil || n == 0 {
			return err
		}
		oldest = time.UnixMicro(at).UTC()
		return nil
	})
	return n, oldest, err
}

// Lease takes or renews a name. It returns false if another holder has it.
func (l *Ledger) Lease(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (bool, error) {
	var ours bool
	err := l.inWriteTx(ctx, allNamespaces, "lease "+name, func(tx *sql.Tx) (err error) {
		ours, err = execChanged(ctx, tx, sqlLease, name, holder, now.Add(ttl).UnixMicro(), now.UnixMicro())
		return err
	})
	return ours && err == nil, err
}

// newDueNow returns an item that is due at once.
func (l *Ledger) newDueNow(queue string, ns retake.NamespaceID, id string) serverdb.Due {
	return serverdb.Due{Queue: queue, Namespace: ns, ID: id, At: l.clock.Now()}
}
