package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
)

func TestMode(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("modes are not kept there")
	}
	path := filepath.Join(t.TempDir(), "catalog.db")
	c := open(t, path, "a")
	wantNoError(t, c.Append(t.Context(), checkpoint("w", 1)))
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		info, err := os.Stat(name)
		wantNoError(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", filepath.Base(name), info.Mode())
		}
	}
	wantNoError(t, c.Close())
}

func TestNoDirectory(t *testing.T) {
	t.Parallel()
	_, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "no", "catalog.db"), "a", sqlite.Options{})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("got error %v", err)
	}
}

func wantDamage(t *testing.T, path string, err error) {
	t.Helper()
	if !retake.IsKind(err, retake.Damaged) || !strings.Contains(err.Error(), "the catalog file "+path+" is damaged") {
		t.Fatalf("got error %v", err)
	}
}

func TestDamagedHead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	junk := bytes.Repeat([]byte("not a database. "), 1024)
	wantNoError(t, os.WriteFile(path, junk, 0o600))
	_, err := sqlite.Open(t.Context(), path, "a", sqlite.Options{})
	wantDamage(t, path, err)
	left, err := os.ReadFile(path)
	wantNoError(t, err)
	if !bytes.Equal(left, junk) {
		t.Error("the damaged file was changed")
	}
}

// TestDamagedPages: the head is whole, so that the damage shows when rows are read.
func TestDamagedPages(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	c := open(t, path, "a")
	for n := range 50 {
		wantNoError(t, c.Append(t.Context(), checkpoint("w", n+1)))
	}
	wantNoError(t, c.Close())
	raw, err := os.ReadFile(path)
	wantNoError(t, err)
	const page = 4096
	if len(raw) < 4*page {
		t.Fatalf("the file has only %d bytes", len(raw))
	}
	for i := page; i < len(raw); i++ {
		raw[i] = 0xA5
	}
	wantNoError(t, os.WriteFile(path, raw, 0o600))
	c, err = sqlite.Open(t.Context(), path, "a", sqlite.Options{})
	if err == nil {
		_, err = c.Page(t.Context(), retake.LogQuery{Workspace: "w"})
		wantNoError(t, c.Close())
	}
	wantDamage(t, path, err)
}

// TestWaitEnds: who waits for a writer gives up when its context does.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	c := open(t, path, "a")
	db, err := sqlite.OpenDB(t.Context(), path, sqlite.Options{})
	wantNoError(t, err)
	tx, err := db.BeginTx(t.Context(), nil)
	wantNoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := c.Append(ctx, checkpoint("w", 1)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v", err)
	}
	wantNoError(t, tx.Rollback())
	wantNoError(t, c.Append(t.Context(), checkpoint("w", 1)))
	wantNoError(t, db.Close())
	wantNoError(t, c.Close())
}

// TestSwitchWaits: a new file that another process writes before it has a log is not an error,
// but a wait.
func TestSwitchWaits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	db, err := sql.Open("sqlite", path)
	wantNoError(t, err)
	conn, err := db.Conn(t.Context())
	wantNoError(t, err)
	_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	wantNoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := sqlite.Open(ctx, path, "a", sqlite.Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got error %v", err)
	}
	_, err = conn.ExecContext(t.Context(), "ROLLBACK")
	wantNoError(t, err)
	c := open(t, path, "a")
	wantNoError(t, c.Append(t.Context(), checkpoint("w", 1)))
	wantNoError(t, c.Close())
	wantNoError(t, conn.Close())
	wantNoError(t, db.Close())
}
