package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/cli"
	"github.com/retake-dev/retake/internal/ui/term"
)

func TestCard80(t *testing.T) {
	t.Parallel()
	same(t, cli.RenderCard(cli.NewLook(80, now, false, false), thirteen()),
		`13  10:18  after “install the session store”                       ✘ test ✔ lint`,
		``,
		`  turn       “refactor auth to sessions”  +1 line`,
		`  by         claude-code 2.1.240 · 9 calls · session 5b1e, no other session`,
		`  tasks      2 of 5 done, next: replace the token middleware`,
		`  checks     ✘ test   14 of 212 failed · npm test · exit 1 · 38 s`,
		`                      run by Retake`,
		`             ✔ lint   6.0 s`,
		`             test passed at 11 and passes again at 14`,
		`  saved      complete · 38,796 files, 402 MB · 3.1 MB new`,
		`  external   none`,
		`  taken      Tue 3 Nov 2026 10:18:00 · 1 h ago · automatic, when a task ended`,
		`  id         cp_13`,
		``,
		`What really changed since 12  1,204 files`,
		``,
		`  deleted     412  dist/                     build output, 6.1 MB`,
		`  packages    +12  npm  express-session 1.18.1, connect-sqlite3 0.9.15,`,
		`                        sqlite3 5.1.7 and 9 they need · 783 files`,
		`  settings     +1  .env  SESSION_KEY         looks like a secret, value hidden`,
		`  database     +1  data/dev.db  table sessions, 0 rows`,
		`  source        7  src/session.ts            +64       new`,
		`                   src/auth.ts               +18 −31`,
		`                   src/routes/login.ts        +9 −14`,
		`                   src/app.ts                 +6  −1`,
		`                   test/auth.test.ts          +4  −4`,
		`                   package.json               +3`,
		`                   package-lock.json        +214       lock file`,
		`  machine          port 3000 stopped listening (node) · seen, never restored`,
	)
}

// A wide card has what was printed and said on its right.
func TestCard200(t *testing.T) {
	t.Parallel()
	same(t, cli.RenderCard(cli.NewLook(200, now, false, false), thirteen()),
		`13  10:18  after “install the session store”                                                                                                                                               ✘ test ✔ lint`,
		``,
		`  turn       “refactor auth to sessions”  +1 line                                              │  The end of the failing run  npm test · 10:18 · 38 s`,
		`  by         claude-code 2.1.240 · 9 calls · session 5b1e, no other session                    │`,
		`  tasks      2 of 5 done, next: replace the token middleware                                   │    … 24 lines more: retake show 13 --output test`,
		`  checks     ✘ test   14 of 212 failed · npm test · exit 1 · 38 s · run by Retake              │      ✔ passes`,
		`             ✔ lint   6.0 s                                                                    │      ✔ passes`,
		`             test passed at 11 and passes again at 14                                          │      ✔ passes`,
		`  saved      complete · 38,796 files, 402 MB · 3.1 MB new                                      │      ✔ passes`,
		`  external   none                                                                              │      ✔ passes`,
		`  taken      Tue 3 Nov 2026 10:18:00 · 1 h ago · automatic, when a task ended                  │      ✔ passes`,
		`  id         cp_13                                                                             │    FAIL  test/auth.test.ts`,
		`                                                                                               │      ✘ keeps a user signed in\x1b[2J across requests`,
		`What really changed since 12  1,204 files                                                      │        expected status 200, got 401`,
		`                                                                                               │    Tests  14 failed, 198 passed, 212 total`,
		`  deleted     412  dist/                     build output, 6.1 MB                              │`,
		`  packages    +12  npm  express-session 1.18.1, connect-sqlite3 0.9.15, sqlite3 5.1.7 and 9    │  What was said`,
		`                        they need · 783 files                                                  │`,
		`  settings     +1  .env  SESSION_KEY         looks like a secret, value hidden                 │    you       refactor auth to sessions and keep the tests green`,
		`  database     +1  data/dev.db  table sessions, 0 rows                                         │    call      rm -rf dist node_modules`,
		`  source        7  src/session.ts            +64       new                                     │    call      npm install express-session connect-sqlite3`,
		`                   src/auth.ts               +18 −31                                           │    call      npm test  failed`,
		`                   src/routes/login.ts        +9 −14                                           │    claude    Store installed and wired in. The routes still read the old token, that is task 3.`,
		`                   src/app.ts                 +6  −1                                           │`,
		`                   test/auth.test.ts          +4  −4                                           │  Tasks  3 of 5 left`,
		`                   package.json               +3                                               │`,
		`                   package-lock.json        +214       lock file                               │    ✔ map token readers`,
		`  machine          port 3000 stopped listening (node) · seen, never restored                   │    ✔ install the session store`,
		`                                                                                               │    ● replace the token middleware`,
		`                                                                                               │    ○ migrate`,
		`                                                                                               │    ○ docs`,
	)
}

func TestCardInASCIIAndColor(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 160} {
		c := thirteen()
		c.Verifications[0].Output = "FAIL\n" // what a program printed is shown as it is
		plain := cli.RenderCard(cli.NewLook(width, now, true, false), c)
		for _, r := range plain {
			if r > 126 {
				t.Fatalf("%q is not ASCII in\n%s", r, plain)
			}
		}
		fancy := cli.RenderCard(cli.NewLook(width, now, false, false), c)
		colored := cli.RenderCard(cli.NewLook(width, now, false, true), c)
		if trimLines(uncolored(colored)) != trimLines(fancy) {
			t.Fatalf("got\n%s\nwant\n%s", uncolored(colored), fancy)
		}
		for _, want := range []string{"\x1b[31m✘\x1b[0m test", "\x1b[32m✔\x1b[0m lint", "\x1b[31mdeleted  \x1b[0m", "\x1b[33mlooks like a secret", "\x1b[32m  +64\x1b[0m"} {
			if !strings.Contains(colored, want) {
				t.Errorf("no %q in\n%s", want, colored)
			}
		}
	}
}

func TestCardFitsAnyScreen(t *testing.T) {
	t.Parallel()
	c := thirteen()
	c.Story.Groups[4].Items[0].Path = "src/" + strings.Repeat("とても長い/", 12) + "\x1b.ts"
	c.Story.Facts = append(c.Story.Facts, retake.Fact{Kind: retake.FactSecret, What: retake.Added, Name: "private key", Path: c.Story.Groups[4].Items[0].Path})
	for _, width := range []int{80, 100, 139, 140, 200} {
		for line := range strings.SplitSeq(cli.RenderCard(cli.NewLook(width, now, false, false), c), "\n") {
			if termtext.Width(line) > width {
				t.Errorf("%d columns of %d: %s", termtext.Width(line), width, line)
			}
		}
	}
}

// card is a checkpoint with one story.
func cardOf(st retake.Story) term.Card {
	if st.From == nil {
		st.From = &retake.Checkpoint{Number: 4}
	}
	return term.Card{Checkpoint: retake.Checkpoint{ID: "cp_5", Number: 5, Time: at(10, 0), Intent: "x", Trigger: retake.TriggerManual, Coverage: retake.Coverage{Grade: retake.Complete}}, Story: st}
}

// storyOf is what a card says behind its fields.
func storyOf(st retake.Story) string {
	_, text, _ := strings.Cut(cli.RenderCard(cli.NewLook(80, now, false, false), cardOf(st)), "What really changed")
	return text
}

// Many ports of programs that do not belong to the workspace are counted, its own are named.
func TestCardCountsThePortsOfOthers(t *testing.T) {
	t.Parallel()
	st := retake.Story{}
	for i := range 5 {
		st.Facts = append(st.Facts, retake.Fact{Kind: retake.FactPort, What: retake.Added, Name: fmt.Sprintf("tcp %d", 3000+i), After: "node", Path: "/proc/net", Direct: i == 4})
	}
	same(t, storyOf(st), ` since 4  no files`, ``,
		`  machine          4 ports of other programs, --json`,
		`                   port 3004 is listened on (node) · seen, never restored`)
}

func TestCardTellsEveryKindOfFact(t *testing.T) {
	t.Parallel()
	item := func(path string, what retake.Difference, note string) retake.Item {
		return retake.Item{Path: path, What: what, Files: 1, Note: note}
	}
	renamed := retake.Item{Path: "src/b.ts", From: "src/a.ts", What: retake.Renamed, Files: 1}
	st := retake.Story{
		Counts: retake.StoryCounts{Edited: 6, Renamed: 1, Moded: 1, Deleted: 1, Timed: 3},
		Groups: []retake.Group{
			{Theme: retake.ThemeDeleted, Files: 1, Items: []retake.Item{item("docs/faq.md", retake.Deleted, "")}},
			{Theme: retake.ThemeSettings, Files: 2, Items: []retake.Item{item("config/session.json", retake.Edited, ""), item("ops/web.service", retake.Added, "")}},
			{Theme: retake.ThemeDatabase, Files: 1, Items: []retake.Item{item("dev.db", retake.Edited, "")}},
			{Theme: retake.ThemeSource, Files: 4, Items: []retake.Item{renamed, item("run.sh", retake.Moded, "mode 0644 → 0755"), item("logo.png", retake.Edited, "binary"), {Path: "src/keys.ts", What: retake.Edited, Files: 1, Plus: 2}}},
			{Theme: retake.ThemeMoving, Files: 1, Items: []retake.Item{item("logs/", retake.Edited, "")}},
		},
		Facts: []retake.Fact{
			{Kind: retake.FactPackage, What: retake.Deleted, Group: "npm", Name: "redis", Before: "4.0.0", Path: "package-lock.json", Direct: true},
			{Kind: retake.FactPackage, What: retake.Edited, Group: "npm", Name: "express", Before: "4.18.1", After: "5.0.0", Path: "package-lock.json", Direct: true},
			{Kind: retake.FactPackage, What: retake.Edited, Group: "npm", Name: "qs", Before: "6.0", After: "6.1", Path: "package-lock.json"},
			{Kind: retake.FactPackage, What: retake.Added, Group: "deb", Name: "curl", After: "8.5.0", Path: "/var/lib/dpkg/status"},
			{Kind: retake.FactEnv, What: retake.Added, Name: "REDIS_URL", Path: ".env"},
			{Kind: retake.FactEnv, What: retake.Deleted, Name: "COOKIE_SECRET", Path: ".env"},
			{Kind: retake.FactSetting, What: retake.Edited, Name: "session.sameSite", Before: `"lax"`, After: `"strict"`, Path: "config/session.json"},
			{Kind: retake.FactSetting, What: retake.Added, Name: "session.ttl", After: "30", Path: "config/session.json"},
			{Kind: retake.FactUnit, What: retake.Added, Name: "web.service", After: "/usr/bin/node app.js", Path: "ops/web.service"},
			{Kind: retake.FactTable, What: retake.Edited, Name: "users", Before: "id, name", After: "id, email", Path: "dev.db"},
			{Kind: retake.FactRows, What: retake.Edited, Name: "users", Before: "41", After: "45", Path: "dev.db"},
			{Kind: retake.FactTable, What: retake.Deleted, Name: "old", Before: "id", Path: "dev.db"},
			{Kind: retake.FactRows, What: retake.Edited, Name: "carts", Before: "9", After: "1", Path: "dev.db"},
			{Kind: retake.FactSecret, What: retake.Added, Name: "aws access key", Path: "src/keys.ts"},
			{Kind: retake.FactMode, What: retake.Edited, Name: "run.sh", Before: "0644", After: "0755", Path: "run.sh"},
			{Kind: retake.FactPort, What: retake.Added, Name: "tcp 8080", After: "bun", Path: "/proc/net/tcp"},
			{Kind: retake.FactProfile, What: retake.Edited, Name: "/home/ann/.bashrc", Path: "/home/ann/.bashrc"},
		},
		Unread: []retake.Unread{{Path: "data/x.db", Reader: "sqlite", Why: "took too long"}},
	}
	same(t, storyOf(st),
		` since 4  9 files`,
		``,
		`  deleted       1  docs/faq.md`,
		`  packages     −1  npm  redis 4.0.0`,
		`                2  npm  express 4.18.1 → 5.0.0 and 1 they need`,
		`  settings      2  .env  +REDIS_URL, −COOKIE_SECRET`,
		`                2  config/session.json  session.sameSite  "lax" → "strict"`,
		`                                        +session.ttl  30`,
		`               +1  ops/web.service  unit web.service  /usr/bin/node app.js`,
		`  database      2  dev.db  table users −name +email, 41 → 45 rows · −table old ·`,
		`                           carts 9 → 1 rows`,
		`  source        4  src/a.ts → src/b.ts`,
		`                   run.sh                    mode 0644 → 0755`,
		`                   logo.png                  binary`,
		`                   src/keys.ts                +2`,
		`                     looks like a secret: aws access key`,
		`  moving        1  logs/`,
		`  machine          port 8080 is listened on (bun)`,
		`                   ~/.bashrc changed`,
		`                   deb +1 curl 8.5.0 · seen, never restored`,
		`  time only     3  only the time of modification`,
		`                   could not be read: data/x.db, took too long`,
	)
}

// Deletions are all there; of the rest there is a count and a way to see it.
func TestCardCutsNothingWithoutACount(t *testing.T) {
	t.Parallel()
	group := func(theme retake.Theme, n int) retake.Group {
		g := retake.Group{Theme: theme, Files: int64(n)}
		for i := range n {
			g.Items = append(g.Items, retake.Item{Path: fmt.Sprintf("%s/%02d.ts", theme, i), What: retake.Edited, Files: 1, Plus: 1})
		}
		return g
	}
	got := storyOf(retake.Story{Groups: []retake.Group{group(retake.ThemeDeleted, 30), group(retake.ThemeSource, 30), group(retake.ThemeBuild, 12)}})
	if n := strings.Count(got, "deleted/"); n != 30 {
		t.Errorf("%d of 30 deletions in\n%s", n, got)
	}
	if n := strings.Count(got, "source/"); n != 11 || !strings.Contains(got, "                   and 19 files more: retake diff 5 --stat\n") {
		t.Errorf("%d of 30 in\n%s", n, got)
	}
	if n := strings.Count(got, "build/"); n != 12 {
		t.Errorf("%d of 12 in\n%s", n, got)
	}
}

func TestCardOfTheFirstCheckpoint(t *testing.T) {
	t.Parallel()
	c := cardOf(retake.Story{Counts: retake.StoryCounts{Added: 3}})
	c.Story.From = nil
	if got := cli.RenderCard(cli.NewLook(80, now, false, false), c); !strings.HasSuffix(got, "\nWhat it began with  3 files\n") {
		t.Fatalf("got\n%s", got)
	}
}

// Words and facts that disagree stand on the card, with the reason; so does a claim.
func TestCardFlagsAndClaims(t *testing.T) {
	t.Parallel()
	c := cardOf(retake.Story{Flags: []retake.Flag{{Kind: "mismatch", Why: "says docs, changed settings and .env −COOKIE_SECRET, and deleted two files that nobody spoke of"}}})
	c.Checkpoint.Turn = &retake.Turn{Agent: "codex", Version: "0.71.0", Session: "0f3a9c", Contested: []string{"claude-code 5b1e"}}
	c.Checkpoint.Effects = []retake.Effect{{ID: "e1", Time: at(9, 59), Text: "git push\x1b[2J origin"}}
	v := run(5, "test", retake.Passed)
	v.Claim, v.By = true, "codex"
	w := run(3, "lint", retake.Failed)
	w.Exit = 2
	c.Verifications = []retake.Verification{v, w}
	got := cli.RenderCard(cli.NewLook(80, now, false, true), c)
	if !strings.Contains(got, "\x1b[35mmismatch\x1b[0m  says docs") || strings.Contains(got, "\x1b[32m") {
		t.Errorf("got %q", got)
	}
	text, _, _ := strings.Cut(uncolored(got), "\n\nWhat")
	same(t, text+"\n",
		`5  10:00  x                                                    ✘ like 3 “✔” test`,
		``,
		`  by         codex 0.71.0 · session 0f3a`,
		`  checks     ✘   lint   npm lint · exit 2 · 6.0 s · run by Retake`,
		`                        same files as 3`,
		`             “✔” test   npm test · 6.0 s · codex says so; nothing confirms it`,
		`  saved      complete · no files, 0 B · 0 B new`,
		`  external   e1  09:59  git push\x1b[2J origin  can't be undone`,
		`  flags      mismatch  says docs, changed settings and .env −COOKIE_SECRET, and`,
		`                       deleted two files that nobody spoke of`,
		`             overlap  also at work: claude-code 5b1e`,
		`  taken      Tue 3 Nov 2026 10:00:00 · 1 h ago · by hand`,
		`  id         cp_5`,
	)
}

func TestFactsOnly(t *testing.T) {
	t.Parallel()
	same(t, cli.RenderFacts(cli.NewLook(80, now, false, false), installed()),
		``,
		`  packages    +12  npm  express-session 1.18.1, connect-sqlite3 0.9.15,`,
		`                        sqlite3 5.1.7 and 9 they need`,
		`  settings     +1  .env  SESSION_KEY         looks like a secret, value hidden`,
		`  database     +1  data/dev.db  table sessions, 0 rows`,
		`  machine          port 3000 stopped listening (node) · seen, never restored`,
	)
	if got := cli.RenderFacts(cli.NewLook(80, now, false, false), retake.Story{Groups: []retake.Group{{Theme: retake.ThemeSource, Files: 1, Items: []retake.Item{{Path: "a"}}}}}); got != "\nNo package, setting, database or service differs.\n" {
		t.Errorf("got %q", got)
	}
}
