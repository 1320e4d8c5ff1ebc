package story_test

import (
	"fmt"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/story"
)

// shopfront is the checkpoint 13 of the pictures: a build deleted, packages installed, a key, a
// table, seven files of source, and a port that nobody listens on any more.
func shopfront() *stage {
	s := newStage()
	s.swap(".env", 1, 0).swap("data/dev.db", 1, 1)
	s.dir("dist", retake.Deleted)
	for i := range 412 {
		s.del(fmt.Sprintf("dist/assets/%03d.js", i), fmt.Sprintf("built %d\n", i))
	}
	s.dir("node_modules/connect-sqlite3", retake.Added)
	for i := range 783 {
		s.add(fmt.Sprintf("node_modules/connect-sqlite3/%03d.js", i), fmt.Sprintf("module %d\n", i))
	}
	s.swap("package-lock.json", 214, 0).swap("package.json", 3, 0).swap("src/app.ts", 6, 1).swap("src/auth.ts", 18, 31)
	s.swap("src/routes/login.ts", 9, 14).add("src/session.ts", lines("session", 64)).swap("test/auth.test.ts", 4, 4)
	for i := range 12 {
		s.fact(retake.Fact{Kind: retake.FactPackage, What: retake.Added, Group: "npm", Name: fmt.Sprintf("p%d", i), After: "1.0.0", Path: "package-lock.json", Direct: i < 3})
	}
	s.fact(retake.Fact{Kind: retake.FactEnv, What: retake.Added, Name: "SESSION_KEY", Path: ".env"})
	s.fact(retake.Fact{Kind: retake.FactTable, What: retake.Added, Group: "data/dev.db", Name: "sessions", Path: "data/dev.db"})
	s.fact(retake.Fact{Kind: retake.FactRows, What: retake.Added, Group: "data/dev.db", Name: "sessions", After: "0", Path: "data/dev.db"})
	s.fact(retake.Fact{Kind: retake.FactPort, What: retake.Deleted, Name: "tcp 3000", Before: "node", Path: "/proc/net/tcp", Direct: true})
	return s
}

// goldens are stories as they read.
var goldens = map[string]struct {
	stage func() *stage
	want  string
}{
	"nothing": {newStage, `0 files
lead:
`},
	"an install that broke the build": {shopfront, `1204 files 784 added 412 deleted 8 edited +105 -50
deleted 412
 dist/ deleted 412 build output
packages 783
 node_modules/ added 783
settings 1 +1 -0
 .env edited 1 +1 -0
database 1
 data/dev.db edited 1
source 7 +104 -50
 src/session.ts added 1 +64 -0
 src/auth.ts edited 1 +18 -31
 src/routes/login.ts edited 1 +9 -14
 test/auth.test.ts edited 1 +4 -4
 src/app.ts edited 1 +6 -1
 package.json edited 1 +3 -0
 package-lock.json edited 1 +214 -0 lock file
machine 0
 /proc/net/tcp deleted 0 port 3000 stopped
lead: npm +12
 deleted: deleted 412 in dist/
 packages: npm +12 packages (+p0, +p1, 1 more)
 settings: .env +SESSION_KEY
 database: dev.db +table sessions
 source: src/session.ts +64 -0
 source: 5 more
`},
	"a small edit": {func() *stage {
		return newStage().swap("src/auth.ts", 41, 12).swap("src/routes/login.ts", 2, 2).swap("README.md", 1, 0)
	}, `3 files 3 edited +44 -14
source 3 +44 -14
 src/auth.ts edited 1 +41 -12
 src/routes/login.ts edited 1 +2 -2
 README.md edited 1 +1 -0
lead: auth.ts
 source: src/auth.ts +41 -12
 source: src/routes/login.ts +2 -2
 source: README.md +1 -0
`},
	"many small edits": {func() *stage {
		s := newStage().swap(".nvmrc", 1, 1).swap("package.json", 1, 1)
		for i := range 11 {
			s.swap(fmt.Sprintf("src/%02d.ts", i), 2, 2)
		}
		return s
	}, `13 files 13 edited +24 -24
settings 1 +1 -1
 .nvmrc edited 1 +1 -1
source 12 +23 -23
 src/00.ts edited 1 +2 -2
 src/01.ts edited 1 +2 -2
 src/02.ts edited 1 +2 -2
 src/03.ts edited 1 +2 -2
 src/04.ts edited 1 +2 -2
 src/05.ts edited 1 +2 -2
 src/06.ts edited 1 +2 -2
 src/07.ts edited 1 +2 -2
 src/08.ts edited 1 +2 -2
 src/09.ts edited 1 +2 -2
 src/10.ts edited 1 +2 -2
 package.json edited 1 +1 -1
lead: src/
 settings: .nvmrc +1 -1
 source: 11 in src/ +22 -22
 source: package.json +1 -1
`},
	"a build": {func() *stage {
		s := newStage().dir("dist", retake.Added)
		for i := range 412 {
			s.add(fmt.Sprintf("dist/%03d.js", i), fmt.Sprintf("built %d\n", i))
		}
		return s
	}, `412 files 412 added
build 412
 dist/ added 412 build output
lead: dist/
 build: dist/ +412
`},
	"what always moves": {func() *stage {
		return newStage().swap("data/dev.db-wal", 3, 3).swap("logs/app.log", 5, 0)
	}, `2 files 2 edited
moving 2
 data/dev.db-wal edited 1
 logs/app.log edited 1
lead: dev.db-wal
quiet
 moving: data/dev.db-wal
 moving: logs/app.log
`},
	"a directory renamed": {func() *stage {
		s := newStage().dir("old", retake.Deleted).dir("new", retake.Added).dir("old/sub", retake.Deleted).dir("new/sub", retake.Added)
		for i := range 9 {
			text := lines(fmt.Sprintf("file %d", i), 20)
			s.del(fmt.Sprintf("old/sub/%d.ts", i), text).add(fmt.Sprintf("new/sub/%d.ts", i), text)
		}
		return s.add("new/index.ts", "export {}\n")
	}, `10 files 1 added 9 renamed +1 -0
source 10 +1 -0
 old/ → new/ renamed 10 +1 -0 and 1 file beside
lead: new/
 source: renamed old/ → new/ +1 -0
`},
	"a file renamed and edited": {func() *stage {
		return newStage().del("src/a.ts", lines("same", 20)+"old\n").add("src/b.ts", lines("same", 20)+"new\n")
	}, `1 files 1 renamed +1 -1
source 1 +1 -1
 src/a.ts → src/b.ts renamed 1 +1 -1
lead: b.ts
 source: renamed a.ts → b.ts +1 -1
`},
	"the lie about documents": {func() *stage {
		return newStage().del("docs/login.md", "a\n").del("docs/old.md", "b\n").swap(".env", 0, 1).swap("config/session.json", 1, 1).swap("docs/auth.md", 4, 2).swap("src/auth.ts", 3, 3).
			fact(retake.Fact{Kind: retake.FactEnv, What: retake.Deleted, Name: "COOKIE_SECRET", Path: ".env"}).
			fact(retake.Fact{Kind: retake.FactSetting, What: retake.Edited, Name: "sameSite", Before: "lax", After: "strict", Path: "config/session.json"})
	}, `6 files 2 deleted 4 edited +8 -9
deleted 2 +0 -2
 docs/login.md deleted 1 +0 -1
 docs/old.md deleted 1 +0 -1
settings 2 +1 -2
 .env edited 1 +0 -1
 config/session.json edited 1 +1 -1
source 2 +7 -5
 docs/auth.md edited 1 +4 -2
 src/auth.ts edited 1 +3 -3
lead: deleted 2
 deleted: deleted 2 in docs/
 settings: .env −COOKIE_SECRET
 settings: config/session.json sameSite lax → strict
 source: docs/auth.md +4 -2
 source: src/auth.ts +3 -3
`},
	"source deleted among creations": {func() *stage {
		s := newStage().dir("src/legacy", retake.Deleted)
		for i := range 20 {
			s.del(fmt.Sprintf("src/legacy/%02d.ts", i), lines(fmt.Sprintf("legacy %d", i), 3))
		}
		for i := range 40 {
			s.add(fmt.Sprintf("src/gen/%02d.ts", i), lines(fmt.Sprintf("gen %d", i), 3))
		}
		return s
	}, `60 files 40 added 20 deleted +120 -60
deleted 20 +0 -60
 src/legacy/ deleted 20 +0 -60
source 40 +120 -0
 src/gen/ added 40 +120 -0
lead: deleted 20
 deleted: deleted 20 in src/legacy/
 source: 40 in src/gen/ +120 -0
`},
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, g := range goldens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, err := story.Build(t.Context(), g.stage().input())
			if err != nil {
				t.Fatal(err)
			}
			if got := read(st); got != g.want {
				t.Errorf("it reads\n%s\nwant\n%s", got, g.want)
			}
		})
	}
}
