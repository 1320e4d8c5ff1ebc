//go:build linux

package cage

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake/test/ordeal/harness"
)

// database makes one by the program of SQLite.
func database(r *harness.Run, script string) func() ([]byte, error) {
	return func() ([]byte, error) {
		path := filepath.Join(r.Scratch("database"), "a.db")
		cmd := exec.Command("sqlite3", "-batch", "-bail", path)
		cmd.Stdin = strings.NewReader(script)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("sqlite3: %w: %.200s", err, out)
		}
		data, err := os.ReadFile(path)
		return data, errors.Join(err, os.RemoveAll(filepath.Dir(path)))
	}
}

const plainDatabase = `CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT NOT NULL, born DATE);
CREATE TABLE posts(id INTEGER PRIMARY KEY, user INTEGER REFERENCES users, body TEXT);
CREATE INDEX by_user ON posts(user);
CREATE VIEW authors AS SELECT name, count(*) FROM users JOIN posts ON user = users.id GROUP BY 1;
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < 800) INSERT INTO users SELECT i, 'user ' || i, '2000-01-01' FROM c;
INSERT INTO posts SELECT id, id % 50, 'words of ' || name FROM users;
`

// rows fills a table with that many.
func rows(n int) string {
	return fmt.Sprintf("CREATE TABLE t(a INTEGER PRIMARY KEY, b);\nWITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < %d) INSERT INTO t SELECT i, i FROM c;\n", n)
}

// rewritten lets the schema say what no statement could make it say.
func rewritten(sql string) string {
	return "CREATE TABLE t(a);\nINSERT INTO t VALUES(1);\nPRAGMA writable_schema=ON;\n" + sql + "\n"
}

func hostileDatabases(r *harness.Run) []hostileFile {
	db := func(name, script string) hostileFile {
		return hostileFile{name: "sqlite, " + name, path: "data/app.db", bytes: database(r, script)}
	}
	all := []hostileFile{
		db("a million rows", rows(1_000_000)),
		db("a row of 60 MB", "CREATE TABLE b(x);\nINSERT INTO b VALUES(zeroblob(60000000));\n"),
		db("larger than is read", "CREATE TABLE b(x);\nINSERT INTO b VALUES(zeroblob(70000000));\n"),
		db("a view without end", rows(10)+"CREATE VIEW v AS WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c) SELECT count(*) FROM c;\n"),
		db("views of each other", rows(10)+"CREATE VIEW v AS SELECT * FROM w;\nCREATE VIEW w AS SELECT * FROM v;\n"),
		db("views that multiply", multiplied(30)),
		db("triggers", rows(10)+"CREATE TRIGGER g AFTER INSERT ON t BEGIN INSERT INTO t SELECT a+1000, randomblob(1000000) FROM t; END;\n"),
		db("search tables", "CREATE VIRTUAL TABLE f USING fts5(a, b);\nINSERT INTO f VALUES('x','y');\nCREATE VIRTUAL TABLE r USING rtree(id, x0, x1);\n"),
		db("a module that nobody has", rewritten("INSERT INTO sqlite_schema VALUES('table','z','z',0,'CREATE VIRTUAL TABLE z USING nosuch(''a'')');")),
		db("a table that is no table", rewritten("INSERT INTO sqlite_schema VALUES('table','z','z',2,'CREATE TABLE z AS SELECT randomblob(1000000000)');")),
		db("two tables of the same pages", rewritten("INSERT INTO sqlite_schema VALUES('table','z','z',1,'CREATE TABLE z(a,b,c)');")),
		db("a schema of 8 MB", rewritten("UPDATE sqlite_schema SET sql='CREATE TABLE t('||printf('%.*c', 8000000, 'a')||')';")),
		db("1,500 tables", tables(1500)),
		db("2,000 columns", "CREATE TABLE t("+columns(2000)+");\nINSERT INTO t DEFAULT VALUES;\n"),
		db("names that a terminal obeys", "CREATE TABLE \"a\"\"b\n\x1b[2J\"(\"x\x1b]0;y\" TEXT);\nINSERT INTO \"a\"\"b\n\x1b[2J\" VALUES('z');\n"),
		db("columns that are computed", "CREATE TABLE t(a, b AS (a || hex(a) || a) VIRTUAL, c AS (b || b) STORED);\nINSERT INTO t VALUES(1);\n"),
		{name: "sqlite, a head alone", path: "data/app.db", bytes: text1("SQLite format 3\x00" + strings.Repeat("\xff", 84))},
		{name: "sqlite, text of that name", path: "data/app.sqlite", bytes: text1("not a database"), silent: true},
		{name: "sqlite, a log of noise", silent: true, tree: withNoise(database(r, "PRAGMA journal_mode=WAL;\n"+plainDatabase))},
		{name: "rpm, a header that lies", path: "usr/lib/sysimage/rpm/rpmdb.sqlite", silent: true,
			bytes: database(r, "CREATE TABLE Packages(hnum INTEGER PRIMARY KEY, blob BLOB);\nINSERT INTO Packages(blob) VALUES(x'FFFFFFFFFFFFFFFF0000'),(x'00000001FFFFFFFF'),(zeroblob(20000000));\n")},
	}
	return append(all, spoiledDatabases(r, r.Figure(6, 60))...)
}

// withNoise puts a database and a log that nobody wrote into a directory. The log has the
// head of a real one.
func withNoise(db func() ([]byte, error)) func(string) error {
	return func(dir string) error {
		data, err := db()
		if err != nil {
			return err
		}
		log := make([]byte, 8*mb)
		_, _ = rand.New(rand.NewSource(1)).Read(log) // never fails
		copy(log, "\x37\x7f\x06\x82\x00\x2d\xe2\x18\x00\x00\x10\x00")
		return errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "app.db"), data, 0o644), os.WriteFile(filepath.Join(dir, "app.db-wal"), log, 0o644))
	}
}

// multiplied are views of which each asks the one before ten times.
func multiplied(n int) string {
	var b strings.Builder
	b.WriteString(rows(10) + "CREATE VIEW v0 AS SELECT * FROM t;\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "CREATE VIEW v%d AS SELECT %s FROM v%d;\n", i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("(SELECT count(*) FROM v%d),", i-1), 9), ","), i-1)
	}
	return b.String()
}

func tables(n int) string {
	var b strings.Builder
	b.WriteString("BEGIN;\n")
	for i := range n {
		fmt.Fprintf(&b, "CREATE TABLE t%d(a);\n", i)
	}
	return b.String() + "COMMIT;\n"
}

func columns(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("c%d TEXT", i)
	}
	return strings.Join(list, ",")
}

// spoiledDatabases have other bytes at random places of a real one: single ones, pages,
// and pages of the same file.
func spoiledDatabases(r *harness.Run, n int) []hostileFile {
	const page = 4096
	whole := database(r, plainDatabase)
	var all []hostileFile
	for i := range n {
		rnd := rand.New(rand.NewSource(r.Seed*1000 + int64(i)))
		all = append(all, hostileFile{name: fmt.Sprintf("sqlite, spoiled %d", i), path: "data/app.db", bytes: func() ([]byte, error) {
			data, err := whole()
			if err != nil {
				return nil, err
			}
			for range 1 + rnd.Intn(40) {
				at := 16 + rnd.Intn(len(data)-16)
				from := rnd.Intn(len(data)/page) * page
				switch i % 3 {
				case 0:
					data[at] = byte(rnd.Intn(256))
				case 1:
					_, _ = rnd.Read(data[at:min(at+200, len(data))]) // never fails
				default:
					copy(data[max(at/page*page, 100):], data[from:from+page])
				}
			}
			return data, nil
		}})
	}
	return all
}
