//go:build linux

package main

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
)

// chaosControls breaks each promise on purpose, and judges again: who looks must notice.
func (b *bed) chaosControls(ctx context.Context, exist, twice, equal, told, audit *verdict) {
	note("controls")
	var d *desk
	for _, one := range b.desks {
		if !one.lost && len(one.all()) > 2 {
			d = one
			break
		}
	}
	if d == nil {
		return // nothing is caught, and that is told
	}
	for _, c := range []struct {
		v  *verdict
		do func(context.Context, *desk) (int64, error)
	}{
		{told, b.controlMessages}, {twice, b.controlTwice}, {audit, b.controlAudit}, {exist, b.controlExist}, {equal, b.controlBytes},
	} {
		caught, err := c.do(ctx, d)
		if c.v.Caught = caught; err != nil {
			c.v.fail("control: %v", err)
		}
	}
}

// controlMessages lets the outbox forget one notice.
func (b *bed) controlMessages(ctx context.Context, d *desk) (int64, error) {
	const forget = `CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
		CREATE TRIGGER forgetful BEFORE INSERT ON outbox FOR EACH ROW EXECUTE FUNCTION forget()`
	if err := b.pg.Run("postgres", database, forget); err != nil {
		return 0, err
	}
	err := d.save(ctx)
	err = join(err, b.pg.Run("postgres", database, "DROP TRIGGER forgetful ON outbox"))
	if err != nil {
		return 0, err
	}
	if err := d.save(ctx); err != nil { // whose message shows that the others would be there
		return 0, err
	}
	all := d.all()
	last := all[len(all)-1]
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && ctx.Err() == nil && b.hooks.has(d.t.ns, last.id) == 0; {
		wait(ctx, 100*time.Millisecond)
	}
	if b.hooks.has(d.t.ns, last.id) == 0 {
		return 0, fmt.Errorf("no message of %s in a minute, though nothing is broken: %s", last.id, b.backlog(ctx, d.t.ns, string(last.id)))
	}
	gone, _ := b.missing([]*desk{d})
	return int64(len(gone)), nil
}

// backlog tells what waits in the tables of the server, for who wants to know why.
func (b *bed) backlog(ctx context.Context, ns, id string) string {
	db, err := sql.Open("pgx", b.pg.DSN("postgres", database))
	if err != nil {
		return err.Error()
	}
	defer db.Close() //nolint:errcheck // only read
	var text string
	err = db.QueryRowContext(ctx, `SELECT 'row ' || (SELECT COUNT(*) FROM checkpoint WHERE ns = $1 AND id = $2)
		|| ', event ' || (SELECT COUNT(*) FROM event WHERE ns = $1 AND convert_from(data, 'UTF8') LIKE '%' || $2 || '%')
		|| ', messages ' || (SELECT COUNT(*) FROM delivery WHERE ns = $1 AND convert_from(message, 'UTF8') LIKE '%' || $2 || '%')
		|| ', outbox ' || (SELECT COUNT(*) FROM outbox WHERE ns = $1)
		|| ', undelivered ' || (SELECT COUNT(*) FROM delivery WHERE ns = $1 AND state <> 'delivered')
		|| ', due ' || COALESCE((SELECT string_agg(queue || ' ' || id || ' in ' || (at_us / 1000000 - extract(epoch FROM now())::bigint) || ' s, leased for '
			|| (lease_us / 1000000 - extract(epoch FROM now())::bigint) || ' s', '; ') FROM due WHERE ns = $1), 'nothing')`, ns, id).Scan(&text)
	if err != nil {
		return err.Error()
	}
	return text
}

// controlTwice asks for one intent under two keys.
func (b *bed) controlTwice(ctx context.Context, d *desk) (int64, error) {
	intent := uuid.NewString()
	d.mu.Lock()
	d.keys[intent] = true
	d.mu.Unlock()
	for range 2 {
		_, err := b.caller.do(ctx, deed{method: http.MethodPost, path: d.path("checkpoints"), key: d.t.keys[retake.KeyAgent], once: uuid.NewString(), body: map[string]any{"intent": intent}})
		if err != nil {
			return 0, err
		}
	}
	l, err := d.timeline(ctx)
	var exist, twice verdict
	d.holdTo(l, err, &exist, &twice)
	return twice.Failed, err
}

// controlAudit changes one entry, as who owns the database can.
func (b *bed) controlAudit(ctx context.Context, d *desk) (int64, error) {
	err := b.pg.Run("postgres", database, fmt.Sprintf("UPDATE audit SET body = convert_to(replace(convert_from(body, 'UTF8'), 'checkpoint', 'something'), 'UTF8') WHERE ns = '%s' AND seq > 5", d.t.ns))
	if err != nil {
		return 0, err
	}
	p, err := b.audit(ctx, d.t)
	if err == nil && p.Broken != 0 {
		return 1, nil
	}
	return 0, err
}

// controlExist deletes one row of the catalog.
func (b *bed) controlExist(ctx context.Context, d *desk) (int64, error) {
	all := d.all()
	if err := b.pg.Run("postgres", database, fmt.Sprintf("DELETE FROM checkpoint WHERE ns = '%s' AND id = '%s'", d.t.ns, all[len(all)/2].id)); err != nil {
		return 0, err
	}
	l, err := d.timeline(ctx)
	var exist, twice verdict
	d.holdTo(l, err, &exist, &twice)
	return exist.Failed, err
}

// controlBytes deletes an object with stored bytes, and starts the servers again so that
// nobody remembers it.
func (b *bed) controlBytes(ctx context.Context, d *desk) (int64, error) {
	at, err := b.largestPack(d.t.ns)
	if err != nil {
		return 0, err
	}
	if err := os.Remove(at); err != nil {
		return 0, err
	}
	for _, server := range b.servers {
		server.Kill()
		if err := server.Start(); err != nil {
			return 0, err
		}
	}
	var sample []asked
	for _, one := range b.desks {
		for _, a := range one.all() {
			if one.t == d.t && a.whole {
				sample = append(sample, asked{one, a})
			}
		}
	}
	v := b.judgeBytes(ctx, some(sample, 50, b.o.seed))
	return v.Failed, nil
}

// largestPack answers the largest object with bytes of files of a namespace.
func (b *bed) largestPack(ns string) (largest string, err error) {
	var size int64
	err = filepath.WalkDir(b.s3.Dir, func(at string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasPrefix(e.Name(), "p") || !strings.Contains(at, "/"+ns+"/") {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Size() > size {
			largest, size = at, info.Size()
		}
		return err
	})
	if err == nil && largest == "" {
		err = fmt.Errorf("find an object of %s in %s", ns, b.s3.Dir)
	}
	return largest, err
}
