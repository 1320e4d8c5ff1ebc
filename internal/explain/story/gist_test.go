package story_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
)

func fact(kind retake.FactKind, what retake.Difference, path, group, name, before, after string) retake.Fact {
	return retake.Fact{Kind: kind, What: what, Path: path, Group: group, Name: name, Before: before, After: after}
}

func port(what retake.Difference, name, before, after string) retake.Fact {
	return fact(retake.FactPort, what, "/proc/net/tcp", "", name, before, after)
}

// ours is a port of a program that belongs to the workspace.
func ours(f retake.Fact) retake.Fact {
	f.Direct = true
	return f
}

func TestPoints(t *testing.T) {
	t.Parallel()
	const (
		added, deleted, edited = retake.Added, retake.Deleted, retake.Edited
		db                     = "data/dev.db"
	)
	for _, c := range []struct {
		stage *stage
		lead  string
		want  []string
	}{
		{newStage(), "", nil},
		{newStage().del("src/old.ts", "x\n"), "deleted 1", []string{"deleted src/old.ts"}},
		{newStage().del("a.ts", "x\n").del("src/b.ts", "y\n"), "deleted 2", []string{"deleted a.ts", "deleted src/b.ts"}},
		{newStage().del("a.ts", "x\n").del("src/b.ts", "y\n").del("c.ts", "z\n"), "deleted 3", []string{"deleted 3 files"}},
		{newStage().del("dist/a.js", "x\n").swap("src/a.ts", 2, 0), "a.ts", []string{"deleted dist/a.js", "src/a.ts"}},
		{newStage().del("node_modules/a/b.js", "x\n"), "node_modules/", []string{"deleted node_modules/"}},
		{newStage().swap("package.json", 1, 1).swap("package-lock.json", 4, 4).fact(fact(retake.FactPackage, edited, "package.json", "npm", "express", "^4.18.2", "^5.0.0")).
			fact(fact(retake.FactPackage, edited, "package-lock.json", "npm", "express", "4.18.2", "5.0.0")), "npm express", []string{"npm express 4.18.2 → 5.0.0", "package.json"}},
		{newStage().swap("go.sum", 4, 4).fact(fact(retake.FactPackage, added, "go.mod", "golang", "x/sys", "", "v0.1.0")), "golang +x/sys", []string{"golang +x/sys v0.1.0"}},
		{newStage().swap("yarn.lock", 1, 1).fact(fact(retake.FactPackage, deleted, "yarn.lock", "npm", "a", "1", "")).fact(fact(retake.FactPackage, deleted, "yarn.lock", "npm", "b", "1", "")), "npm −2", []string{"npm −2 packages"}},
		{newStage().swap("yarn.lock", 1, 1).fact(fact(retake.FactPackage, deleted, "yarn.lock", "npm", "a", "1", "")).fact(fact(retake.FactPackage, added, "yarn.lock", "npm", "b", "", "1")).
			fact(fact(retake.FactPackage, edited, "yarn.lock", "npm", "c", "1", "2")), "npm −1", []string{"npm −1 +1 packages, 1 changed"}},
		{newStage().swap("yarn.lock", 1, 1).fact(ours(fact(retake.FactPackage, edited, "yarn.lock", "npm", "vite", "4.1.0", "5.0.0"))).fact(fact(retake.FactPackage, edited, "yarn.lock", "npm", "esbuild", "1", "2")).
			fact(fact(retake.FactPackage, added, "yarn.lock", "npm", "b", "", "1")), "npm +1", []string{"npm +1 package, 2 changed (vite 4.1.0 → 5.0.0)"}},
		{newStage().swap(".env", 1, 0).fact(fact(retake.FactEnv, added, ".env", "", "SESSION_KEY", "", "")), ".env", []string{".env +SESSION_KEY"}},
		{newStage().swap(".env", 1, 1).fact(fact(retake.FactEnv, added, ".env", "", "B", "", "")).fact(fact(retake.FactEnv, deleted, ".env", "", "A", "", "")), ".env", []string{".env −A +B"}},
		{newStage().swap(".env", 1, 1).fact(fact(retake.FactEnv, added, ".env", "", "B", "", "")).fact(fact(retake.FactEnv, added, ".env", "", "C", "", "")).fact(fact(retake.FactEnv, added, ".env", "", "D", "", "")).
			fact(fact(retake.FactEnv, edited, ".env", "", "E", "", "")), ".env", []string{".env +3 keys 1 changed"}},
		{newStage().del(".env", "A=1\n").fact(fact(retake.FactEnv, deleted, ".env", "", "A", "", "")), "deleted 1", []string{"deleted .env"}},
		{newStage().swap("config/session.json", 1, 1).fact(fact(retake.FactSetting, edited, "config/session.json", "", "sameSite", "lax", "strict")), "session.json", []string{"config/session.json sameSite lax → strict"}},
		{newStage().swap("config/a.json", 1, 1).fact(fact(retake.FactSetting, edited, "config/a.json", "", "a", "1", "2")).fact(fact(retake.FactSetting, added, "config/a.json", "", "b", "", "2")), "a.json", []string{"config/a.json a 1 → 2, 1 more key"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, added, db, db, "sessions", "", "id")).fact(fact(retake.FactRows, added, db, db, "sessions", "", "0")), "dev.db", []string{"dev.db +table sessions"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactRows, edited, db, db, "users", "41", "38")), "dev.db", []string{"dev.db users 41 → 38 rows"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "orders", "id INTEGER", "id INTEGER, note TEXT")).fact(fact(retake.FactRows, edited, db, db, "orders", "240", "16")), "dev.db", []string{"dev.db orders 240 → 16 rows"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, added, db, db, "notes", "", "id")).fact(fact(retake.FactRows, edited, db, db, "orders", "240", "")), "dev.db", []string{"dev.db +table notes, orders 240 → 0 rows"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactRows, edited, db, db, "a", "9", "8")).fact(fact(retake.FactRows, edited, db, db, "b", "1", "5")).fact(fact(retake.FactRows, edited, db, db, "c", "90", "8")), "dev.db", []string{"dev.db c 90 → 8 rows, a 9 → 8 rows"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "orders", "a", "a, b")).fact(fact(retake.FactRows, edited, db, db, "orders", "16", "240")), "dev.db", []string{"dev.db table orders changed"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, deleted, db, db, "users", "id", "")).fact(fact(retake.FactTable, added, db, db, "a", "", "")).fact(fact(retake.FactTable, added, db, db, "b", "", "")), "dev.db", []string{"dev.db −table users +2 tables"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactIndex, added, db, db, "by_name", "", "")), "dev.db", []string{"dev.db +index by_name"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "orders", "a", "a, b")).fact(fact(retake.FactIndex, deleted, db, db, "by_name", "", "")), "dev.db", []string{"dev.db table orders changed, −index by_name"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, deleted, db, db, "orders", "a", "")).fact(fact(retake.FactIndex, deleted, db, db, "by_name", "", "")), "dev.db", []string{"dev.db −table orders"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "t", "id INTEGER, born DATE, price DECIMAL(10,2)", "id INTEGER, price DECIMAL(10,2), phone TEXT")), "dev.db", []string{"dev.db table t −born"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactRows, edited, db, db, "big", "more than 2,000,000", "")).fact(fact(retake.FactTable, edited, db, db, "o", "a INT", "a INT, b INT")), "dev.db", []string{"dev.db table o changed, big more than 2,000,000 → 0 rows"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactRows, edited, db, db, "users", "2", "0")).fact(fact(retake.FactTable, edited, db, db, "users", "id INT, name TEXT", "id INT")), "dev.db", []string{"dev.db table users −name, users 2 → 0 rows"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "t", "a, b, c, d", "a")), "dev.db", []string{"dev.db table t −3 columns"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "t", "id INTEGER, born DATE", "id BIGINT, born DATE")), "dev.db", []string{"dev.db table t changed"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "t", "a, b, c", "a, …")), "dev.db", []string{"dev.db table t changed"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "t", "id INT, b TEXT", "id INT, bb TEXT")), "dev.db", []string{"dev.db table t changed"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "t", "id INT, n TEXT", "id INT, N TEXT, m TEXT")), "dev.db", []string{"dev.db table t changed"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "t", "id INT, date made TEXT", "id INT")), "dev.db", []string{"dev.db table t changed"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "t", "id INT, a, b TEXT", "id INT")), "dev.db", []string{"dev.db table t changed"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "t", "virtual fts5", "body TEXT")), "dev.db", []string{"dev.db table t changed"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "t", "id INT, born DATE", "id INT, phone TEXT, note TEXT")), "dev.db", []string{"dev.db table t −born"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactTable, edited, db, db, "t", "a, −odd", "a")), "dev.db", []string{"dev.db table t changed"}},
		{newStage().swap("config/a.json", 1, 1).fact(fact(retake.FactSetting, edited, "config/a.json", "", "servers.0", "alpha", "beta")).fact(fact(retake.FactSetting, edited, "config/a.json", "", "servers.1", "beta", "gamma")).
			fact(fact(retake.FactSetting, deleted, "config/a.json", "", "servers.2", "gamma", "")), "a.json", []string{"config/a.json servers changed"}},
		{newStage().swap("config/a.json", 2, 0).fact(fact(retake.FactSetting, added, "config/a.json", "", "servers.0", "", "alpha")).fact(fact(retake.FactSetting, added, "config/a.json", "", "servers.1", "", "beta")), "a.json", []string{"config/a.json +2 keys"}},
		{newStage().swap("config/a.json", 1, 1).fact(fact(retake.FactSetting, edited, "config/a.json", "", "servers.0", "alpha", "beta")).fact(fact(retake.FactSetting, edited, "config/a.json", "", "servers.1", "beta", "gamma")), "a.json", []string{"config/a.json servers.0 alpha → beta, 1 more key"}},
		{newStage().swap("config/a.json", 1, 1).fact(fact(retake.FactSetting, edited, "config/a.json", "", "url", "https://registry.internal.example.com/prod", "https://registry.internal.example.com/staging")), "a.json", []string{"config/a.json url …prod → …staging"}},
		{newStage().swap("config/a.json", 1, 1).fact(fact(retake.FactSetting, edited, "config/a.json", "", "name", "demo", "")), "a.json", []string{`config/a.json name demo → ""`}},
		{newStage().swap("config/a.json", 1, 1).fact(fact(retake.FactSetting, edited, "config/a.json", "", "key", "hidden", "hidden")), "a.json", []string{"config/a.json key changed"}},
		{newStage().swap("locales/de.json", 0, 4).fact(fact(retake.FactSetting, deleted, "locales/de.json", "", "cart.empty", "", "")).fact(fact(retake.FactSetting, deleted, "locales/de.json", "", "user.bye", "", "")), "de.json", []string{"locales/de.json −cart.empty, 1 more key"}},
		{newStage().swap(db, 1, 1).fact(fact(retake.FactRows, edited, db, db, "a", "1", "2")).fact(fact(retake.FactRows, edited, db, db, "b", "3", "4")), "dev.db", []string{"dev.db a 1 → 2 rows, b 3 → 4 rows"}},
		{newStage().swap("config/a.json", 1, 1).fact(fact(retake.FactSetting, edited, "config/a.json", "", "a", "1", "2")).fact(fact(retake.FactSetting, added, "config/a.json", "", "b", "", "2")).
			fact(fact(retake.FactSetting, deleted, "config/a.json", "", "c", "", "")), "a.json", []string{"config/a.json −c, 2 more keys"}},
		{newStage().swap("config/a.json", 2, 0).fact(fact(retake.FactSetting, added, "config/a.json", "", "a", "", "2")).fact(fact(retake.FactSetting, added, "config/a.json", "", "b", "", "2")), "a.json", []string{"config/a.json +2 keys"}},
		{newStage().del("src/a.ts", text).add("src/b.ts", text), "b.ts", []string{"renamed a.ts → b.ts"}},
		{newStage().del("src/a.ts", text).add("lib/a.ts", text), "a.ts", []string{"renamed src/a.ts → lib/a.ts"}},
		{newStage().swap("src/config.ts", 1, 0).fact(fact(retake.FactSecret, added, "src/config.ts", "", "aws key", "", "")), "config.ts", []string{"looks like a secret: src/config.ts", "src/config.ts"}},
		{newStage().swap(".env", 1, 0).fact(fact(retake.FactSecret, added, ".env", "", "aws key", "", "")), ".env", []string{".env"}},
		{newStage().add("deploy/app.service", "x\n").fact(fact(retake.FactUnit, added, "deploy/app.service", "", "app.service", "", "node")), "app.service", []string{"systemd +app.service"}},
		{newStage().swap("deploy/app.service", 1, 1).fact(fact(retake.FactUnit, edited, "deploy/app.service", "", "app.service", "/srv/app/run --workers 4 --port 8080", "/srv/app/run --workers 4 --port 9090")), "app.service", []string{"systemd app.service …8080 → …9090"}},
		{newStage().swap("etc/crontab", 1, 1).fact(fact(retake.FactCron, edited, "etc/crontab", "", "backup.sh", "0 2 * * *", "30 3 * * *")), "crontab", []string{"cron backup.sh 0 2 * * * → 30 3 * * *"}},
		{newStage().fact(fact(retake.FactCron, added, "/var/spool/cron/u", "", "backup.sh", "", "0 3 * * *")), "cron +backup.sh", []string{"cron +backup.sh"}},
		{newStage().fact(port(deleted, "tcp 5432", "postgres", "")), "", []string{}},
		{newStage().swap("src/a.ts", 1, 0).fact(port(added, "tcp 5432", "", "postgres")), "a.ts", []string{"src/a.ts"}},
		{newStage().fact(ours(port(deleted, "tcp 3000", "node", ""))).fact(ours(port(added, "tcp 80", "", "caddy"))), "port 3000", []string{"port 3000 stopped", "port 80 opened by caddy"}},
		{newStage().fact(fact(retake.FactPackage, added, "/var/lib/dpkg/status", "deb", "jq", "", "1.7")).fact(fact(retake.FactPackage, added, "/var/lib/dpkg/status", "deb", "git", "", "2")), "deb +2", []string{"deb +2 packages"}},
		{newStage().swap("a.log", 1, 0).swap(".git/HEAD", 1, 1).swap("src/a.ts", 1, 1), "a.ts", []string{"src/a.ts", "1 in .git/", "a.log"}},
	} {
		st := mustTell(t, c.stage.input())
		var got []string
		for _, p := range st.Gist.Points {
			got = append(got, p.Text)
		}
		if !slices.Equal(got, c.want) || st.Gist.Lead != c.lead {
			t.Errorf("%q %q, want %q %q", st.Gist.Lead, got, c.lead, c.want)
		}
	}
}

func TestModeIsAPoint(t *testing.T) {
	t.Parallel()
	s := newStage()
	a, b := s.shelf.file("x\n"), s.shelf.file("x\n")
	b.Mode = 0o755
	s.changes = []retake.Change{{Path: "src/run.sh", What: retake.Moded, Before: a, After: b}}
	plain := mustTell(t, s.input())
	s.fact(fact(retake.FactMode, retake.Edited, "src/run.sh", "", "src/run.sh", "0644", "0755"))
	for _, st := range []retake.Story{plain, mustTell(t, s.input())} {
		if p := st.Gist.Points; len(p) != 1 || p[0].Text != "src/run.sh 0644 → 0755" {
			t.Errorf("%+v", p)
		}
	}
}

// Six points at most: each theme has its first, and the last counts the files that are left.
func TestRoomForPoints(t *testing.T) {
	t.Parallel()
	s := newStage().del("src/gone.ts", "x\n")
	for i := range 4 {
		path := fmt.Sprintf("%d.env", i)
		s.swap(path, 1, 0).fact(fact(retake.FactEnv, retake.Added, path, "", "KEY", "", ""))
	}
	for i := range 4 {
		s.swap(fmt.Sprintf("src/%d.ts", i), 9-i, 0)
	}
	var got []string
	for _, p := range mustTell(t, s.input()).Gist.Points {
		got = append(got, p.Text)
	}
	want := []string{"deleted src/gone.ts", "0.env +KEY", "1.env +KEY", "src/0.ts", "src/1.ts", "4 more"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestQuiet(t *testing.T) {
	t.Parallel()
	rows := fact(retake.FactRows, retake.Edited, "dev.db", "dev.db", "users", "1", "2")
	table := fact(retake.FactTable, retake.Added, "dev.db", "dev.db", "users", "", "id")
	for name, c := range map[string]struct {
		stage *stage
		want  bool
	}{
		"nothing":         {newStage(), false},
		"logs and git":    {newStage().swap("a.log", 1, 0).swap(".git/HEAD", 1, 1), true},
		"and source":      {newStage().swap("a.log", 1, 0).swap("a.ts", 1, 1), false},
		"rows":            {newStage().swap("dev.db-wal", 1, 0).fact(rows), true},
		"a table":         {newStage().swap("dev.db-wal", 1, 0).fact(table), false},
		"a log that went": {newStage().del("a.log", "x\n"), true},
	} {
		if got := mustTell(t, c.stage.input()).Gist.Moving; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestGistCarries(t *testing.T) {
	t.Parallel()
	st := mustTell(t, newStage().swap("a.ts", 1, 1).input())
	st.Flags = []retake.Flag{{Kind: "mismatch", Why: "says docs, changed a.ts"}}
	st.Unread = []retake.Unread{{Path: "x.db", Reader: "sqlite", Why: "too big"}}
	g := story.BuildGist(st)
	if len(g.Flags) != 1 || g.Unread != 1 || g.Counts != st.Counts || g.V != story.Version {
		t.Errorf("%+v", g)
	}
}
