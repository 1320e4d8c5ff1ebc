package term_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

func text(s string) retake.CellValue    { return retake.CellValue{Kind: retake.CellText, Text: s} }
func integer(s string) retake.CellValue { return retake.CellValue{Kind: retake.CellInteger, Text: s} }

// shopRows is a table that lost rows, with one of each kind.
func shopRows() retake.TableRows {
	none, null := retake.CellValue{Kind: retake.CellNone}, retake.CellValue{Kind: retake.CellNull, Text: "NULL"}
	return retake.TableRows{
		Name: "orders", What: retake.Edited, Deleted: 1204, Edited: 1, Added: 1, Equal: 30,
		Columns: []retake.TableColumn{{Name: "id", Key: true}, {Name: "product"}, {Name: "note", What: retake.Added}, {Name: "old", What: retake.Deleted}},
		Rows: []retake.RowChange{
			{What: retake.Deleted, Before: []retake.CellValue{integer("1001"), text("mug\x1b[31m, \u202eorder"), none, null}},
			{What: retake.Edited, Before: []retake.CellValue{integer("1002"), text("plate"), none, text("a")}, After: []retake.CellValue{integer("1002"), text("bowl"), text(""), none}, Cells: []int{1, 3}},
			{What: retake.Added, After: []retake.CellValue{integer("1003"), {Kind: retake.CellText, Text: strings.Repeat("long ", 40), More: 9}, text("new"), none}},
		},
	}
}

func lines(s string) []string { return strings.Split(strings.TrimSuffix(s, "\n"), "\n") }

func TestRowsOfADatabase(t *testing.T) {
	t.Parallel()
	l := term.NewLook(80, time.Unix(0, 0), false, false)
	d := retake.RowsDiff{Same: 2, Tables: []retake.TableRows{
		{Name: "big", What: retake.Edited, Edited: 3, Why: "more than 200,000 rows: only the first of them were compared"},
		{Name: "new", What: retake.Added, Added: 1},
		{Name: "notes", What: retake.Edited, Equal: 4, Columns: []retake.TableColumn{{Name: "id", Key: true}, {Name: "seen\x07", What: retake.Added}, {Name: "old", What: retake.Deleted}}},
		{Name: "orders", What: retake.Edited, Deleted: 1204, Edited: 1, Added: 1},
	}}
	want := []string{
		``,
		`edited  data/shop.db`,
		`table orders  −1,204 ~1 +1`,
		`    id    product                           +note  −old`,
		`  − 1001  mug\x1b[31m, \u202eorder          –      NULL`,
		`  ~ 1002  plate → bowl                      ''     a → –`,
		`  + 1003  long long long long long long l…  new    –`,
		`  and 1,203 more deleted rows; --json has the first 1,000`,
		`added table new  +1`,
		`  and 1 added row; --json has them`,
		`table notes  +column seen\a −column old`,
		`table big  ~3`,
		`  not all is compared: more than 200,000 rows: only the first of them were compared`,
		`  and 3 edited rows; --json has them`,
		`2 tables with the same rows`,
	}
	if diff := cmp.Diff(want, lines(term.RenderRows(l, "data/shop.db", retake.Edited, d, []retake.TableRows{shopRows()}))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{``, `deleted  a.db  rows are not compared, before: too large (70 MB)`}, lines(term.RenderRows(l, "a.db", retake.Deleted, retake.RowsDiff{Why: "before: too large (70 MB)"}, nil))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{``, `edited  a.db  no row differs`}, lines(term.RenderRows(l, "a.db", retake.Edited, retake.RowsDiff{}, nil))); diff != "" {
		t.Error(diff)
	}
}

// Whatever the width is, no row is wider, and columns that are left out are counted.
func TestRowsFit(t *testing.T) {
	t.Parallel()
	wide := shopRows()
	for i := range 12 {
		wide.Columns = append(wide.Columns, retake.TableColumn{Name: strings.Repeat("日本", 1+i)})
		for k := range wide.Rows {
			r := &wide.Rows[k]
			r.Before, r.After = append(r.Before, text("日本語 text")), append(r.After, text("日本語 text"))
		}
	}
	wide.Rows[0].After, wide.Rows[2].Before, wide.Unlisted = nil, nil, 5
	d := retake.RowsDiff{Tables: []retake.TableRows{wide}}
	for _, ascii := range []bool{false, true} {
		for width := 40; width <= 200; width += 7 {
			got := term.RenderRows(term.NewLook(width, time.Unix(0, 0), ascii, false), "a.db", retake.Edited, d, []retake.TableRows{wide})
			for _, line := range lines(got) {
				if strings.HasPrefix(line, "  and 1,203") {
					continue // a sentence
				}
				if termtext.Width(line) > width {
					t.Errorf("%d columns: %q", width, line)
				}
			}
			if !strings.Contains(got, " columns that are not shown") {
				t.Errorf("%d columns: what is left out is not counted:\n%s", width, got)
			}
		}
	}
}
