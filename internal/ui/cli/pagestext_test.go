package cli_test

import (
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/cli"
)

func turn(n int64, when time.Time, prompt string) retake.Checkpoint {
	return retake.Checkpoint{
		ID: retake.CheckpointID("cp_" + prompt), Number: n, Time: when, Trigger: retake.TriggerTurn, Intent: prompt,
		Turn: &retake.Turn{Agent: "claude-code", Prompt: prompt},
	}
}

func shopHits() []retake.Hit {
	return []retake.Hit{
		{Checkpoint: turn(22, at(11, 31), "fix the login redirect"), Where: "intent", Text: "fix the login redirect"},
		{Checkpoint: turn(13, at(10, 18), "install the session store"), Where: "path", Text: "src/routes/login.ts"},
		{
			Checkpoint: retake.Checkpoint{ID: "cp_2", Number: 2, Time: time.Date(2026, 10, 31, 17, 5, 0, 0, time.UTC), Trigger: retake.TriggerManual, Changed: retake.Counts{Edited: 3}},
			Where:      "prompt", Text: "first look at everything that is there, " + strings.Repeat("then read on, ", 6) + "and at the end\nmend the LOGIN\x1b[2J page, so that people with 日本語 names come in too",
		},
	}
}

func TestHits(t *testing.T) {
	t.Parallel()
	same(t, cli.RenderHits(cli.NewLook(80, now, false, false), shopHits(), []string{"login"}),
		`22  11:31      “fix the login redirect”`,
		`13  10:18      “install the session store”`,
		`               path    src/routes/login.ts`,
		` 2  Sat 17:05  3 files changed`,
		`               prompt  …the end mend the LOGIN\x1b[2J page, so that people with…`,
	)
	same(t, cli.RenderHits(cli.NewLook(200, now, false, false), shopHits(), []string{"login"}),
		`22  11:31      “fix the login redirect”`,
		`13  10:18      “install the session store”                                       path    src/routes/login.ts`,
		` 2  Sat 17:05  3 files changed                                                   prompt  …read on, and at the end mend the LOGIN\x1b[2J page, so that people with 日本語 names come in too`,
	)
	got := cli.RenderHits(cli.NewLook(80, now, false, true), shopHits()[:1], []string{"LOGIN", "fix"})
	if want := "“\x1b[1mfix\x1b[0m the \x1b[1mlogin\x1b[0m redirect”\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func shopBlame() retake.Blame {
	return retake.Blame{
		Checkpoint: retake.Checkpoint{Number: 22, Time: at(11, 31)}, Path: "src/au\x1bth.ts",
		Checkpoints: []retake.Checkpoint{turn(22, at(11, 31), "fix the login redirect after the session ends"), {ID: "cp_1", Number: 1, Time: at(9, 41), Trigger: retake.TriggerInit}},
		Lines: []retake.BlameLine{
			{Number: 1, Text: "import { session } from './session'\n"}, {Number: 1, Text: "\n"},
			{Number: 22, Text: "\tconst 名前 = '" + strings.Repeat("日本", 40) + "'\n"}, {Number: 22, Text: "\treturn \x1b[31mred\n"},
			{Number: 1, Text: "}"},
		},
	}
}

func TestBlame(t *testing.T) {
	t.Parallel()
	same(t, cli.RenderBlame(cli.NewLook(80, now, false, false), shopBlame(), false),
		`src/au\x1bth.ts  as of 22, 11:31`,
		``,
		` 1  09:41  start                 1  import { session } from './session'`,
		`                                 2`,
		`22  11:31  “fix the login redi…  3      const 名前 = '日本日本日本日本日本日本…`,
		`                                 4      return \x1b[31mred`,
		` 1  09:41  start                 5  }`,
	)
	wide := cli.RenderBlame(cli.NewLook(200, now, false, false), shopBlame(), false)
	if want := "\n22  11:31  claude-code  “fix the login redirect after the session ends”   3      const 名前 = '日本"; !strings.Contains(wide, want) {
		t.Errorf("missing %q in\n%s", want, wide)
	}
	for _, width := range []int{40, 80, 200} {
		for line := range strings.SplitSeq(cli.RenderBlame(cli.NewLook(width, now, false, false), shopBlame(), false), "\n") {
			if termtext.Width(line) > max(width, 60) {
				t.Errorf("%d columns: %s", width, line)
			}
		}
	}
	if whole := cli.RenderBlame(cli.NewLook(80, now, false, false), shopBlame(), true); !strings.Contains(whole, strings.Repeat("日本", 40)+"'\n") {
		t.Errorf("a pipe gets less than all:\n%s", whole)
	}
	binary := retake.Blame{Path: "logo.png", Checkpoint: retake.Checkpoint{Number: 3, Time: at(10, 0)}, Why: "binary"}
	same(t, cli.RenderBlame(cli.NewLook(80, now, false, false), binary, false), `logo.png  as of 3, 10:00`, `  no lines: binary`)
}

func TestChronicle(t *testing.T) {
	t.Parallel()
	list := []retake.Mention{
		{Checkpoint: turn(22, at(11, 31), "go back to the old express, and see whether the login works then"), Facts: []retake.Fact{
			{Kind: retake.FactPackage, What: retake.Edited, Group: "npm", Name: "express", Before: "5.0.1", After: "4.21.2", Path: "package-lock.json"},
			{Kind: retake.FactPackage, What: retake.Deleted, Group: "deb", Name: "express", Before: "1.0", Path: "/var/lib/dpkg/status"},
		}},
		{Checkpoint: turn(13, at(10, 18), "install express"), Facts: []retake.Fact{
			{Kind: retake.FactPackage, What: retake.Added, Group: "npm", Name: "express", After: "5.0.1\x07", Path: "package-lock.json"},
		}},
	}
	same(t, cli.RenderChronicle(cli.NewLook(80, now, false, false), list),
		`22  11:31  npm  5.0.1 → 4.21.2  “go back to the old express, and see whether th…`,
		`           deb  − 1.0`,
		`13  10:18  npm  + 5.0.1\a       “install express”`,
	)
	same(t, cli.RenderChronicle(cli.NewLook(200, now, false, false), list[1:]), `13  10:18  npm  + 5.0.1\a  “install express”`)
}

func TestWhy(t *testing.T) {
	t.Parallel()
	l := cli.NewLook(80, now, false, false)
	cp := turn(13, at(10, 18), "refactor auth to sessions")
	cp.Turn.Prompt = "refactor auth to sessions\n\n" + strings.Repeat("word ", 30) + "\n" + strings.Repeat("more\n", 20)
	a := cli.Why{Path: "src/auth.ts", Line: 12, Text: "\tsession.start()\n", Checkpoint: cp, Before: []string{"  token.issue(\x1b)", "  b"}, At: retake.Checkpoint{Number: 22, Time: at(11, 31)}}
	same(t, cli.RenderWhy(l, a),
		`src/auth.ts:12  as of 22, 11:31`,
		``,
		`  −   token.issue(\x1b)`,
		`  −   b`,
		`  +     session.start()`,
		``,
		`Written in 13, 10:18, by claude-code: “refactor auth to sessions”`,
		``,
		`What was asked for`,
		``,
		`  refactor auth to sessions`,
		``,
		`  word word word word word word word word word word word word word word word`,
		`  word word word word word word word word word word word word word word word`,
		`  more`, `  more`, `  more`, `  more`, `  more`, `  more`, `  more`, `  more`,
		`  and 12 lines more`,
	)
	a.Checkpoint = retake.Checkpoint{Number: 3, Time: at(9, 50), Trigger: retake.TriggerManual, Intent: "by hand"}
	a.Before = []string{}
	same(t, cli.RenderWhy(l, a),
		`src/auth.ts:12  as of 22, 11:31`, ``, `  +     session.start()`, ``, `Written in 3, 09:50, outside any turn: by hand`,
	)
	for typed, want := range map[string]bool{"a.go:1": true, "a:b:12": true, "a.go": false, "a.go:": false, "a.go:0": false, "a.go:-3": false, ":3": false, "a.go:x": false} {
		if _, _, ok := cli.PlaceOf(typed); ok != want {
			t.Errorf("%q is a place: %v", typed, ok)
		}
	}
}

func TestAnswersInALine(t *testing.T) {
	t.Parallel()
	l := cli.NewLook(80, now, false, false)
	for want, v := range map[string]retake.Verification{
		"✔ test  38 s\n":                                                       {Name: "test", Verdict: retake.Passed, Took: 38 * time.Second},
		"✘ test  exit 1 · 38 s\n":                                              {Name: "test", Verdict: retake.Failed, Exit: 1, Took: 38 * time.Second},
		"? test  could not run: ended after 10 min 0 s\n":                      {Name: "test", Verdict: retake.CouldNotRun, Why: "ended after 10 min 0 s"},
		"? test  could not run: exit 127\n":                                    {Name: "test", Verdict: retake.CouldNotRun, Exit: 127},
		"≈ te\\x1bst  changed meanwhile: a.txt\n":                              {Name: "te\x1bst", Verdict: retake.RanOnOther, Why: "changed meanwhile: a.txt"},
		"✔ test  38 s · ran at another path, so it makes no checkpoint good\n": {Name: "test", Verdict: retake.Passed, Where: retake.Elsewhere, Took: 38 * time.Second},
		"✔ test  38 s\n  it left 5 paths: cov/a, cov/b, cov/c, 2 more\n":       {Name: "test", Verdict: retake.Passed, Took: 38 * time.Second, Wrote: []string{"cov/a", "cov/b", "cov/c", "d", "e"}},
	} {
		if got := cli.RenderAttested(l, v); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestLinesForAShell(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{
		"npm test": {"npm", "test"}, "sh -c 'exit 3'": {"sh", "-c", "exit 3"}, "echo 'it'\\''s' ''": {"echo", "it's", ""},
		"'CI=1' x=2 a/b.c": {"CI=1", "x=2", "a/b.c"}, "ls '~' '*'": {"ls", "~", "*"},
	} {
		if got := cli.ShellLine(words); got != want {
			t.Errorf("%q: got %s, want %s", words, got, want)
		}
	}
}

func TestTheEndOfAnOutputIsKept(t *testing.T) {
	t.Parallel()
	if got := cli.EndOf("a", "b\n", "c"); got != "ab\nc" {
		t.Errorf("got %q", got)
	}
	line := strings.Repeat("x", 99) + "\n"
	got := cli.EndOf(strings.Repeat(line, 5000), "the end")
	if len(got) > cli.KeptOutput || len(got) < cli.KeptOutput-100 || !strings.HasPrefix(got, line) || !strings.HasSuffix(got, line+"the end") {
		t.Errorf("%d bytes, %q … %q", len(got), got[:20], got[len(got)-20:])
	}
}
