package xray_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/xray"
)

// toldRows tells a table as lines: its counts, columns and rows.
func toldRows(t retake.TableRows) []string {
	lines := []string{fmt.Sprintf("%s %s -%d ~%d +%d =%d", t.Name, t.What, t.Deleted, t.Edited, t.Added, t.Equal)}
	if t.Why != "" {
		lines = append(lines, "why: "+t.Why)
	}
	var names []string
	for _, c := range t.Columns {
		name := c.Name
		if c.Key {
			name = "*" + name
		}
		names = append(names, name+map[retake.Difference]string{retake.Added: "+", retake.Deleted: "-"}[c.What])
	}
	lines = append(lines, strings.Join(names, " "))
	for _, r := range t.Rows {
		line := map[retake.Difference]string{retake.Deleted: "-", retake.Edited: "~", retake.Added: "+"}[r.What]
		for _, side := range [][]retake.CellValue{r.Before, r.After} {
			for _, v := range side {
				line += " " + v.Text
				if v.Kind == retake.CellNone {
					line += "none"
				}
				if v.More > 0 {
					line += fmt.Sprintf("…%d", v.More)
				}
			}
			if side != nil {
				line += " |"
			}
		}
		if r.What == retake.Edited {
			line += fmt.Sprint(r.Cells)
		}
		lines = append(lines, line)
	}
	return lines
}

// rowsOf compares one table in this process.
func rowsOf(t *testing.T, table string, before, after []byte) []string {
	t.Helper()
	got := xray.CompareBytes(before, after, xray.RowsRequest{Table: table, Limit: 100})
	if got.Why != "" || len(got.Tables) != 1 {
		return []string{"why: " + got.Why}
	}
	return toldRows(got.Tables[0])
}

func data(t testing.TB, statements ...string) []byte {
	t.Helper()
	b, _ := database(t, statements...)
	return b
}

func TestRowsAreToldByTheirKey(t *testing.T) {
	t.Parallel()
	people := "CREATE TABLE p (id INTEGER PRIMARY KEY, name TEXT, when_ DATETIME)"
	for name, c := range map[string]struct {
		before, after []string
		want          []string
	}{
		"primary key": {
			[]string{people, "INSERT INTO p VALUES (1,'a','2026-01-01'),(2,'b',NULL),(3,'c',7),(9,'z',1.5)"},
			[]string{people, "INSERT INTO p VALUES (0,'new',x'00ff'),(2,'B',NULL),(3,'c',7),(9,'z',1.0)"},
			[]string{"p edited -1 ~2 +1 =1", "*id name when_", "- 1 a 2026-01-01 |", "~ 2 b NULL | 2 B NULL |[1]", "~ 9 z 1.5 | 9 z 1 |[2]", "+ 0 new 2 bytes |"},
		},
		"two columns, one way round and the other": {
			[]string{"CREATE TABLE p (a TEXT, b INT, v, PRIMARY KEY (b DESC, a)) WITHOUT ROWID", "INSERT INTO p VALUES ('x',1,1),('y',1,2),('x',2,3)"},
			[]string{"CREATE TABLE p (a TEXT, b INT, v, PRIMARY KEY (b DESC, a)) WITHOUT ROWID", "INSERT INTO p VALUES ('x',1,1),('x',2,4)"},
			[]string{"p edited -1 ~1 +0 =1", "*a *b v", "- y 1 2 |", "~ x 2 3 | x 2 4 |[2]"},
		},
		"no key": {
			[]string{"CREATE TABLE p (rowid TEXT, v)", "INSERT INTO p VALUES ('a',1),('b',2)"},
			[]string{"CREATE TABLE p (rowid TEXT, v)", "INSERT INTO p VALUES ('a',1),('c',2)"},
			[]string{"p edited -0 ~1 +0 =1", "*rowid rowid v", "~ 2 b 2 | 2 c 2 |[1]"},
		},
		"a key of texts that sorts without case": {
			[]string{"CREATE TABLE p (k TEXT PRIMARY KEY COLLATE NOCASE, v)", "INSERT INTO p VALUES ('a',1),('B',2),('c',3),(NULL,1),(NULL,2)"},
			[]string{"CREATE TABLE p (k TEXT PRIMARY KEY COLLATE NOCASE, v)", "INSERT INTO p VALUES ('A',1),('B',2),('c',3),(NULL,1)"},
			[]string{"p edited -2 ~0 +1 =3", "*k v", "- NULL 2 |", "- a 1 |", "+ A 1 |"},
		},
		"numbers of both kinds": {
			[]string{"CREATE TABLE p (k PRIMARY KEY)", "INSERT INTO p VALUES (1),(1.5),(2),(9007199254740993),(9007199254740992.0),(1e30),(-1e30),('1'),(x'31')"},
			[]string{"CREATE TABLE p (k PRIMARY KEY)", "INSERT INTO p VALUES (1),(1.5),(2),(9007199254740993),(9007199254740992.0),(1e30),('1')"},
			[]string{"p edited -2 ~0 +0 =7", "*k", "- -1e+30 |", "- 1 byte |"},
		},
		"columns that come and go": {
			[]string{"CREATE TABLE p (id INTEGER PRIMARY KEY, gone, stays)", "INSERT INTO p VALUES (1,'lost',1),(2,NULL,1)"},
			[]string{"CREATE TABLE p (id INTEGER PRIMARY KEY, STAYS, came DEFAULT 'x')", "INSERT INTO p(id,stays) VALUES (1,1),(2,1),(3,1)"},
			[]string{"p edited -0 ~1 +1 =1", "*id gone- stays came+", "~ 1 lost 1 none | 1 none 1 x |[1]", "+ 3 none 1 x |"},
		},
		"a key that came": {
			[]string{"CREATE TABLE p (id, v)", "INSERT INTO p VALUES (5,'a'),(3,'b'),(3,'twice')"},
			[]string{"CREATE TABLE p (id INTEGER PRIMARY KEY, v)", "INSERT INTO p VALUES (5,'a'),(3,'b')"},
			[]string{"p edited -1 ~0 +0 =2", "*id v", "- 3 twice |"},
		},
		"a table that went":  {[]string{people, "INSERT INTO p VALUES (1,'a',NULL)"}, []string{"CREATE VIEW p AS SELECT 1"}, []string{"p deleted -1 ~0 +0 =0", "*id name when_", "- 1 a NULL |"}},
		"a table that came":  {nil, []string{people, "INSERT INTO p VALUES (1,'a',NULL)"}, []string{"p added -0 ~0 +1 =0", "*id name when_", "+ 1 a NULL |"}},
		"computed columns":   {[]string{"CREATE TABLE p (id INTEGER PRIMARY KEY, v)", "INSERT INTO p VALUES (1,2)", "ALTER TABLE p ADD COLUMN g AS (printf('%.*c', 900000000, v))"}, []string{"CREATE TABLE p (id INTEGER PRIMARY KEY, v, s AS (v||'x') STORED)", "INSERT INTO p VALUES (1,3)"}, []string{"p edited -0 ~1 +0 =0", "*id v", "~ 1 2 | 1 3 |[1]"}},
		"likely secrets":     {[]string{"CREATE TABLE p (id INTEGER PRIMARY KEY, password TEXT, mail TEXT)", "INSERT INTO p VALUES (1,'hunter2hunter2','a@b.test')"}, []string{"CREATE TABLE p (id INTEGER PRIMARY KEY, password TEXT, mail TEXT)", "INSERT INTO p VALUES (1,'hunter3hunter3','ghp_0123456789abcdefghijABCDEFGHIJ012345')"}, []string{"p edited -0 ~1 +0 =0", "*id password mail", "~ 1 [masked: password] a@b.test | 1 [masked: password] [masked: github token] |[1 2]"}},
		"long and odd texts": {[]string{"CREATE TABLE p (id INTEGER PRIMARY KEY, v)", "INSERT INTO p VALUES (1, '" + strings.Repeat("é", 300) + "'), (2, CAST(x'61ff1b5b' AS TEXT))"}, []string{"CREATE TABLE p (id INTEGER PRIMARY KEY, v)"}, []string{"p edited -2 ~0 +0 =0", "*id v", "- 1 " + strings.Repeat("é", 200) + "…100 |", "- 2 a�\x1b[ |"}},
		"texts in UTF-16": {
			[]string{"PRAGMA encoding='UTF-16le'", "CREATE TABLE p (k TEXT PRIMARY KEY)", "INSERT INTO p VALUES ('a'),('Ā'),('b'),('😀'),('ﬀ')"},
			[]string{"PRAGMA encoding='UTF-16le'", "CREATE TABLE p (k TEXT PRIMARY KEY)", "INSERT INTO p VALUES ('a'),('b'),('ﬀ')"},
			[]string{"p edited -2 ~0 +0 =3", "*k", "- Ā |", "- 😀 |"},
		},
		"texts in two encodings": {
			[]string{"PRAGMA encoding='UTF-16le'", "CREATE TABLE p (k TEXT PRIMARY KEY)", "INSERT INTO p VALUES ('a')"},
			[]string{"CREATE TABLE p (k TEXT PRIMARY KEY)", "INSERT INTO p VALUES ('a')"},
			[]string{"p  -0 ~0 +0 =0", "why: its texts are encoded in two ways, and cannot be put in one order", "*k"},
		},
		"no key that both know": {
			[]string{"CREATE TABLE p (a PRIMARY KEY) WITHOUT ROWID"}, []string{"CREATE TABLE p (b PRIMARY KEY) WITHOUT ROWID"},
			[]string{"p edited -0 ~0 +0 =0", "why: its rows have no key that both sides know", "*rowid a- b+"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var before []byte
			if c.before != nil {
				before = data(t, c.before...)
			}
			if d := cmp.Diff(c.want, rowsOf(t, "p", before, data(t, c.after...))); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAllTablesAreCounted(t *testing.T) {
	t.Parallel()
	before := data(t, "CREATE TABLE a (x)", "INSERT INTO a VALUES (1),(2)", "CREATE TABLE same (x)", "INSERT INTO same VALUES (1)",
		"CREATE TABLE gone (x)", "CREATE VIRTUAL TABLE f USING fts5(body)", "CREATE VIEW v AS SELECT 1", "CREATE TRIGGER tr AFTER INSERT ON a BEGIN DELETE FROM same; END")
	after := data(t, "CREATE TABLE a (x)", "INSERT INTO a VALUES (1)", "CREATE TABLE same (x)", "INSERT INTO same VALUES (1)", "CREATE VIRTUAL TABLE f USING fts5(body)")
	got := xray.CompareBytes(before, after, xray.RowsRequest{})
	var lines []string
	for _, table := range got.Tables {
		lines = append(lines, toldRows(table)...)
	}
	want := []string{"a edited -1 ~0 +0 =1", "", "f  -0 ~0 +0 =0", "why: it is virtual, and what is behind it is not asked", "", "gone deleted -0 ~0 +0 =0", ""}
	if d := cmp.Diff(want, lines); d != "" || got.Same != 1 || got.Why != "" {
		t.Errorf("%s, %d are equal, %s", d, got.Same, got.Why)
	}
	if got := xray.CompareBytes(before, after, xray.RowsRequest{Table: "none"}); !got.Missing {
		t.Errorf("a table that is not there: %+v", got)
	}
}

// TestPagesOfRows holds that pages of one kind follow each other, and that the first page
// shows what was lost first.
func TestPagesOfRows(t *testing.T) {
	t.Parallel()
	before := data(t, "CREATE TABLE p (id INTEGER PRIMARY KEY, v)", "INSERT INTO p "+ladder(1000)+"SELECT x, x FROM c")
	after := data(t, "CREATE TABLE p (id INTEGER PRIMARY KEY, v)", "INSERT INTO p "+ladder(500)+"SELECT x, x%2 FROM c")
	page := func(what retake.Difference, skip int) []retake.RowChange {
		got := xray.CompareBytes(before, after, xray.RowsRequest{Table: "p", What: what, Skip: skip, Limit: 100})
		if table := got.Tables[0]; table.Deleted != 500 || table.Edited != 499 || table.Equal != 1 {
			t.Errorf("%s from %d: %v", what, skip, toldRows(table)[0])
		}
		return got.Tables[0].Rows
	}
	if first := page("", 0); len(first) != 100 || first[0].What != retake.Deleted || first[99].Before[0].Text != "600" {
		t.Errorf("the first page: %v", first)
	}
	if next := page(retake.Deleted, 450); len(next) != 50 || next[0].Before[0].Text != "951" {
		t.Errorf("the last page: %v", next)
	}
	if edits := page(retake.Edited, 0); len(edits) != 100 || edits[0].Before[0].Text != "2" {
		t.Errorf("edited ones: %v", edits)
	}
}

// TestRowsSwapped holds that what came one way round went the other way round.
func TestRowsSwapped(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		side := func() []byte {
			s := []string{"CREATE TABLE p (k PRIMARY KEY, v)"}
			for range 30 {
				s = append(s, fmt.Sprintf("INSERT OR IGNORE INTO p VALUES (%s, %d)", []string{"NULL", "1.5", "'a'", "x'61'", fmt.Sprint(rnd.IntN(9)), fmt.Sprintf("'%c'", 'a'+rnd.IntN(9))}[rnd.IntN(6)], rnd.IntN(2)))
			}
			return data(t, s...)
		}
		a, b := side(), side()
		one := xray.CompareBytes(a, b, xray.RowsRequest{Table: "p"}).Tables[0]
		two := xray.CompareBytes(b, a, xray.RowsRequest{Table: "p"}).Tables[0]
		if one.Deleted != two.Added || one.Added != two.Deleted || one.Edited != two.Edited || one.Equal != two.Equal || one.Why+two.Why != "" {
			t.Fatalf("%+v\n%+v", one, two)
		}
		if self := xray.CompareBytes(a, a, xray.RowsRequest{}); len(self.Tables) != 0 || self.Same != 1 {
			t.Fatalf("a database differs from itself: %+v", self)
		}
	}
}

func source(data, log []byte) *xray.DatabaseSource {
	s := &xray.DatabaseSource{Size: int64(len(data)), Open: opens(string(data))}
	if log != nil {
		s.Log = opens(string(log))
	}
	return s
}

// TestRowsInAChild holds that the cage takes nothing from a comparison that it needs, and
// that the child reads on afterwards.
func TestRowsInAChild(t *testing.T) {
	t.Parallel()
	p, started := pool(t, "good")
	d, log := database(t, "PRAGMA journal_mode=WAL", "CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1), (2)", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA wal_autocheckpoint=0", "DELETE FROM t WHERE id = 2")
	got, err := p.Rows(t.Context(), xray.RowsRequest{Before: source(d, nil), After: source(d, log), Table: "t"})
	if err != nil || got.Why != "" || len(got.Tables) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if d := cmp.Diff([]string{"t edited -1 ~0 +0 =1", "*id", "- 2 |"}, toldRows(got.Tables[0])); d != "" {
		t.Error(d)
	}
	for name, c := range map[string]struct {
		ask xray.RowsRequest
		why string
	}{
		"one side":       {xray.RowsRequest{Before: source(d, nil)}, ""},
		"empty":          {xray.RowsRequest{Before: source(nil, nil), After: source(d, nil)}, ""},
		"neither":        {xray.RowsRequest{}, ""},
		"no database":    {xray.RowsRequest{Before: source(d, nil), After: source([]byte("text"), nil)}, "after: is not a SQLite database"},
		"gone":           {xray.RowsRequest{Before: &xray.DatabaseSource{Open: refuses}, After: source(d, nil)}, "before: the bytes could not be read"},
		"its log":        {xray.RowsRequest{Before: source(d, nil), After: &xray.DatabaseSource{Open: opens(string(d)), Log: refuses}}, "after: the bytes could not be read"},
		"too large":      {xray.RowsRequest{Before: source(d, nil), After: &xray.DatabaseSource{Size: 65 << 20, Open: refuses}}, "after: too large (65 MB)"},
		"grew too large": {xray.RowsRequest{Before: source(make([]byte, 65<<20), nil), After: source(d, nil)}, "before: too large (65 MB)"},
	} {
		if name == "grew too large" {
			c.ask.Before.Size = 1
		}
		got, err := p.Rows(t.Context(), c.ask)
		if err != nil || got.Why != c.why {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	readings, err := p.Read(t.Context(), []xray.Request{ask("env@1", "A=1\n")})
	if err != nil || readings[0].Why != "" || started.Load() != 1 {
		t.Errorf("afterwards: %+v, %v, %d children", readings, err, started.Load())
	}
}

func refuses(context.Context) (io.ReadCloser, error) { return nil, errors.New("no") }

// TestRowsOfOldChildren holds that a child that died, or never answers, is no end.
func TestRowsOfOldChildren(t *testing.T) {
	t.Parallel()
	d := data(t, "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)")
	a := xray.RowsRequest{After: source(d, nil)}
	for how, why := range map[string]string{"hungry": "took too much memory", "mad": "the reader broke off"} {
		p, _ := pool(t, how)
		if got, err := p.Rows(t.Context(), a); err != nil || got.Why != why {
			t.Errorf("%s: %+v, %v", how, got, err)
		}
	}
	p, _ := pool(t, "brief", "good")
	for range 4 {
		if got, err := p.Rows(t.Context(), a); err != nil || len(got.Tables) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := p.Rows(ctx, a); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestHostileRows holds that databases that are bombs end with a reason, in a real child.
func TestHostileRows(t *testing.T) {
	t.Parallel()
	plain := data(t, "CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t VALUES (1)")
	off := []string{"PRAGMA synchronous=OFF", "PRAGMA journal_mode=OFF"}
	var tables, columns []string
	for i := range 1001 {
		tables = append(tables, fmt.Sprintf("CREATE TABLE t%d (x)", i))
		columns = append(columns, fmt.Sprintf("c%d", i))
	}
	wide := "CREATE TABLE t (" + strings.Join(columns, ",") + ")"
	for name, c := range map[string]struct {
		db        []string
		why, told string
	}{
		"many tables":   {append(off, tables...), "after: more than 1,000 tables", ""},
		"many columns":  {append(off, wide, "INSERT INTO t (c0, c1000) VALUES (1, 2)"), "", "t edited -0 ~1 +0 =0"},
		"a huge value":  {append(off, "CREATE TABLE t (id INTEGER PRIMARY KEY, x)", "INSERT INTO t VALUES (1, 0), (2, zeroblob(60000000))"), "", "t edited -0 ~0 +1 =1"},
		"many rows":     {append(off, "CREATE TABLE t (id INTEGER PRIMARY KEY)", "INSERT INTO t "+ladder(300_000)+"SELECT x FROM c"), "", "t edited -0 ~0 +199999 =1"},
		"lying schema":  {append(off, "CREATE TABLE real (x)", "PRAGMA writable_schema=ON", "INSERT INTO sqlite_schema VALUES ('table','t','t',0,'CREATE VIEW t AS "+ladder(2_000_000_000)+"SELECT x FROM c')"), "after: the database is damaged", ""},
		"no such order": {append(off, "CREATE TABLE t (id TEXT PRIMARY KEY)", "INSERT INTO t VALUES ('a'),('b')", "PRAGMA writable_schema=ON", "UPDATE sqlite_schema SET rootpage=2 WHERE name='sqlite_autoindex_t_1'"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, _ := pool(t, "good")
			got, err := p.Rows(t.Context(), xray.RowsRequest{Before: source(plain, nil), After: source(data(t, c.db...), nil), Table: "t"})
			if err != nil || got.Why != c.why {
				t.Fatalf("%s, %v", got.Why, err)
			}
			if c.told != "" && toldRows(got.Tables[0])[0] != c.told && got.Tables[0].Why != "took too long" { // a busy machine is no mistake
				t.Errorf("%q", toldRows(got.Tables[0])[:2])
			}
			if name == "no such order" && got.Tables[0].Why == "" {
				t.Errorf("a damaged index is trusted: %v", toldRows(got.Tables[0]))
			}
		})
	}
}

// TestRowsOutOfOrder holds that a table whose pages lie about the order is not believed.
func TestRowsOutOfOrder(t *testing.T) {
	t.Parallel()
	good := data(t, "PRAGMA page_size=512", "CREATE TABLE t (id INTEGER PRIMARY KEY, v)", "INSERT INTO t VALUES (1,'a'),(2,'b'),(3,'c')")
	bad := bytes.Clone(good)
	cells := bad[512+8:] // the places of the rows of the second page
	cells[0], cells[1], cells[2], cells[3] = cells[2], cells[3], cells[0], cells[1]
	for name, got := range map[string][]string{"after": rowsOf(t, "t", good, bad), "before": rowsOf(t, "t", bad, good)} {
		if len(got) < 2 || got[1] != "why: its rows do not stand in the order of their keys" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestDamagedRows damages one side in many ways: each ends soon, with or without a reason.
func TestDamagedRows(t *testing.T) {
	t.Parallel()
	good := data(t, "CREATE TABLE t (id TEXT PRIMARY KEY, x TEXT)", "INSERT INTO t "+ladder(500)+"SELECT 'key ' || x, 'text ' || x FROM c")
	rnd := rand.New(rand.NewPCG(1, 2))
	said := map[string]int{}
	for range 200 {
		bad := bytes.Clone(good)
		for range 1 + rnd.IntN(20) {
			bad[rnd.IntN(len(bad))] = byte(rnd.IntN(256))
		}
		got := xray.CompareBytes(good, bad, xray.RowsRequest{Table: "t", Limit: 100})
		if said[got.Why]++; len(got.Tables) == 1 {
			said[got.Tables[0].Why]++
		}
	}
	if said["the reader broke off"] > 0 || len(said) < 3 {
		t.Errorf("%v", said)
	}
}
