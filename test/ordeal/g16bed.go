//go:build linux

package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/parts"
)

// alsoPostgres: without it the ordeals of the server run on SQLite alone.
var alsoPostgres = flag.Bool("postgres", false, "run the ordeals of the server on a PostgreSQL of our own too")

var databases atomic.Int64

// cluster is started once, and ends with us.
var cluster = sync.OnceValues(func() (*parts.Postgres, error) {
	dir, _, err := parts.Scratch("")
	if err != nil {
		return nil, err
	}
	return parts.StartPostgres(filepath.Join(dir, "pg"), "fsync=off")
})

// postgresFor makes a new database; "" when none is wanted.
func postgresFor(*run) (string, error) {
	if !*alsoPostgres {
		return "", nil
	}
	c, err := cluster()
	if err != nil {
		return "", err
	}
	return c.Database(fmt.Sprintf("ordeal%d", databases.Add(1)))
}

// idForms find what names something of one namespace. Digests of contents are the same
// for all who have these contents.
var idForms = []*regexp.Regexp{idForm, secretForm, regexp.MustCompile(`\b[a-z][0-9a-f]{32}\b`)}

// either is an id of a kind: mostly one of the asker's own, from a number on; at times
// one of the other's.
func (t *worlds) either(c *dice, own *reader, kind string, from int) (string, bool) {
	if all := t.nb.all[kind]; c == t.dice && len(all) > 0 && c.chance(15) {
		return all[c.IntN(len(all))], true
	}
	n := len(own.all[kind])
	if n <= from {
		return "", false
	}
	return slot(kind, from+c.IntN(n-from)), true
}

// controls open a fence, and answer how often that is seen.
func (t *worlds) controls() (int64, error) {
	var caught int64
	var err error
	seen := func(before func()) {
		before()
		for _, path := range []string{"/v1/workspaces", "/v1/keys", "/v1/webhooks", "/v1/snapshots"} {
			for _, kind := range []retake.KeyKind{retake.KeyReader, retake.KeyAdmin} {
				if diff, _ := t.both("control", asked{method: http.MethodGet, path: path, header: map[string]string{}}, kind); diff != "" {
					caught++
					return
				}
			}
		}
	}
	own := t.a1.keys
	seen(func() { t.a1.keys = t.b.keys })
	t.a1.keys = own
	seen(func() {
		err = t.one.rows.force(`UPDATE workspace SET ns = 'alpha' WHERE ns = 'beta'`)
	})
	return caught, err
}

// force changes rows, whoever they are of.
func (v *rowView) force(text string) error {
	if err := v.unfence(); err != nil {
		return err
	}
	_, err := v.conn.ExecContext(context.Background(), text)
	return err
}

// unfence drops the fence of the database; SQLite has none.
func (v *rowView) unfence() error {
	if !v.postgres {
		return nil
	}
	for table := range v.tables {
		if _, err := v.conn.ExecContext(context.Background(), `ALTER TABLE "`+table+`" NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY`); err != nil {
			return err
		}
	}
	return nil
}
