package sqldb_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb/serverdbtest"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
)

func BenchmarkSQLite(b *testing.B) {
	for _, durable := range []bool{false, true} {
		b.Run("durable="+strconv.FormatBool(durable), func(b *testing.B) {
			db, err := sqlite.OpenDB(b.Context(), filepath.Join(b.TempDir(), "server.db"), sqlite.Options{Durable: durable})
			wantNoError(b, err)
			b.Cleanup(func() { wantNoError(b, db.Close()) })
			serverdbtest.Bench(b, open(b, db, sqldb.Options{}))
		})
	}
}
