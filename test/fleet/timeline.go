//go:build linux

package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/parts"
)

// timelineResult is how long questions take when the catalog is long.
type timelineResult struct {
	Checkpoints int              `json:"checkpoints"`
	Times       map[string]times `json:"times"`
	Bytes       int64            `json:"database_bytes"`
	Made        float64          `json:"made_seconds"`
}

const (
	shortTimeline = 10_000
	askings       = 400
)

// playTimeline asks a server with a short and with a long timeline the same. The rows are
// copies of one that the server made.
func (o *options) playTimeline(ctx context.Context, dir string, res *result) (err error) {
	b := &bed{o: o, dir: dir}
	defer func() { err = join(err, b.close()) }()
	if err := os.MkdirAll(dir, 0o711); err != nil {
		return err
	}
	if b.pg, err = parts.StartPostgres(filepath.Join(dir, "pg"), "fsync=off", "max_wal_size=4GB"); err != nil {
		return err
	}
	dsn, err := b.pg.Database(database)
	if err != nil {
		return err
	}
	b.serving = parts.Serving{Program: o.program, Dir: filepath.Join(dir, "servers"), Data: filepath.Join(dir, "data"), Postgres: dsn}
	if err := os.MkdirAll(b.serving.Dir, 0o700); err != nil {
		return err
	}
	t, err := b.addTenant(ctx, "long")
	if err != nil {
		return err
	}
	s, err := parts.StartServer(b.serving, "server")
	if err != nil {
		return err
	}
	b.servers = []*parts.Server{s}
	b.caller = newCaller("http://" + s.Address)
	limits := map[string]any{"per_second": 1_000_000}
	if _, err := b.caller.must(ctx, deed{method: http.MethodPut, path: "/v1/namespace/limits", key: t.keys[retake.KeyAdmin], body: limits}); err != nil {
		return err
	}
	return b.grow(ctx, t, res)
}

func (b *bed) grow(ctx context.Context, t *tenant, res *result) error {
	a, err := b.caller.must(ctx, deed{method: http.MethodGet, path: "/v1/namespace", key: t.keys[retake.KeyAgent]})
	if err != nil {
		return err
	}
	var ns retake.Namespace
	if err := json.Unmarshal(a.body, &ns); err != nil {
		return err
	}
	have, tried, bad := 1, int64(0), int64(0)
	var why []string
	began := time.Now()
	for _, n := range []int{min(shortTimeline, b.o.rows), b.o.rows} {
		if n <= have {
			continue
		}
		note("timeline of %d", n)
		made := time.Now()
		if err := b.multiply(ctx, t.ns, ns.Default, have, n); err != nil {
			return err
		}
		have = n
		took := time.Since(made).Seconds()
		r, err := b.askLong(ctx, t, ns.Default, n)
		if err != nil {
			return err
		}
		r.Made = took
		times, asked, refused, more := b.caller.harvest()
		r.Times = allTimes(times)
		tried, bad, why = tried+asked, bad+refused, append(why, more...)
		res.Timeline = append(res.Timeline, r)
		note("  list p50 %.1f ms p99 %.1f ms, get p50 %.1f ms p99 %.1f ms", r.Times["list"].P50, r.Times["list"].P99, r.Times["get"].P50, r.Times["get"].P99)
	}
	v := verdict{Guarantee: "LOAD", What: "a long timeline is listed and asked", Tried: tried, Failed: bad, Failures: why, Control: "a number that is not there", Seconds: time.Since(began).Seconds()}
	if _, err := b.caller.do(ctx, deed{method: http.MethodGet, path: fmt.Sprintf("/v1/workspaces/%s/find?ref=%d", ns.Default, have+1), key: t.keys[retake.KeyAgent]}); err != nil {
		v.Caught = 1
	}
	res.Rows = append(res.Rows, v)
	return nil
}

// multiply copies the first checkpoint under every number up to n, as the owner does it.
func (b *bed) multiply(ctx context.Context, ns string, ws retake.WorkspaceID, have, n int) error {
	db, err := sql.Open("pgx", b.pg.DSN(parts.Owner, database))
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // committed or not
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, "SELECT set_config('retake.ns', $1, true)", ns); err != nil {
		return err
	}
	const name = `'cp_' || substr(md5(g::text), 1, 8) || '-' || substr(md5(g::text), 9, 4) || '-7' || substr(md5(g::text), 13, 3) || '-8' || substr(md5(g::text), 16, 3) || '-' || substr(md5(g::text), 19, 12)`
	copied := `INSERT INTO checkpoint (ns, id, workspace, number, parent, time_us, trigger, intent, tree, content, grade, files, dirs, bytes, new_bytes, added, deleted, edited, body)
		SELECT ns, ` + name + `, workspace, g, id, time_us + g * 1000000::bigint, trigger, 'turn ' || g, tree, content, grade, files, dirs, bytes, new_bytes, added, deleted, edited,
			convert_to((convert_from(body, 'UTF8')::jsonb || jsonb_build_object('id', ` + name + `, 'number', g, 'parent', id, 'intent', 'turn ' || g))::text, 'UTF8')
		FROM checkpoint, generate_series($1::bigint, $2::bigint) g WHERE workspace = $3 AND number = 1`
	if _, err := tx.ExecContext(ctx, copied, have+1, n, string(ws)); err != nil {
		return fmt.Errorf("copy checkpoints: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "UPDATE tally SET live = $1 WHERE workspace = $2", n, string(ws)); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	return b.pg.Run("postgres", database, "VACUUM ANALYZE checkpoint")
}

// askLong lists and gets at random places.
func (b *bed) askLong(ctx context.Context, t *tenant, ws retake.WorkspaceID, n int) (timelineResult, error) {
	rnd := rand.New(rand.NewPCG(uint64(b.o.seed), uint64(n)))
	at := "/v1/workspaces/" + string(ws)
	key := t.keys[retake.KeyAgent]
	b.caller.harvest()
	for i := range askings {
		ask := deed{method: http.MethodGet, key: key}
		for _, q := range []struct{ name, path string }{
			{"list", fmt.Sprintf("%s/checkpoints?limit=50&before=%d", at, 60+rnd.IntN(n-60))},
			{"newest", at + "/checkpoints?limit=50"},
			{"get", fmt.Sprintf("%s/find?ref=%d", at, 1+rnd.IntN(n))},
		} {
			if ask.name, ask.path = q.name, q.path; i < askings/10 {
				ask.name = "" // the first ones find everything cold
			}
			if _, err := b.caller.do(ctx, ask); err != nil && ctx.Err() != nil {
				return timelineResult{}, ctx.Err()
			}
		}
	}
	r := timelineResult{Checkpoints: n}
	db, err := sql.Open("pgx", b.pg.DSN("postgres", database))
	if err != nil {
		return r, err
	}
	defer db.Close() //nolint:errcheck // only read
	return r, db.QueryRowContext(ctx, "SELECT pg_database_size($1)", database).Scan(&r.Bytes)
}
