package sqlcatalog_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
)

func wantNoError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantEqual[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// TestUpgrade: what was written with the first version alone answers the
// questions of today.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	db := memory(t)
	cp := retake.Checkpoint{
		ID: "cp_1", Workspace: "w", Number: 1, Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Content: "c0ffee",
		Turn: &retake.Turn{Session: "0f3a"}, Coverage: retake.Coverage{Grade: retake.Complete},
	}
	raw, err := json.Marshal(cp)
	wantNoError(t, err)
	run := func(text string, args ...any) {
		t.Helper()
		_, err := db.ExecContext(t.Context(), text, args...)
		wantNoError(t, err)
	}
	run("CREATE TABLE catalog_version (version BIGINT NOT NULL, PRIMARY KEY (version))")
	for _, text := range sqlcatalog.Migrations[0] {
		run(text)
	}
	run("INSERT INTO catalog_version (version) VALUES (1)")
	run(`INSERT INTO checkpoint (ns, id, workspace, number, parent, time_us, trigger, intent, tree, content,
		grade, files, dirs, bytes, new_bytes, added, deleted, edited, body)
		VALUES ('a', 'cp_1', 'w', 1, '', $1, 'manual', '', '', 'c0ffee', 'complete', 0, 0, 0, 0, 0, 0, 0, $2)`, cp.Time.UnixMicro(), raw)

	c := open(t, db, "a")
	for name, ask := range map[string]func() ([]retake.Checkpoint, error){
		"session": func() ([]retake.Checkpoint, error) {
			return c.Page(t.Context(), retake.LogQuery{Workspace: "w", Session: "0f"})
		},
		"bare":    func() ([]retake.Checkpoint, error) { return c.Bare(t.Context(), "w", 1, 0) },
		"content": func() ([]retake.Checkpoint, error) { return c.WithContent(t.Context(), "w", "c0ffee") },
	} {
		got, err := ask()
		wantNoError(t, err)
		wantEqual(t, name, got, []retake.Checkpoint{cp})
	}
	wantNoError(t, c.PutNotes(t.Context(), catalog.Notes{Workspace: "w", Checkpoint: cp.ID, Words: []catalog.Place{{Where: "intent", Text: "Old"}}}))
	found, err := c.Search(t.Context(), retake.SearchQuery{Workspace: "w", Text: "old"})
	wantNoError(t, err)
	wantEqual(t, "search", found, []catalog.Found{{Checkpoint: cp, Place: catalog.Place{Where: "intent", Text: "Old"}}})
}

// TestNothingStays: no row speaks of a checkpoint that is buried (Q5), whether it
// came before or after.
func TestNothingStays(t *testing.T) {
	t.Parallel()
	db := memory(t)
	c := open(t, db, "a")
	tables := []string{"finding", "fact", "place", "verification"}
	for n := range 2 {
		id := retake.CheckpointID(fmt.Sprintf("cp_%d", n))
		know := func() {
			t.Helper()
			wantNoError(t, c.PutNotes(t.Context(), catalog.Notes{
				Workspace: "w", Checkpoint: id, Facts: []retake.Fact{{Name: "x"}}, Words: []catalog.Place{{Where: "path", Text: "x"}},
			}))
			wantNoError(t, c.PutVerification(t.Context(), retake.Verification{ID: "vf_1", Workspace: "w", Checkpoint: id}))
		}
		see := func(want string) {
			t.Helper()
			for _, table := range tables {
				wantEqual(t, table, rows(t, db, "SELECT COUNT(*) FROM "+table), [][]string{{want}})
			}
		}
		wantNoError(t, c.Append(t.Context(), retake.Checkpoint{ID: id, Workspace: "w", Number: int64(n)}))
		know()
		see("1")
		wantNoError(t, c.Bury(t.Context(), "w", []retake.Tombstone{{ID: id, Number: int64(n)}}))
		see("0")
		know()
		see("0")
	}
}

// TestTooManyReadings: those that were written first go, and only those of one
// namespace.
func TestTooManyReadings(t *testing.T) {
	t.Parallel()
	db := memory(t)
	c, other := open(t, db, "a"), open(t, db, "b")
	key := func(i int) catalog.ReadingKey {
		return catalog.ReadingKey{Object: retake.ObjectID(fmt.Sprintf("k%06d", i)), Reader: "npm/1"}
	}
	put := func(c *sqlcatalog.Catalog, from, to int) {
		t.Helper()
		all := map[catalog.ReadingKey][]byte{}
		for i := from; i < to; i++ {
			all[key(i)] = []byte{1}
		}
		wantNoError(t, c.PutReadings(t.Context(), all))
	}
	kept := func(c *sqlcatalog.Catalog, keys ...int) []int {
		t.Helper()
		var asked []catalog.ReadingKey
		for _, i := range keys {
			asked = append(asked, key(i))
		}
		got, err := c.Readings(t.Context(), asked)
		wantNoError(t, err)
		left := []int{}
		for _, i := range keys {
			if got[key(i)] != nil {
				left = append(left, i)
			}
		}
		return left
	}
	const most = sqlcatalog.MaxReadings
	put(other, 0, 1)
	put(c, 0, most)
	wantEqual(t, "all there is room for", kept(c, 0, 1, 2, 3, most-1), []int{0, 1, 2, 3, most - 1})
	put(c, 0, 2) // again: they are young now
	put(c, most, most+1)
	wantEqual(t, "after one more", kept(c, 0, 1, 2, 3, most), []int{0, 1, 3, most})
	put(c, most+1, most+500)
	wantEqual(t, "after many more", kept(c, 0, 1, 3, 501, 502, most+499), []int{0, 1, 502, most + 499})
	wantEqual(t, "another namespace", kept(other, 0), []int{0})
	wantEqual(t, "rows", rows(t, db, "SELECT ns, COUNT(*) FROM reading GROUP BY ns ORDER BY ns"), [][]string{{"a", fmt.Sprint(most)}, {"b", "1"}})
}
