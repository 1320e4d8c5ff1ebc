package sqlite_test

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/catalogtest"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
)

func open(t *testing.T, path, ns string) catalog.Catalog {
	t.Helper()
	c, err := sqlite.Open(t.Context(), path, ns, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func wantNoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestSuiteOnFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	catalogtest.Run(t, func(t *testing.T, ns string) catalog.Catalog {
		t.Helper()
		return open(t, path, ns)
	})
}

func TestSuiteInMemory(t *testing.T) {
	t.Parallel()
	db, err := sqlite.OpenDB(t.Context(), sqlite.Memory, sqlite.Options{Durable: true})
	wantNoError(t, err)
	t.Cleanup(func() { wantNoError(t, db.Close()) })
	catalogtest.Run(t, func(t *testing.T, ns string) catalog.Catalog {
		t.Helper()
		c, err := sqlcatalog.New(t.Context(), db, ns, sqlcatalog.Options{Explain: sqlite.Explain(sqlite.Memory)})
		wantNoError(t, err)
		return c
	})
}

func checkpoint(ws string, n int) retake.Checkpoint {
	return retake.Checkpoint{
		ID: retake.CheckpointID(fmt.Sprintf("cp_%s_%d", ws, n)), Workspace: retake.WorkspaceID(ws), Number: int64(n),
		Time:     time.Date(2026, 1, 1, 0, n, 0, 0, time.UTC),
		Coverage: retake.Coverage{Grade: retake.Complete, Gaps: []retake.Gap{{Path: "x", Reason: retake.ReasonIgnored}}},
	}
}

// TestInMemoryAlone: a catalog in memory keeps its rows over calls, and shares
// them with nobody.
func TestInMemoryAlone(t *testing.T) {
	t.Parallel()
	one, two := open(t, sqlite.Memory, "a"), open(t, sqlite.Memory, "a")
	wantNoError(t, one.Append(t.Context(), checkpoint("w", 1)))
	for c, want := range map[catalog.Catalog]int64{one: 1, two: 0} {
		live, _, err := c.Counts(t.Context(), "w")
		wantNoError(t, err)
		if live != want {
			t.Errorf("%d live, want %d", live, want)
		}
		wantNoError(t, c.Close())
	}
}

func TestReopen(t *testing.T) {
	t.Parallel()
	// A path with signs that mean something in a URI.
	path := filepath.Join(t.TempDir(), "a?mode=ro&x #%41 é.db")
	ws := retake.Workspace{ID: "w", Name: "n", Root: "/r", Created: time.Date(2026, 1, 1, 0, 0, 0, 7, time.UTC)}
	pins := []retake.Pin{{Name: "p", Checkpoint: "c", Number: 2}}
	c := open(t, path, "a")
	wantNoError(t, c.PutWorkspace(t.Context(), ws))
	wantNoError(t, c.Append(t.Context(), checkpoint("w", 1)))
	wantNoError(t, c.Append(t.Context(), checkpoint("w", 2)))
	wantNoError(t, c.Bury(t.Context(), "w", []retake.Tombstone{{Number: 1, ID: checkpoint("w", 1).ID}}))
	wantNoError(t, c.SetPins(t.Context(), "w", pins))
	wantNoError(t, c.SetMark(t.Context(), "k", "v"))
	before := readEverything(t, c)
	wantNoError(t, c.Close())
	if _, err := os.Stat(path); err != nil {
		t.Errorf("the file has another name: %v", err)
	}

	c = open(t, path, "a")
	if d := cmp.Diff(before, readEverything(t, c)); d != "" {
		t.Errorf("after opening again (-want +got):\n%s", d)
	}
	wantNoError(t, c.Close())
	if len(before) != 6 {
		t.Errorf("looked at %d kinds of rows", len(before))
	}
}

func readEverything(t *testing.T, c catalog.Catalog) map[string]any {
	t.Helper()
	all, err := c.Workspaces(t.Context())
	wantNoError(t, err)
	page, err := c.Page(t.Context(), retake.LogQuery{Workspace: "w"})
	wantNoError(t, err)
	stones, err := c.Tombstones(t.Context(), "w")
	wantNoError(t, err)
	pins, err := c.Pins(t.Context(), "w")
	wantNoError(t, err)
	notices, err := c.Pending(t.Context(), 0)
	wantNoError(t, err)
	mark, err := c.Mark(t.Context(), "k")
	wantNoError(t, err)
	if len(all) != 1 || len(page) != 1 || len(stones) != 1 || len(pins) != 1 || len(notices) != 3 || mark != "v" {
		t.Fatalf("rows are missing: %v %v %v %v %v %q", all, page, stones, pins, notices, mark)
	}
	return map[string]any{"workspaces": all, "page": page, "stones": stones, "pins": pins, "notices": notices, "mark": mark}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	for durable, level := range map[bool]string{true: "2", false: "1"} {
		db, err := sqlite.OpenDB(t.Context(), filepath.Join(t.TempDir(), "c.db"), sqlite.Options{Durable: durable})
		wantNoError(t, err)
		for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": level, "busy_timeout": "10000", "foreign_keys": "0"} {
			var got string
			wantNoError(t, db.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&got))
			if got != want {
				t.Errorf("durable %v: %s is %s, want %s", durable, pragma, got, want)
			}
		}
		wantNoError(t, db.Close())
	}
}

// The rest is about processes: the test binary runs itself.
var (
	childPath  = flag.String("child.catalog", "", "the file that a child process appends to")
	childSpace = flag.String("child.workspace", "", "its workspace")
)

const childAppends = 25

// TestChild is what a child process does; alone it does nothing.
func TestChild(t *testing.T) {
	if *childPath == "" {
		t.Skip("only for child processes")
	}
	for n := 1; n <= childAppends; n++ {
		// A handle per row: processes are short, and opening is where locks meet.
		c := open(t, *childPath, "a")
		wantNoError(t, c.Append(t.Context(), checkpoint(*childSpace, n)))
		wantNoError(t, c.Close())
	}
}

func TestProcesses(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	self, err := os.Executable()
	wantNoError(t, err)
	const processes = 8
	var g errgroup.Group
	for p := range processes {
		g.Go(func() error {
			cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestChild$", "-child.catalog="+path, fmt.Sprintf("-child.workspace=w%d", p))
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("process %d: %w\n%s", p, err, out)
			}
			return nil
		})
	}
	wantNoError(t, g.Wait())
	c := open(t, path, "a")
	for p := range processes {
		live, last, err := c.Counts(t.Context(), retake.WorkspaceID(fmt.Sprintf("w%d", p)))
		wantNoError(t, err)
		if live != childAppends || last != childAppends {
			t.Errorf("process %d: %d live, last %d", p, live, last)
		}
	}
	notices, err := c.Pending(t.Context(), 0)
	wantNoError(t, err)
	for i, n := range notices {
		if n.ID != int64(i+1) {
			t.Fatalf("notice %d has number %d", i, n.ID)
		}
	}
	if len(notices) != processes*childAppends {
		t.Errorf("%d notices", len(notices))
	}
	wantNoError(t, c.Close())
}

// TestOpenTogether: handles that make one new file at once all succeed.
func TestOpenTogether(t *testing.T) {
	t.Parallel()
	for range 5 {
		path := filepath.Join(t.TempDir(), "catalog.db")
		var g errgroup.Group
		for h := range 8 {
			g.Go(func() error {
				c, err := sqlite.Open(t.Context(), path, "a", sqlite.Options{})
				if err != nil {
					return err
				}
				if err := c.Append(t.Context(), checkpoint(fmt.Sprintf("w%d", h), 1)); err != nil {
					return err
				}
				return c.Close()
			})
		}
		wantNoError(t, g.Wait())
		c := open(t, path, "a")
		notices, err := c.Pending(t.Context(), 0)
		wantNoError(t, err)
		if len(notices) != 8 {
			t.Fatalf("%d of 8 handles wrote", len(notices))
		}
		wantNoError(t, c.Close())
	}
}

// TestReadWhileWriting: a reader does not wait for a transaction that is open.
func TestReadWhileWriting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.db")
	c := open(t, path, "a")
	wantNoError(t, c.Append(t.Context(), checkpoint("w", 1)))
	db, err := sqlite.OpenDB(t.Context(), path, sqlite.Options{})
	wantNoError(t, err)
	var tx *sql.Tx
	tx, err = db.BeginTx(t.Context(), nil)
	wantNoError(t, err)
	_, err = tx.ExecContext(t.Context(), "DELETE FROM checkpoint")
	wantNoError(t, err)

	// The writer holds on until the read is over: waiting would be forever.
	if _, err := c.Latest(t.Context(), "w", 0); err != nil {
		t.Error(err)
	}
	other := open(t, path, "a") // nor does opening wait
	if _, err := other.Checkpoint(t.Context(), checkpoint("w", 1).ID); err != nil {
		t.Error(err)
	}
	wantNoError(t, other.Close())
	wantNoError(t, tx.Rollback())
	wantNoError(t, db.Close())
	wantNoError(t, c.Close())
}
