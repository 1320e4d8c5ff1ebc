//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kopia/kopia/repo/blob"
	"github.com/kopia/kopia/repo/blob/s3"
)

// bareResult is the same number of transactions and of PUTs, of the same sizes, with
// nothing of ours around them.
type bareResult struct {
	Transactions bareRun `json:"transactions"`
	Puts         bareRun `json:"puts"`
}

type bareRun struct {
	Wanted int64   `json:"wanted"`
	Done   int64   `json:"done"` // fewer when the time was up
	Size   int64   `json:"size_bytes"`
	CPU    float64 `json:"cpu_ms_each"`
	Times  times   `json:"times"`
	PerSec float64 `json:"per_second"`
}

const bareHands = 8

// bare repeats what the phase of saves did to the database and the bucket, without us.
func (b *bed) bare(ctx context.Context, from, to reading, l *loadResult) (*bareResult, error) {
	note("bare transactions and PUTs")
	if err := b.rowSize(ctx, l); err != nil {
		return nil, err
	}
	counts := to.counts.Since(from.counts)
	puts := max(1, counts.Requests["PUT"])
	r := &bareResult{}
	var err error
	limit := max(b.o.span/10, 5*time.Second)
	if r.Transactions, err = b.bareRows(ctx, max(1, to.transactions-from.transactions), int64(l.Row), limit); err != nil {
		return nil, err
	}
	if r.Puts, err = b.barePuts(ctx, puts, max(1, counts.Sent/puts), limit); err != nil {
		return nil, err
	}
	saves := l.Saves
	l.Ratios = map[string]float64{
		"postgres_cpu_per_transaction": ratio(saves.Each["cpu_ms_postgres"]/saves.Each["transactions"], r.Transactions.CPU),
		"s3_cpu_per_put":               ratio(saves.Each["cpu_ms_s3"]/saves.Requests["PUT"], r.Puts.CPU),
		"save_p50_to_one_of_each":      ratio(saves.Times["save"].P50, r.Transactions.Times.P50+r.Puts.Times.P50),
	}
	return r, nil
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

func (b *bed) rowSize(ctx context.Context, l *loadResult) error {
	db, err := sql.Open("pgx", b.pg.DSN("postgres", database))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // only read
	return db.QueryRowContext(ctx, "SELECT COALESCE(AVG(octet_length(body)), 0)::float8 FROM checkpoint").Scan(&l.Row)
}

func (b *bed) bareRows(ctx context.Context, n, size int64, limit time.Duration) (bareRun, error) {
	if _, err := b.pg.Database("bare"); err != nil {
		return bareRun{}, err
	}
	db, err := sql.Open("pgx", b.pg.DSN("postgres", "bare"))
	if err != nil {
		return bareRun{}, err
	}
	defer db.Close() //nolint:errcheck // measured
	db.SetMaxOpenConns(bareHands)
	db.SetMaxIdleConns(bareHands)
	if _, err := db.ExecContext(ctx, "CREATE TABLE thing (ns TEXT NOT NULL, id TEXT NOT NULL, body BYTEA NOT NULL, PRIMARY KEY (ns, id))"); err != nil {
		return bareRun{}, err
	}
	body := make([]byte, size)
	_, _ = rand.Read(body) // never fails
	before := b.pg.CPU()
	run, err := bareLoop(n, limit, func(i int64) error {
		_, err := db.ExecContext(ctx, "INSERT INTO thing (ns, id, body) VALUES ('team', $1, $2)", fmt.Sprint("id_", i), body)
		return err
	})
	run.Size, run.CPU = size, float64((b.pg.CPU()-before).Microseconds())/1000/float64(max(1, run.Done))
	return run, err
}

func (b *bed) barePuts(ctx context.Context, n, size int64, limit time.Duration) (bareRun, error) {
	st, err := s3.New(ctx, &s3.Options{
		BucketName: b.s3.Name, Prefix: "bare/", Endpoint: b.counter.Address(), DoNotUseTLS: true, Region: b.s3.Region,
		AccessKeyID: b.s3.AccessKey, SecretAccessKey: b.s3.SecretKey,
	}, false)
	if err != nil {
		return bareRun{}, fmt.Errorf("open the bucket: %w", err)
	}
	defer st.Close(ctx) //nolint:errcheck // measured
	body := make([]byte, size)
	_, _ = rand.Read(body) // never fails
	before := b.s3.CPU()
	run, err := bareLoop(n, limit, func(i int64) error {
		return st.PutBlob(ctx, blob.ID(fmt.Sprint("x", i)), whole(body), blob.PutOptions{})
	})
	run.Size, run.CPU = size, float64((b.s3.CPU()-before).Microseconds())/1000/float64(max(1, run.Done))
	return run, err
}

// bareLoop does something n times by several hands, or as often as the time allows.
func bareLoop(n int64, limit time.Duration, do func(i int64) error) (bareRun, error) {
	var next atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var failed error
	began := time.Now()
	var hands sync.WaitGroup
	for range bareHands {
		hands.Go(func() {
			for time.Since(began) < limit {
				i := next.Add(1)
				if i > n {
					return
				}
				start := time.Now()
				err := do(i)
				mu.Lock()
				took = append(took, time.Since(start))
				failed = join(failed, err)
				mu.Unlock()
				if err != nil {
					return
				}
			}
		})
	}
	hands.Wait()
	return bareRun{Wanted: n, Done: int64(len(took)), Times: timesOf(took), PerSec: float64(len(took)) / time.Since(began).Seconds()}, failed
}

// whole is bytes as the engine's stores take them.
type whole []byte

func (w whole) Length() int { return len(w) }

func (w whole) WriteTo(to io.Writer) (int64, error) { return bytes.NewReader(w).WriteTo(to) }

func (w whole) Reader() io.ReadSeekCloser { return opened{bytes.NewReader(w)} }

type opened struct{ *bytes.Reader }

func (opened) Close() error { return nil }
