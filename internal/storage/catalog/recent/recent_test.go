package recent_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/catalogtest"
	"github.com/retake-dev/retake/internal/storage/catalog/recent"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
)

// The suite of every catalog, with one remembering catalog for each namespace, as in a server.
func TestSuite(t *testing.T) {
	t.Parallel()
	db, err := sqlite.OpenDB(t.Context(), filepath.Join(t.TempDir(), "rows.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	open := map[string]catalog.Catalog{}
	catalogtest.Run(t, func(t *testing.T, ns string) catalog.Catalog {
		t.Helper()
		if open[ns] == nil {
			c, err := sqlcatalog.New(t.Context(), db, ns, sqlcatalog.Options{})
			if err != nil {
				t.Fatal(err)
			}
			open[ns] = recent.New(c)
		}
		return open[ns]
	})
}

// below is a catalog that counts what it is asked.
type below struct {
	catalog.Catalog
	marks  map[string]string
	asked  int
	during func() // runs while a mark is read
	fail   error
}

func (b *below) Mark(_ context.Context, key string) (string, error) {
	b.asked++
	v := b.marks[key]
	if b.during != nil {
		b.during()
	}
	return v, nil
}

func (b *below) SetMark(_ context.Context, key, value string) error {
	b.marks[key] = value // also a change that fails may have happened
	return b.fail
}

func (b *below) Append(_ context.Context, _ retake.Checkpoint, marks ...catalog.Mark) error {
	for _, m := range marks {
		b.marks[m.Key] = m.Value
	}
	return b.fail
}

func (b *below) Reset(context.Context) error { b.marks = map[string]string{}; return nil }

func wantMark(t *testing.T, r *recent.Catalog, b *below, want string, asked int) {
	t.Helper()
	b.asked = 0
	got, err := r.Mark(t.Context(), "k")
	if err != nil || got != want || b.asked != asked {
		t.Errorf("mark %q, error %v, asked %d times; want %q and %d", got, err, b.asked, want, asked)
	}
}

// What is remembered is not asked again, and is what is stored, also after a change that failed and
// after a read that a change overtook.
func TestRemembersOnlyWhatHolds(t *testing.T) {
	t.Parallel()
	b := &below{marks: map[string]string{"k": "1"}}
	r := recent.New(b)
	wantMark(t, r, b, "1", 1)
	wantMark(t, r, b, "1", 0)
	_ = r.SetMark(t.Context(), "k", "2")
	wantMark(t, r, b, "2", 0)
	b.fail = errors.New("as planned")
	_ = r.SetMark(t.Context(), "k", "3")
	wantMark(t, r, b, "3", 1)
	_ = r.Append(t.Context(), retake.Checkpoint{}, catalog.Mark{Key: "k", Value: "4"})
	wantMark(t, r, b, "4", 1)
	b.fail = nil
	_ = r.Append(t.Context(), retake.Checkpoint{}, catalog.Mark{Key: "k", Value: "5"})
	wantMark(t, r, b, "5", 0)
	_ = r.Reset(t.Context())
	b.during = func() { b.during = nil; _ = r.SetMark(t.Context(), "k", "6") }
	wantMark(t, r, b, "", 1) // read before the change
	wantMark(t, r, b, "6", 0)
}
