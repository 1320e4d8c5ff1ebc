// Package sqlite keeps a catalog in one SQLite file that several processes use
// at once.
//
// It makes the file, opens it and puts the driver's errors into words; the rows
// are those of sqlcatalog. It touches the file and its -wal and -shm neighbours, nothing else.
//
//	L1  The file and its neighbours can be read and written by their owner only.
//	L2  Writers wait for each other up to ten seconds; readers never wait for writers.
//	L3  Nobody here opens the file beside the driver: to close it would drop the driver's locks.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
)

// Memory is the path of a database that lives in this process only.
const Memory = ":memory:"

const (
	busyTimeout = 10 * time.Second // how long a writer waits for the others
	maxConns    = 4                // connections per database; more would only wait inside SQLite
)

// Options choose how durable a commit is.
type Options struct {
	// Durable commits survive a power cut. The others survive a crash of the
	// process, but a power cut may take the newest of them.
	Durable bool
	// OneShot is for a process that ends right after Close: the log is left to
	// the next one. To fold it into the file at every exit would cost four syncs
	// for each command.
	OneShot bool
}

// Open opens the catalog of a namespace and creates the file if there is none. Its directory
// must exist.
func Open(ctx context.Context, path, ns string, opts Options) (catalog.Catalog, error) {
	db, err := OpenDB(ctx, path, opts)
	if err != nil {
		return nil, err
	}
	rows, err := sqlcatalog.New(ctx, db, ns, sqlcatalog.Options{Explain: Explain(path)})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &fileCatalog{Catalog: rows, db: db, oneShot: opts.OneShot}, nil
}

// fileCatalog is a catalog that owns its database.
type fileCatalog struct {
	*sqlcatalog.Catalog
	db      *sql.DB
	oneShot bool
}

// Wipe rewrites the file: otherwise deleted rows stay in free pages and in the log.
func (f *fileCatalog) Wipe(ctx context.Context) error {
	for _, text := range []string{"PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := f.db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("wipe catalog: %w", err)
		}
	}
	return nil
}

// Close closes the database.
func (f *fileCatalog) Close() error {
	if f.oneShot {
		return nil
	}
	if err := f.db.Close(); err != nil {
		return fmt.Errorf("close catalog: %w", err)
	}
	return nil
}

// OpenDB opens only the database, for several namespaces in one process.
func OpenDB(ctx context.Context, path string, opts Options) (*sql.DB, error) {
	name, conns := Memory, 1 // each connection to memory would be a database of its own
	if path != Memory {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("open catalog: %w", err)
		}
		if err := createFile(abs); err != nil {
			return nil, err
		}
		name, conns = fileURI(abs), maxConns
	}
	db, err := sql.Open("sqlite", name+"?"+connSettings(opts))
	if err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	err = enableWAL(ctx, db)
	if isUnwritable(err) && path != Memory {
		if still, serr := openReadOnly(ctx, name); serr == nil {
			return still, db.Close()
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open catalog: %w", Explain(path)(err)), db.Close())
	}
	return db, nil
}

// openReadOnly opens a file that cannot be written: rows can be read, and every change is
// refused. A log beside it that could not be opened is ignored.
func openReadOnly(ctx context.Context, name string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", name+"?mode=ro&immutable=1&_error_rc=1")
	if err != nil {
		return nil, err
	}
	var n int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM sqlite_master").Scan(&n); err != nil || n == 0 {
		return nil, errors.Join(errors.New("nothing to read"), err, db.Close())
	}
	return db, nil
}

// createMu keeps every other open of this process waiting while a new file has a descriptor
// that is not the driver's (L3).
var createMu sync.Mutex

// createFile creates the file with its mode before the driver creates it with another; the
// files beside it inherit the mode.
func createFile(path string) error {
	createMu.Lock()
	defer createMu.Unlock()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create catalog: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("create catalog: %w", err)
	}
	return nil
}

// fileURI escapes "?", "#" and "%" in a path.
func fileURI(abs string) string {
	slashed := "/" + strings.TrimPrefix(filepath.ToSlash(abs), "/")
	return "file:" + (&url.URL{Path: slashed}).EscapedPath()
}

func connSettings(opts Options) string {
	sync := "NORMAL"
	if opts.Durable {
		sync = "FULL"
	}
	return url.Values{
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)},
		"_txlock":       {"immediate"}, // a transaction that reads first and writes later could not wait
		"_foreign_keys": {"0"},
		"_synchronous":  {sync},
		"_error_rc":     {"1"},
	}.Encode()
}

// enableWAL switches the file to a write-ahead log, which is permanent. SQLite does not wait
// for another process that writes or switches a file without a log, so we do.
func enableWAL(ctx context.Context, db *sql.DB) error {
	enough := time.NewTimer(busyTimeout)
	defer enough.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		_, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL")
		if !isBusy(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-enough.C:
			return err
		case <-again.C:
		}
	}
}
