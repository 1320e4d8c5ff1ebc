package servicetest

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// rows are what every assembly must tell of databases.
var rows = map[string]func(*testing.T, *bench){
	"RowsOfCheckpoints": rowsOfCheckpoints,
	"RowsOfNow":         rowsOfNow,
	"RowsUnreadable":    rowsUnreadable,
}

// database is a small SQLite file with one table t, written by hand: its pages have 512
// bytes, and its rows have an id and a text.
func database(values ...string) string {
	const size = 512
	pages := make([]byte, 2*size)
	copy(pages, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(pages[16:], size)
	copy(pages[18:], []byte{1, 1, 0, 64, 32, 32})
	for at, n := range map[int]uint32{24: 1, 28: 2, 40: 1, 44: 4, 56: 1, 92: 1, 96: 3045000} {
		binary.BigEndian.PutUint32(pages[at:], n)
	}
	leaf := func(page []byte, head int, cells [][]byte) {
		end := len(page)
		for i, c := range cells {
			end -= len(c)
			copy(page[end:], c)
			binary.BigEndian.PutUint16(page[head+8+2*i:], uint16(end))
		}
		page[head] = 13
		binary.BigEndian.PutUint16(page[head+3:], uint16(len(cells)))
		binary.BigEndian.PutUint16(page[head+5:], uint16(end))
	}
	cell := func(id int, types []byte, body string) []byte {
		return append([]byte{byte(1 + len(types) + len(body)), byte(id), byte(1 + len(types))}, append(types, body...)...)
	}
	text := func(s string) byte { return byte(13 + 2*len(s)) }
	const make = "CREATE TABLE t(id INTEGER PRIMARY KEY,v TEXT)"
	leaf(pages[:size], 100, [][]byte{cell(1, []byte{text("table"), text("t"), text("t"), 1, text(make)}, "tablett\x02"+make)})
	var cells [][]byte
	for i, v := range values {
		if v != "" {
			cells = append(cells, cell(i+1, []byte{0, text(v)}, v))
		}
	}
	leaf(pages[size:], 0, cells)
	return string(pages)
}

// reading goes on with a service that reads files for their meaning, if there is one.
func (b *bench) reading() bool {
	b.Helper()
	if b.h.Reading == nil {
		return false
	}
	b.must(b.s.Close())
	b.s = b.h.Reading(b.T, b.home)
	return true
}

// rows tells a table, in short.
func (b *bench) rows(q retake.RowsQuery) string {
	b.Helper()
	q.Workspace, q.Path = b.ws.ID, "data/shop.db"
	d, err := b.s.Rows(b.ctx(), q)
	b.must(err)
	var out []string
	for _, t := range d.Tables {
		out = append(out, fmt.Sprintf("%s -%d ~%d +%d", t.Name, t.Deleted, t.Edited, t.Added))
		for _, r := range t.Rows {
			line := string(r.What)
			for _, v := range slices.Concat(r.Before, r.After) {
				line += " " + v.Text
			}
			out = append(out, line)
		}
	}
	if d.Why != "" {
		out = append(out, d.Why)
	}
	return strings.Join(out, "; ")
}

func (b *bench) wantRows(q retake.RowsQuery, want string) {
	b.Helper()
	if b.h.Reading == nil {
		want = "there is no child to read them in"
	}
	if got := b.rows(q); got != want {
		b.Errorf("from %q to %q, table %q: %s, want %s", q.From, q.To, q.Table, got, want)
	}
}

func rowsOfCheckpoints(t *testing.T, b *bench) {
	b.write("data/shop.db", database("tea", "bowl", "cup"))
	b.init()
	b.reading()
	b.write("data/shop.db", database("tea", "", "mug", "jar"))
	b.save("")
	b.remove("data/shop.db")
	b.save("")
	b.wantRows(retake.RowsQuery{To: "2"}, "t -1 ~1 +1")
	b.wantRows(retake.RowsQuery{To: "2", Table: "t"}, "t -1 ~1 +1; deleted 2 bowl; edited 3 cup 3 mug; added 4 jar")
	b.wantRows(retake.RowsQuery{From: "2", To: "1", Table: "t", What: retake.Added}, "t -1 ~1 +1; added 2 bowl")
	b.wantRows(retake.RowsQuery{To: "1", Table: "t", Limit: 1}, "t -0 ~0 +3; added 1 tea")
	b.wantRows(retake.RowsQuery{To: "3", Table: "t", What: retake.Deleted, Skip: 1}, "t -3 ~0 +0; deleted 3 mug; deleted 4 jar")
	b.wantRows(retake.RowsQuery{From: "1", To: "1"}, "")
	for _, c := range []struct {
		q    retake.RowsQuery
		kind retake.ErrorKind
	}{
		{retake.RowsQuery{To: "2", Path: "none"}, retake.NotFound},
		{retake.RowsQuery{To: "2", Path: "data"}, retake.NotFound},
		{retake.RowsQuery{To: "2"}, retake.Invalid},
		{retake.RowsQuery{To: "9", Path: "data/shop.db"}, retake.NotFound},
		{retake.RowsQuery{To: "2", Path: "data/shop.db", What: "eaten"}, retake.Invalid},
		{retake.RowsQuery{To: "2", Path: "data/shop.db", Skip: 1}, retake.Invalid},
		{retake.RowsQuery{To: "2", Path: "data/shop.db", Limit: -1}, retake.Invalid},
	} {
		c.q.Workspace = b.ws.ID
		_, err := b.s.Rows(b.ctx(), c.q)
		wantKind(t, err, c.kind)
	}
	if b.h.Reading != nil {
		_, err := b.s.Rows(b.ctx(), retake.RowsQuery{Workspace: b.ws.ID, To: "2", Path: "data/shop.db", Table: "none"})
		wantKind(t, err, retake.NotFound)
	}
}

// A live database is read as it lies there.
func rowsOfNow(_ *testing.T, b *bench) {
	b.write("data/shop.db", database("tea", "bowl"))
	b.init()
	b.reading()
	b.wantRows(retake.RowsQuery{}, "")
	b.write("data/shop.db", database("tea"))
	b.wantRows(retake.RowsQuery{Table: "t"}, "t -1 ~0 +0; deleted 2 bowl")
	b.wantRows(retake.RowsQuery{From: "1", To: "now", Table: "t"}, "t -1 ~0 +0; deleted 2 bowl")
	b.remove("data")
	b.wantRows(retake.RowsQuery{}, "t -2 ~0 +0")
}

func rowsUnreadable(_ *testing.T, b *bench) {
	b.write("data/shop.db", "no database\n")
	b.init()
	b.reading()
	b.write("data/shop.db", database("tea"))
	b.wantRows(retake.RowsQuery{}, "before: is not a SQLite database")
	b.write("data/shop.db", database("tea")[:700])
	b.save("")
	b.write("data/shop.db", database("tea"))
	b.wantRows(retake.RowsQuery{}, "before: the database is damaged")
}
