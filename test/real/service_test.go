//go:build postgres && s3

package real_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/servicetest"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/postgres"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/real"
)

// The service does the same on both databases and on both places for bytes. Each test has
// a home, which is a namespace and a prefix here; one that opens its home again finds both.
func TestServiceOnPostgresAndS3(t *testing.T) {
	db, err := postgres.OpenDB(t.Context(), real.StartPostgres(t, real.Careless).Database(t), postgres.Options{MaxConns: 40})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := postgres.Prepare(t.Context(), db, sqldb.Tables(), sqldb.Schema()); err != nil {
		t.Fatal(err)
	}
	bucket := real.StartS3(t)
	for name, open := range map[string]func(t *testing.T, home string) assemble.Options{
		"postgres and S3": func(_ *testing.T, home string) assemble.Options {
			return assemble.Options{Exclusive: true, Catalog: rowsIn(db, home), Store: bytesIn(bucket, home)}
		},
		"sqlite and S3": func(_ *testing.T, home string) assemble.Options {
			return assemble.Options{Exclusive: true, Catalog: func(ctx context.Context) (catalog.Catalog, error) {
				return sqlite.Open(ctx, filepath.Join(home, "rows.db"), nameOf(home), sqlite.Options{})
			}, Store: bytesIn(bucket, home)}
		},
		"postgres and disk": func(_ *testing.T, home string) assemble.Options {
			return assemble.Options{Exclusive: true, Catalog: rowsIn(db, home)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if testing.Short() && name != "postgres and S3" {
				t.Skip("the pair of new parts stands for the mixed ones")
			}
			servicetest.Run(t, servicetest.Harness{Copy: copyTree, Open: func(t *testing.T, home string) retake.Service {
				set, err := config.Load(filepath.Join(home, "config.json"))
				if err != nil {
					t.Fatal(err)
				}
				c := config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "this run"}
				o := open(t, home)
				o.Track.Mode = retake.TrackingScan
				s, err := assemble.OpenService(t.Context(), c, set, o)
				if err != nil {
					t.Fatal(err)
				}
				return s
			}})
		})
	}
}

func nameOf(home string) string {
	sum := sha256.Sum256([]byte(home))
	return "t" + hex.EncodeToString(sum[:8])
}

func rowsIn(db *sql.DB, home string) func(context.Context) (catalog.Catalog, error) {
	return func(context.Context) (catalog.Catalog, error) {
		return postgres.Open(db, nameOf(home), sqlcatalog.Options{}), nil
	}
}

func bytesIn(s *real.S3, home string) func(context.Context, bool) (store.Store, error) {
	return func(ctx context.Context, create bool) (store.Store, error) {
		dir := filepath.Join(home, "data", "store")
		locks := filepath.Join(home, "data", "locks")
		for _, d := range []string{dir, locks} {
			if err := os.MkdirAll(d, 0o700); err != nil {
				return nil, err
			}
		}
		o := kopia.Options{
			Dir: dir, FS: fsx.OS(), Locks: fsx.NewLocks(locks), Clock: clock.Wall, Exclusive: true, Password: "of " + home, Derivation: derivation,
			Bucket: &kopia.Bucket{Endpoint: s.Endpoint, Region: s.Region, Name: s.Name, Prefix: nameOf(home) + "/", AccessKey: s.AccessKey, SecretKey: s.SecretKey, Insecure: true},
		}
		if create {
			return kopia.Create(ctx, o)
		}
		return kopia.Open(ctx, o)
	}
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("cp -a: %v: %s", err, out)
	}
}
