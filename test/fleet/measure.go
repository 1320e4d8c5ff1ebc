//go:build linux

package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake/test/parts"
)

// times are the middle and the slow end of one kind of request, in milliseconds.
type times struct {
	N   int     `json:"n"`
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
}

func timesOf(took []time.Duration) times {
	if len(took) == 0 {
		return times{}
	}
	took = slices.Clone(took)
	slices.Sort(took)
	at := func(part float64) float64 {
		return float64(took[int(part*float64(len(took)-1))].Microseconds()) / 1000
	}
	return times{len(took), at(0.5), at(0.99)}
}

func allTimes(took map[string][]time.Duration) map[string]times {
	out := map[string]times{}
	for name, t := range took {
		out[name] = timesOf(t)
	}
	return out
}

// reading is how far every counter is.
type reading struct {
	at           time.Time
	servers      time.Duration
	postgres     time.Duration
	s3           time.Duration
	transactions int64
	statements   int64
	checkpoints  int64
	database     int64 // bytes
	wal          int64 // bytes
	bucket       int64 // bytes
	objects      int64
	counts       parts.Counts
	busy, idle   int64 // of the machine
}

// read takes all counters. What was counted in sessions is told after a checkpoint of rest.
func (b *bed) read(ctx context.Context) (r reading, err error) {
	r = reading{at: time.Now(), postgres: b.pg.CPU(), s3: b.s3.CPU(), counts: b.counter.Counts()}
	for _, s := range b.servers {
		r.servers += s.CPU()
	}
	r.busy, r.idle = machineTicks()
	if r.bucket, r.objects, err = sizeOf(b.s3.Dir); err != nil {
		return r, err
	}
	db, err := sql.Open("pgx", b.pg.DSN("postgres", database))
	if err != nil {
		return r, err
	}
	defer db.Close() //nolint:errcheck // only read
	if b.counts {
		err = db.QueryRowContext(ctx, "SELECT COALESCE(SUM(calls), 0)::bigint FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = $1", database).Scan(&r.statements)
		if err != nil {
			return r, err
		}
	}
	return r, db.QueryRowContext(ctx, `SELECT xact_commit + xact_rollback, (SELECT COUNT(*) FROM checkpoint), pg_database_size(datname),
		pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint FROM pg_stat_database WHERE datname = $1`, database).
		Scan(&r.transactions, &r.checkpoints, &r.database, &r.wal)
}

// sizeOf counts the files below a directory; what goes meanwhile does not count.
func sizeOf(dir string) (bytes, files int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return nil
		}
		if info, err := e.Info(); err == nil {
			bytes += info.Size()
			files++
		}
		return nil
	})
	return bytes, files, err
}

// machineTicks answers how long all processors were busy and idle.
func machineTicks() (busy, idle int64) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(b), "\n")
	for i, field := range strings.Fields(line)[1:] {
		n, _ := strconv.ParseInt(field, 10, 64)
		switch {
		case i == 3 || i == 4: // idle, and waiting for a disk
			idle += n
		case i < 8:
			busy += n
		}
	}
	return busy, idle
}

// cost is what one phase took, in all and for one checkpoint.
type cost struct {
	Name        string             `json:"name"`
	Seconds     float64            `json:"seconds"`
	Checkpoints int64              `json:"checkpoints"`
	PerSecond   float64            `json:"checkpoints_per_second"`
	Busy        float64            `json:"machine_busy"` // share of all processors
	Think       float64            `json:"think_seconds"`
	Times       map[string]times   `json:"times"`
	Each        map[string]float64 `json:"per_checkpoint"`
	Second      map[string]float64 `json:"per_second"`
	Requests    map[string]float64 `json:"s3_requests_per_checkpoint"`
}

func costOf(name string, from, to reading, took map[string][]time.Duration) cost {
	c := cost{Name: name, Seconds: to.at.Sub(from.at).Seconds(), Checkpoints: to.checkpoints - from.checkpoints, Times: allTimes(took), Requests: map[string]float64{}}
	c.PerSecond = float64(c.Checkpoints) / c.Seconds
	if all := float64(to.busy - from.busy + to.idle - from.idle); all > 0 {
		c.Busy = float64(to.busy-from.busy) / all
	}
	counts := to.counts.Since(from.counts)
	sums := map[string]float64{
		"cpu_ms_servers":   float64((to.servers - from.servers).Milliseconds()),
		"cpu_ms_postgres":  float64((to.postgres - from.postgres).Milliseconds()),
		"cpu_ms_s3":        float64((to.s3 - from.s3).Milliseconds()),
		"transactions":     float64(to.transactions - from.transactions),
		"statements":       float64(to.statements - from.statements),
		"database_bytes":   float64(to.database - from.database),
		"wal_bytes":        float64(to.wal - from.wal),
		"s3_sent_bytes":    float64(counts.Sent),
		"s3_grown_bytes":   float64(to.bucket - from.bucket),
		"s3_grown_objects": float64(to.objects - from.objects),
	}
	c.Each, c.Second = map[string]float64{}, map[string]float64{}
	for what, sum := range sums {
		c.Second[what] = sum / c.Seconds
		if c.Checkpoints > 0 {
			c.Each[what] = sum / float64(c.Checkpoints)
		}
	}
	for method, n := range counts.Requests {
		c.Second["s3_"+method] = float64(n) / c.Seconds
		if c.Checkpoints > 0 {
			c.Requests[method] = float64(n) / float64(c.Checkpoints)
		}
	}
	return c
}

// brief tells a phase in one line.
func (c cost) brief() string {
	return fmt.Sprintf("%s: %.1f checkpoints/s, save p50 %.0f ms p99 %.0f ms, machine %.0f %% busy", c.Name, c.PerSecond, c.Times["save"].P50, c.Times["save"].P99, 100*c.Busy)
}

// statement is one that the database was asked, with its cost for one checkpoint.
type statement struct {
	Text  string  `json:"text"`
	Calls float64 `json:"calls"`
	Took  float64 `json:"ms"`
}

func (b *bed) forgetStatements() error {
	if !b.counts {
		return nil
	}
	return b.pg.Run("postgres", database, "SELECT pg_stat_statements_reset()")
}

// statements answers the most frequent ones since they were forgotten.
func (b *bed) statements(ctx context.Context, checkpoints int64) (out []statement, err error) {
	if !b.counts || checkpoints == 0 {
		return nil, nil
	}
	db, err := sql.Open("pgx", b.pg.DSN("postgres", database))
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // only read
	rows, err := db.QueryContext(ctx, `SELECT left(regexp_replace(query, '\s+', ' ', 'g'), 160), SUM(calls)::float8 / $1::bigint, SUM(total_exec_time)::float8 / $1::bigint
		FROM pg_stat_statements s JOIN pg_database d ON d.oid = s.dbid WHERE d.datname = $2 GROUP BY 1 ORDER BY 2 DESC LIMIT 40`, checkpoints, database)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var s statement
		if err := rows.Scan(&s.Text, &s.Calls, &s.Took); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}
