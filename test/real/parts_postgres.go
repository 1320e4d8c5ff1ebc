//go:build postgres

// Package real runs parts of Retake on the real things that a server stands on.
//
// Its tests carry the build tag of what they need: postgres, s3, or both. What starts these
// things is test/parts; here they are as tests want them.
package real

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/retake-dev/retake/test/parts"
)

// Careless is a setting for tests that do not care for power cuts.
const Careless = "fsync=off"

// Cluster is a PostgreSQL server of this test binary.
type Cluster struct{ *parts.Postgres }

var clusters struct {
	sync.Mutex
	started   map[string]Cluster
	databases atomic.Int64
}

// StartPostgres answers the server with these settings ("name=value"); the first call
// starts it. It ends with the process, however that ends.
func StartPostgres(t testing.TB, settings ...string) Cluster {
	t.Helper()
	clusters.Lock()
	defer clusters.Unlock()
	key := strings.Join(settings, "\n")
	if c, ok := clusters.started[key]; ok {
		return c
	}
	dir, _, err := parts.Scratch("")
	if err != nil {
		t.Fatal(err)
	}
	p, err := parts.StartPostgres(filepath.Join(dir, "pg"), settings...)
	if err != nil {
		t.Fatal(err)
	}
	if clusters.started == nil {
		clusters.started = map[string]Cluster{}
	}
	clusters.started[key] = Cluster{p}
	return Cluster{p}
}

// Database makes an empty database and answers how its owner, who is no superuser,
// connects to it.
func (c Cluster) Database(t testing.TB) string {
	t.Helper()
	dsn, err := c.Postgres.Database(fmt.Sprintf("d%d", clusters.databases.Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	return dsn
}
