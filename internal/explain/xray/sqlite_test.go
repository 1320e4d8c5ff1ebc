package xray_test

import (
	"bytes"
	"database/sql"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/retake-dev/retake/internal/explain/xray"
)

// database runs statements on a new file, and answers its bytes and those of its log.
func database(t testing.TB, statements ...string) (data, log []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	log, _ = os.ReadFile(path + "-wal") // most have none
	return data, log
}

// ladder are the numbers from 1 on, as a statement makes them.
func ladder(n int) string {
	return fmt.Sprintf("WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<%d) ", n)
}

func TestSQLiteTellsTablesRowsAndIndexes(t *testing.T) {
	t.Parallel()
	data, _ := database(t,
		"CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', up TEXT AS (upper(name)), any)",
		"INSERT INTO users(name) VALUES ('a'), ('b')",
		"CREATE TABLE pair (a INT, b VARCHAR(20), PRIMARY KEY (a, b)) WITHOUT ROWID",
		"CREATE INDEX by_name ON users(name)", "CREATE VIEW v AS SELECT * FROM users", "CREATE TRIGGER tr AFTER INSERT ON users BEGIN DELETE FROM pair; END",
		"CREATE TABLE auto (id INTEGER PRIMARY KEY AUTOINCREMENT, u TEXT UNIQUE)",
	)
	want := []string{
		"index by_name", "index tr", "index v", "rows auto 0", "rows pair 0", "rows users 2",
		"table auto id INTEGER, u TEXT", "table pair a INT, b VARCHAR(20)", "table users id INTEGER, name TEXT, up TEXT, any",
	}
	if d := cmp.Diff(want, told(xray.ReadBytes("sqlite@1", data, nil))); d != "" {
		t.Error(d)
	}
}

// TestSQLiteReadsItsLog holds that what is only in the log is told, up to the last whole
// transaction, and that a log of another database is not.
func TestSQLiteReadsItsLog(t *testing.T) {
	t.Parallel()
	data, log := database(t, "PRAGMA journal_mode=WAL", "CREATE TABLE t (id INTEGER)", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA wal_autocheckpoint=0",
		"INSERT INTO t VALUES (1), (2), (3)", "CREATE TABLE u (x TEXT)", "INSERT INTO u "+ladder(5000)+"SELECT x FROM c")
	if len(log) == 0 {
		t.Fatal("there is no log")
	}
	for name, c := range map[string]struct {
		log  []byte
		want []string
	}{
		"whole":   {log, []string{"rows t 3", "rows u 5000", "table t id INTEGER", "table u x TEXT"}},
		"none":    {nil, []string{"rows t 0", "table t id INTEGER"}},
		"cut off": {log[:len(log)-100], []string{"rows t 3", "rows u 0", "table t id INTEGER", "table u x TEXT"}},
		"noise":   {bytes.Repeat([]byte{0x37, 0x7f, 6, 0x82}, 5000), []string{"rows t 0", "table t id INTEGER"}},
	} {
		if d := cmp.Diff(c.want, told(xray.ReadBytes("sqlite@1", bytes.Clone(data), c.log))); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	other, _ := database(t, "CREATE TABLE z (a)")
	broken := bytes.Clone(log)
	broken[len(broken)/2] ^= 1 // the rest does not count any more
	if got := told(xray.ReadBytes("sqlite@1", bytes.Clone(data), broken)); cmp.Diff(got, []string{"rows t 3", "rows u 0", "table t id INTEGER", "table u x TEXT"}) != "" {
		t.Errorf("damaged log: %v", got)
	}
	if r := xray.ReadBytes("sqlite@1", other, log[:20]); r.Why != "" {
		t.Errorf("a stump of a log: %v", r)
	}
}

func TestSQLiteCountsManyRows(t *testing.T) {
	t.Parallel()
	data, _ := database(t, "PRAGMA synchronous=OFF", "CREATE TABLE t (x)", "INSERT INTO t "+ladder(1_000_000)+"SELECT 1 FROM c")
	if d := cmp.Diff([]string{"rows t 1000000", "table t x"}, told(xray.ReadBytes("sqlite@1", data, nil))); d != "" {
		t.Error(d)
	}
}

func TestSQLiteSaysMoreInsteadOfACount(t *testing.T) {
	t.Parallel()
	data, _ := database(t, "PRAGMA synchronous=OFF", "CREATE TABLE t (x)", "INSERT INTO t "+ladder(2_000_001)+"SELECT NULL FROM c")
	if d := cmp.Diff([]string{"rows t more than 2,000,000", "table t x"}, told(xray.ReadBytes("sqlite@1", data, nil))); d != "" {
		t.Error(d)
	}
}

// TestHostileSQLite holds that nothing in a database is run, and that names are only names.
func TestHostileSQLite(t *testing.T) {
	t.Parallel()
	data, _ := database(t,
		"CREATE TABLE \"a\"\"; DROP TABLE x; --\x1b[31m\" (id INTEGER)",
		"CREATE TABLE t (id INTEGER)", "INSERT INTO t(id) VALUES (1)", "ALTER TABLE t ADD COLUMN g TEXT AS (printf('%.*c', 900000000, 'x'))",
		"CREATE VIEW endless AS "+ladder(2_000_000_000)+"SELECT x FROM c",
		"CREATE VIRTUAL TABLE ft USING fts5(body)", "INSERT INTO ft VALUES ('x')",
	)
	want := []string{"index endless", "rows a\"; DROP TABLE x; --\x1b[31m 0", "rows t 1", "table a\"; DROP TABLE x; --\x1b[31m id INTEGER", "table ft virtual fts5(body)", "table t id INTEGER, g TEXT"}
	if d := cmp.Diff(want, told(xray.ReadBytes("sqlite@1", data, nil))); d != "" {
		t.Error(d)
	}
	var many []string
	for i := range 1001 {
		many = append(many, fmt.Sprintf("CREATE TABLE t%d (x)", i))
	}
	data, _ = database(t, append([]string{"PRAGMA synchronous=OFF", "PRAGMA journal_mode=OFF"}, many...)...)
	if r := xray.ReadBytes("sqlite@1", data, nil); r.Why != "more than 1,000 tables" || len(r.Traits) != 0 {
		t.Errorf("%s, %d traits", r.Why, len(r.Traits))
	}
}

// TestAViewInTheClothesOfATable holds that a row of the schema that lies is not followed.
func TestAViewInTheClothesOfATable(t *testing.T) {
	t.Parallel()
	data, _ := database(t, "CREATE TABLE real (x)", "PRAGMA writable_schema=ON",
		"INSERT INTO sqlite_schema VALUES ('table','evil','evil',0,'CREATE VIEW evil AS "+ladder(2_000_000_000)+"SELECT x FROM c')")
	if d := cmp.Diff([]string{"why: the database is damaged"}, told(xray.ReadBytes("sqlite@1", data, nil))); d != "" {
		t.Error(d)
	}
}

// TestDamagedSQLite damages databases in many ways: each ends soon, with or without a reason.
func TestDamagedSQLite(t *testing.T) {
	t.Parallel()
	good, _ := database(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)", "INSERT INTO t(x) "+ladder(2000)+"SELECT 'text ' || x FROM c", "CREATE INDEX i ON t(x)")
	rnd := rand.New(rand.NewPCG(1, 2))
	said := map[string]int{}
	for range 300 {
		data := bytes.Clone(good)
		for range 1 + rnd.IntN(20) {
			data[rnd.IntN(len(data))] = byte(rnd.IntN(256))
		}
		said[xray.ReadBytes("sqlite@1", data, nil).Why]++
	}
	if said[""] == 300 || said["the reader broke off"] > 0 {
		t.Errorf("the damage is not said, or breaks the reader: %v", said)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"negative page count": func(b []byte) []byte { binary.BigEndian.PutUint32(b[28:], 0x80000001); return b },
		"huge page count":     func(b []byte) []byte { binary.BigEndian.PutUint32(b[28:], 0x7fffffff); return b },
		"no page size":        func(b []byte) []byte { binary.BigEndian.PutUint16(b[16:], 0); return b },
		"cut":                 func(b []byte) []byte { return b[:150] },
		"head alone":          func(b []byte) []byte { return b[:100] },
		"all pages the same":  func(b []byte) []byte { return bytes.Repeat(b[:4096], len(b)/4096) },
	} {
		r := xray.ReadBytes("sqlite@1", change(bytes.Clone(good)), nil)
		if r.Why == "the reader broke off" {
			t.Errorf("%s: %v", name, r)
		}
	}
	if r := xray.ReadBytes("sqlite@1", good[:60], nil); r.Why != "is not a SQLite database" {
		t.Errorf("%v", r)
	}
}

// TestATreeThatNeverEnds makes every page of a table point at one below it many times, so
// that a little file has more rows than can be counted.
func TestATreeThatNeverEnds(t *testing.T) {
	t.Parallel()
	const size, depth = 512, 18
	small, _ := database(t, "PRAGMA page_size=512", "CREATE TABLE t (x)")
	data := append(bytes.Clone(small[:size*2]), make([]byte, size*depth)...)
	for level := range depth {
		page := data[size*(1+level) : size*(2+level)]
		clear(page)
		if level == depth-1 {
			page[0] = 13 // a leaf without rows
			binary.BigEndian.PutUint16(page[5:], size)
			continue
		}
		page[0] = 5
		const cells = 40
		binary.BigEndian.PutUint16(page[3:], cells)
		binary.BigEndian.PutUint16(page[5:], size-cells*5)
		binary.BigEndian.PutUint32(page[8:], uint32(level+3))
		for c := range cells {
			at := size - (c+1)*5
			binary.BigEndian.PutUint16(page[12+2*c:], uint16(at))
			binary.BigEndian.PutUint32(page[at:], uint32(level+3))
			page[at+4] = byte(c + 1)
		}
	}
	binary.BigEndian.PutUint32(data[28:], uint32(len(data)/size))
	if r := xray.ReadBytes("sqlite@1", data, nil); r.Why != "took too long" && r.Why != "the database is damaged" {
		t.Errorf("%v", r)
	}
}

// rpmHead writes a header of rpm with these texts.
func rpmHead(tags map[uint32]string) []byte {
	var table, data []byte
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		text := tags[tag]
		table = binary.BigEndian.AppendUint32(table, tag)
		table = binary.BigEndian.AppendUint32(table, 6)
		table = binary.BigEndian.AppendUint32(table, uint32(len(data)))
		table = binary.BigEndian.AppendUint32(table, 1)
		data = append(append(data, text...), 0)
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(tags)))
	head = binary.BigEndian.AppendUint32(head, uint32(len(data)))
	return append(append(head, table...), data...)
}

func TestRPMReadsHeaders(t *testing.T) {
	t.Parallel()
	row := func(b []byte) string { return fmt.Sprintf("INSERT INTO Packages(blob) VALUES (x'%x')", b) }
	bash := rpmHead(map[uint32]string{1000: "bash", 1001: "5.2.26", 1002: "3.fc40"})
	epoch := rpmHead(map[uint32]string{1000: "shadow", 1001: "4.15", 1002: "1", 1003: "\x00\x00\x00\x02"})
	far := bytes.Clone(bash)
	binary.BigEndian.PutUint32(far[8+8:], 0xfffffff0)
	data, _ := database(t, "CREATE TABLE Packages (hnum INTEGER PRIMARY KEY AUTOINCREMENT, blob BLOB NOT NULL)",
		row(bash), row(epoch), row(far), row([]byte{1, 2}), row([]byte("\xff\xff\xff\xff\xff\xff\xff\xff")), row(rpmHead(map[uint32]string{1000: "gpg-pubkey", 1001: "a", 1002: "b"})))
	if d := cmp.Diff([]string{"package rpm bash 5.2.26-3.fc40", "package rpm shadow 2:4.15-1"}, told(xray.ReadBytes("rpm@1", data, nil))); d != "" {
		t.Error(d)
	}
	if r := xray.ReadBytes("rpm-old@1", []byte("x"), nil); !strings.Contains(r.Why, "rpm") {
		t.Errorf("%v", r)
	}
}
