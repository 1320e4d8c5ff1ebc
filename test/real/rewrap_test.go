//go:build postgres

package real_test

import (
	"testing"

	"github.com/retake-dev/retake/internal/server/rewrap/rewraptest"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/test/real"
)

// TestRewrapOnPostgres: secrets are sealed again behind the policies, each test in a database of
// its own.
func TestRewrapOnPostgres(t *testing.T) {
	t.Parallel()
	c := real.StartPostgres(t, real.Careless)
	rewraptest.Run(t, func(t *testing.T) serverdb.Ledger {
		t.Helper()
		db, _ := ledgerDB(t, c)
		return openLedger(t, db)
	})
}
