package sqlledger_test

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/retake-dev/retake/internal/catalog/sqlite"
	"github.com/retake-dev/retake/internal/ledger/ledgertest"
	"github.com/retake-dev/retake/internal/ledger/sqlledger"
)

func BenchmarkSQLite(b *testing.B) {
	for _, durable := range []bool{false, true} {
		b.Run("durable="+strconv.FormatBool(durable), func(b *testing.B) {
			db, err := sqlite.DB(b.Context(), filepath.Join(b.TempDir(), "server.db"), sqlite.Options{Durable: durable})
			ok(b, err)
			b.Cleanup(func() { ok(b, db.Close()) })
			ledgertest.Bench(b, open(b, db, sqlledger.Options{}))
		})
	}
}
