package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
)

// BenchmarkSearch looks for words in a long timeline: rare ones read all of it,
// common ones its newest part.
func BenchmarkSearch(b *testing.B) {
	const length, places = 10_000, 20
	c, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "catalog.db"), "a", sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close() })
	for n := 1; n <= length; n++ {
		cp := checkpoint("w", n)
		notes := catalog.Notes{Workspace: "w", Checkpoint: cp.ID}
		for i := range places {
			text := fmt.Sprintf("src/components/checkout/Payment-%d-%d/index.tsx and a few words", n, i)
			notes.Words = append(notes.Words, catalog.Place{Where: "path", Text: text})
		}
		if err := c.Append(b.Context(), cp); err != nil {
			b.Fatal(err)
		}
		if err := c.PutNotes(b.Context(), notes); err != nil {
			b.Fatal(err)
		}
	}
	for text, want := range map[string]int{"payment": 50, "payment-7-3/ words": 1, "zebra": 0} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				got, err := c.Search(b.Context(), retake.SearchQuery{Workspace: "w", Text: text})
				if err != nil || len(got) != want {
					b.Fatalf("%d hits, want %d: %v", len(got), want, err)
				}
			}
		})
	}
}
