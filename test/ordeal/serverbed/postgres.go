//go:build linux

package serverbed

import (
	"flag"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/parts"
)

// OnPostgres adds the rows of the same ordeals on Postgres, each on a database of its
// own, where there is one.
func OnPostgres(r *harness.Run, out []harness.Verdict, ordeals ...func(*harness.Run, string) harness.Verdict) []harness.Verdict {
	for _, f := range ordeals {
		dsn, err := PostgresFor(r)
		if err != nil {
			v := harness.Verdict{What: "start Postgres"}
			v.Fail("%v", err)
			return append(out, v)
		}
		if dsn == "" {
			return out
		}
		v := f(r, dsn)
		v.What += ", on Postgres"
		out = append(out, v)
	}
	return out
}

// AlsoPostgres: without it the ordeals of the server run on SQLite alone.
var AlsoPostgres = flag.Bool("postgres", false, "run the ordeals of the server on a PostgreSQL of our own too")

var databases atomic.Int64

// cluster is started once, and ends with us.
var cluster = sync.OnceValues(func() (*parts.Postgres, error) {
	dir, _, err := parts.Scratch("")
	if err != nil {
		return nil, err
	}
	return parts.StartPostgres(filepath.Join(dir, "pg"), "fsync=off")
})

// PostgresFor makes a new database; "" when none is wanted.
func PostgresFor(*harness.Run) (string, error) {
	if !*AlsoPostgres {
		return "", nil
	}
	c, err := cluster()
	if err != nil {
		return "", err
	}
	return c.Database(fmt.Sprintf("ordeal%d", databases.Add(1)))
}
