package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/cli"
	"github.com/retake-dev/retake/internal/view"
)

func drawScene(width int, ascii, color bool) string {
	return cli.RenderView(cli.NewLook(width, now, ascii, color), scene())
}

func TestTimelineTellsAMorning80(t *testing.T) {
	t.Parallel()
	same(t, drawScene(80, false, false),
		`shopfront  ~/code/shopfront               ✔ last good 22 · protected since 09:41`,
		``,
		`           when   message                            checks    files`,
		`┊          now    2 files changed since 22                         2`,
		`●      22  11:31  “remember me for 30 days”          ✔ test        4  auth.ts`,
		`○─╮    21  11:24  adopted sqlite-store               ✔ test       12  session.ts`,
		`│ ○        11:19  fork sqlite-store, 3 checkpoints   ✔ test       12  session.ts`,
		`│ │ ○      11:22  fork redis-store, 4 checkpoints    ✘ test    1,131  npm +9`,
		`○─┴─╯  20  11:02  “compare sqlite and redis”         ✔ like 14     –`,
		`○      19  10:52  restored 14                        ✔ like 14 1,181`,
		`│ ◇    18  10:52  saved before the restore           –             1  login.html`,
		`│ ○    17  10:46  “move sessions to redis”           ✘ test    1,165`,
		`│ │               partial  dev.db was moving`,
		`│ │               deleted 28 in public/avatars/ · npm +9 packages`,
		`│ →    e2  10:44  mail to qa@shopfront.test                      can't be undone`,
		`│ ○    16  10:41  “tidy the imports”                 –            14  src/`,
		`│ │               overlap  also at work: codex 0f3a`,
		`│ →    e1  10:36  git push origin auth-sessions                  can't be undone`,
		`│ ○    15  10:34  “update the login docs”            ✘ test        6`,
		`│ │               mismatch  says docs, changed settings and .env −COOKIE_SECRET`,
		`│ │               deleted 2 in docs/`,
		`○─╯    14  10:27  working version, app healthy       ✔ test        3  auth.ts`,
		`○      13  10:18  after “install the session store”  ✘ test    1,204`,
		`│                 deleted 412 in dist/ · npm +12 packages · .env +SESSION_KEY`,
		"◇      12  10:14  before `rm -rf dist node_modules`  –             –",
		`│                 risky  deletes dist and node_modules`,
		`○      11  10:11  before “refactor auth to session…  ✔ test        2  README.md`,
		`○      10  10:02  clean clone, built                 ✔ test      412  dist/`,
		`┊     2–9  09:44  8 auto-checkpoints, until 09:58                  1  dev.db`,
		`○       1  09:41  start                              ✔ test   38,012`,
	)
}

func TestTimelineTellsAMorning200(t *testing.T) {
	t.Parallel()
	same(t, drawScene(200, false, false),
		`shopfront  ~/code/shopfront                                                                                                     ✔ last good 22 11:31 · protected since 09:41, same-user · 22 checkpoints`,
		``,
		`           when   who     message                                                           checks          files  what really changed`,
		`┊          now            2 files changed since 22                                                              2  edited 2`,
		`●      22  11:31  claude  “remember me for 30 days”                                         ✔ test ✔ lint       4  src/auth.ts +31 −4 · src/session.ts +14 −3 · 2 more`,
		`○─╮    21  11:24  you     adopted sqlite-store                                              ✔ test ✔ lint      12  src/session.ts +88 −31 · config sameSite · 10 more`,
		`│ ○        11:19  claude  fork sqlite-store, 3 checkpoints                                  ✔ test ✔ lint      12  session.ts`,
		`│ │ ○      11:22  codex   fork redis-store, 4 checkpoints                                   ✘ test ✔ lint   1,131  npm +9`,
		`○─┴─╯  20  11:02  claude  “compare sqlite and redis”                                        ✔ same as 14        –  talk only`,
		`○      19  10:52  you     restored 14                                                       ✔ same as 14    1,181  deleted 1,132 · brought back 30 · changed 19`,
		`│ ◇    18  10:52  you     saved before the restore                                          –                   1  web/login.html +2 −2`,
		`│ ○    17  10:46  claude  “move sessions to redis”                                partial   ✘ test          1,165  deleted 28 in public/avatars/ · npm +9 packages · dev.db was moving`,
		`│ →    e2  10:44  claude  mail to qa@shopfront.test                                         can't be undone        api.mailer.test`,
		`│ ○    16  10:41  both    “tidy the imports”                                      overlap   –                  14  11 in src/ +40 −12 · .nvmrc +1 −1 · also at work: codex 0f3a`,
		`│ →    e1  10:36  claude  git push origin auth-sessions                                     can't be undone        origin`,
		`│ ○    15  10:34  claude  “update the login docs”                                 mismatch  ✘ test              6  deleted 2 in docs/ · says docs, changed settings and .env −COOKIE_SECRET`,
		`○─╯    14  10:27  you     working version, app healthy                                      ✔ test ✔ lint       3  src/auth.ts +41 −12 · 2 more`,
		`○      13  10:18  claude  after “install the session store”                                 ✘ test ✔ lint   1,204  deleted 412 in dist/ · npm +12 packages · .env +SESSION_KEY`,
		"◇      12  10:14  claude  before `rm -rf dist node_modules`                       risky     –                   –  deletes dist and node_modules",
		`○      11  10:11  claude  before “refactor auth to sessions”                                ✔ test ✔ lint       2  README.md +2 −1 · .editorconfig +1`,
		`○      10  10:02  you     clean clone, built                                                ✔ test            412  dist/ +412`,
		`┊     2–9  09:44          8 auto-checkpoints, until 09:58                                                       1  files that always move: data/dev.db`,
		`○       1  09:41  you     start                                                             ✔ test         38,012  first capture, complete`,
	)
}

// In ASCII the columns are the same; answers have longer signs.
func TestTimelineTellsAMorningInASCII(t *testing.T) {
	t.Parallel()
	same(t, drawScene(80, true, false),
		`shopfront  ~/code/shopfront              ok last good 22 - protected since 09:41`,
		``,
		`           when   message                           checks     files`,
		`:          now    2 files changed since 22                         2`,
		`@      22  11:31  "remember me for 30 days"         ok test        4  auth.ts`,
		`o-\    21  11:24  adopted sqlite-store              ok test       12  session.ts`,
		`| o        11:19  fork sqlite-store, 3 checkpoints  ok test       12  session.ts`,
		`| | o      11:22  fork redis-store, 4 checkpoints   NO test    1,131  npm +9`,
		`o-+-/  20  11:02  "compare sqlite and redis"        ok like 14     -`,
		`o      19  10:52  restored 14                       ok like 14 1,181`,
		`| .    18  10:52  saved before the restore          -              1  login.html`,
		`| o    17  10:46  "move sessions to redis"          NO test    1,165`,
		`| |               partial  dev.db was moving`,
		`| |               deleted 28 in public/avatars/ - npm +9 packages`,
		`| >    e2  10:44  mail to qa@shopfront.test                      can't be undone`,
		`| o    16  10:41  "tidy the imports"                -             14  src/`,
		`| |               overlap  also at work: codex 0f3a`,
		`| >    e1  10:36  git push origin auth-sessions                  can't be undone`,
		`| o    15  10:34  "update the login docs"           NO test        6`,
		`| |               mismatch  says docs, changed settings and .env -COOKIE_SECRET`,
		`| |               deleted 2 in docs/`,
		`o-/    14  10:27  working version, app healthy      ok test        3  auth.ts`,
		`o      13  10:18  after "install the session stor~  NO test    1,204`,
		`|                 deleted 412 in dist/ - npm +12 packages - .env +SESSION_KEY`,
		".      12  10:14  before `rm -rf dist node_module~  -              -",
		`|                 risky  deletes dist and node_modules`,
		`o      11  10:11  before "refactor auth to sessio~  ok test        2  README.md`,
		`o      10  10:02  clean clone, built                ok test      412  dist/`,
		`:     2-9  09:44  8 auto-checkpoints, until 09:58                  1  dev.db`,
		`o       1  09:41  start                             ok test   38,012`,
	)
}

// Colors add nothing but themselves, and mean one thing each.
func TestTimelineColors(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 120, 200} {
		colored := drawScene(width, false, true)
		if got, want := trimLines(uncolored(colored)), trimLines(drawScene(width, false, false)); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		for what, want := range map[string]string{
			"a good checkpoint is green":  "\x1b[32m○\x1b[0m\x1b[2m─\x1b[0m\x1b[2m╯\x1b[0m    14",
			"one that fails is not":       "\n○      13",
			"its sign is red":             "\x1b[31m✘\x1b[0m test",
			"a lie is magenta":            "\x1b[35mmismatch\x1b[0m",
			"what is not whole is cyan":   "\x1b[36mpartial\x1b[0m",
			"danger is yellow":            "\x1b[33mrisky\x1b[0m",
			"deletions are red":           "\x1b[31mdeleted\x1b[0m",
			"what was left behind is dim": "│ \x1b[2m○\x1b[0m",
			"where the files stand":       "\x1b[1m“remember me for 30 days”\x1b[0m",
		} {
			if !strings.Contains(colored, want) {
				t.Errorf("%s at %d: no %q in\n%s", what, width, want, colored)
			}
		}
	}
}

// Whatever foreign text is like, a line is not wider than the screen, and nothing of it is
// obeyed.
func TestTimelineFitsAnyScreen(t *testing.T) {
	t.Parallel()
	v := scene()
	for i := range v.Checkpoints {
		c := &v.Checkpoints[i]
		if c.Intent != "" {
			c.Intent = "日本語の長い説明文がここに入ります\x1b[2J " + strings.Repeat("全角", 20)
		}
		if f, ok := v.Findings[c.ID]; ok && f.Gist != nil {
			gist := *f.Gist
			gist.Lead = "とても長いファイル名.ts"
			gist.Points = append([]retake.Point{}, gist.Points...)
			for k := range gist.Points {
				gist.Points[k].Text += " \u202e" + strings.Repeat("長", 9)
			}
			f.Gist = &gist
			v.Findings[c.ID] = f
		}
	}
	for _, width := range []int{72, 80, 100, 120, 140, 160, 200, 300} {
		for _, color := range []bool{false, true} {
			out := cli.RenderView(cli.NewLook(width, now, false, color), v)
			for line := range strings.SplitSeq(uncolored(out), "\n") {
				if termtext.Width(line) > width {
					t.Errorf("%d columns of %d: %s", termtext.Width(line), width, line)
				}
				if strings.ContainsAny(line, "\x1b\u202e") {
					t.Errorf("not escaped: %q", line)
				}
			}
		}
	}
}

func small(parents ...int64) (view.Input, *stage) {
	v := &view.Input{Tree: true}
	v.Timeline = retake.Timeline{Workspace: retake.Workspace{Name: "ws", Root: "/srv/ws", Created: at(9, 0)}, Total: int64(len(parents)), Findings: map[retake.CheckpointID]retake.Finding{}}
	s := &stage{View: v}
	for i, p := range parents {
		n := int64(len(parents) - i)
		s.Checkpoint(n, at(9, int(n)), p, buildManual(fmt.Sprintf("m%d", n)))
	}
	v.Newest = int64(len(parents))
	return *v, s
}

func lines(v view.Input) []string {
	out := strings.Split(strings.TrimSuffix(cli.RenderView(cli.NewLook(80, now, false, false), v), "\n"), "\n")
	return out[3:] // without the head
}

// Nobody asked whether anything works: there is no column for it, and no word.
func TestTimelineWithoutVerifications(t *testing.T) {
	t.Parallel()
	v, _ := small(1, 0)
	out := cli.RenderView(cli.NewLook(80, now, false, false), v)
	if strings.Contains(out, "verify") || strings.Contains(out, "good") {
		t.Fatalf("got\n%s", out)
	}
	same(t, strings.Join(lines(v), "\n")+"\n",
		`●    2  09:02  m2                                                  –`,
		`○    1  09:01  m1                                                  –`,
	)
}

func TestTimelineSaysThatNothingIsGoodYet(t *testing.T) {
	t.Parallel()
	v, s := small(1, 0)
	s.Of("cp_2").Answer("typecheck", retake.CouldNotRun)
	v.Findings = s.View.Findings
	out := cli.RenderView(cli.NewLook(80, now, false, true), v)
	if !strings.Contains(out, "\x1b[2mno good yet\x1b[0m\x1b[2m · protected since 09:00") {
		t.Fatalf("got\n%s", out)
	}
	same(t, strings.Join(lines(v), "\n")+"\n",
		`●    2  09:02  m2                                  ? typecheck     –`,
		`○    1  09:01  m1                                  –               –`,
	)
}

func TestVerifyColumn(t *testing.T) {
	t.Parallel()
	type answers = []retake.Answer
	for want, as := range map[string]answers{
		"✔ test       –":     {{Name: "test", Verdict: retake.Passed}},
		"✘ test       –":     {{Name: "lint", Verdict: retake.Passed}, {Name: "test", Verdict: retake.Failed}},
		"✘ lint +1     –":    {{Name: "lint", Verdict: retake.Failed}, {Name: "test", Verdict: retake.Failed}},
		"? test       –":     {{Name: "test", Verdict: retake.CouldNotRun}},
		"≈ test       –":     {{Name: "test", Verdict: retake.RanOnOther}},
		"◌ test       –":     {{Name: "test", Verdict: retake.Running}, {Name: "lint", Verdict: retake.Passed}},
		"✔ like 14     –":    {{Name: "test", Verdict: retake.Passed, As: 14}, {Name: "lint", Verdict: retake.Passed, As: 14}},
		"“✔” test     –":     {{Name: "test", Verdict: retake.Passed, Claim: true}},
		"✔ lint       –":     {{Name: "test", Verdict: retake.Failed, Claim: true}, {Name: "lint", Verdict: retake.Passed}},
		"✔ a\\x1bb     –":    {{Name: "a\x1bb", Verdict: retake.Passed}},
		"✔ integrati…     –": {{Name: "integration tests", Verdict: retake.Passed}},
	} {
		v, s := small(1, 0)
		s.View.Findings["cp_2"] = retake.Finding{Answers: as}
		v.Findings = s.View.Findings
		if got := lines(v)[0]; !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q at its end", got, want)
		}
	}
}

// What an agent says has no color of its own.
func TestClaimsAreNotGreen(t *testing.T) {
	t.Parallel()
	v, s := small(1, 0)
	s.View.Findings["cp_2"] = retake.Finding{Answers: []retake.Answer{{Name: "test", Verdict: retake.Passed, Claim: true}}}
	v.Findings = s.View.Findings
	if out := cli.RenderView(cli.NewLook(80, now, false, true), v); strings.Contains(out, "\x1b[32m") {
		t.Fatalf("green: %q", out)
	}
}

func TestManyForksAreCounted(t *testing.T) {
	t.Parallel()
	v, _ := small(1, 0)
	for i := range 4 {
		f := fork(fmt.Sprintf("f%d", i), 2, at(10, i), "codex", retake.Passed, 1, "a.ts")
		f.Origin.Checkpoint, f.Finding.Answers = "cp_1", nil
		v.Forks = append(v.Forks, f)
	}
	same(t, strings.Join(lines(v), "\n")+"\n",
		`●       2  09:02  m2                                               –`,
		`│ ┊               +2 forks`,
		`│ ○        10:03  fork f3, 2 checkpoints                           1  a.ts`,
		`│ │ ○      10:02  fork f2, 2 checkpoints                           1  a.ts`,
		`○─┴─╯   1  09:01  m1                                               –`,
	)
}

// A checkpoint that was forgotten does not make a line that was left.
func TestForgottenParentsMakeNoLine(t *testing.T) {
	t.Parallel()
	v, _ := small(3, 2, 1, 0)
	v.Checkpoints = append(v.Checkpoints[:1], v.Checkpoints[2:]...)
	for _, line := range lines(v) {
		if strings.HasPrefix(line, "│ ") || strings.HasPrefix(line, "  ") {
			t.Fatalf("got\n%s", strings.Join(lines(v), "\n"))
		}
	}
}

// Without the checkpoints in between nothing is drawn, and what is known to be left says so.
func TestChosenCheckpointsHaveNoTree(t *testing.T) {
	t.Parallel()
	v, s := small(1, 1, 0)
	s.View.Checkpoints[0].Trigger, s.View.Checkpoints[0].Return = retake.TriggerReturn, &retake.Return{Course: retake.CourseRestore, Target: "cp_1", Before: "cp_2"}
	v.Tree = false
	if got := lines(v)[1]; got != `○    2  09:02  m2                                                  –  replaced` {
		t.Errorf("got %q", got)
	}
	v.Tree = true
	if got := lines(v)[1]; !strings.HasPrefix(got, "│ ○   2  09:02  m2 ") || strings.Contains(got, "replaced") {
		t.Errorf("got %q", got)
	}
}

// A reason and what matters of a change go on in a second line, and are cut after it.
func TestHeavyCheckpointsHaveRoom(t *testing.T) {
	t.Parallel()
	v, s := small(1, 0)
	s.Of("cp_1").Gist("deleted 30", 40, point(retake.ThemeDeleted, "deleted 30 in public/avatars/"), point(retake.ThemeSettings, ".env −COOKIE +SESSION_KEY"),
		point(retake.ThemeSettings, "config.json session.sameSite lax → strict"), src("src/app.ts", 3, 1)).
		Flag("says docs, changed config.json and .env −COOKIE +SESSION_KEY and a good deal more of the settings than fits into one line or into two")
	v.Timeline = s.View.Timeline
	same(t, strings.Join(lines(v)[1:], "\n")+"\n",
		`○    1  09:01  m1                                                 40`,
		`               mismatch  says docs, changed config.json and`,
		`                         .env −COOKIE +SESSION_KEY and a good deal more of the …`,
		`               deleted 30 in public/avatars/`,
		`               config.json session.sameSite lax → strict · src/app.ts +3 −1`,
	)
}
