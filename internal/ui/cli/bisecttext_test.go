package cli_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// shopLine is the line to 22: 15 to 18 were left behind.
func shopLine() []retake.Checkpoint {
	contents := map[int64]string{10: "b", 11: "c", 12: "c", 13: "d", 14: "e", 19: "e", 20: "e", 21: "f", 22: "g"}
	var line []retake.Checkpoint
	for _, n := range []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 19, 20, 21, 22} {
		cp := retake.Checkpoint{Number: n, Content: "a", Time: at(9, 41).Add(time.Duration(n) * time.Minute), Trigger: retake.TriggerTurn}
		if c := contents[n]; c != "" {
			cp.Content = retake.ContentID(c)
		}
		switch n {
		case 20:
			cp.Time, cp.Intent = at(11, 2), "compare sqlite and redis"
		case 21:
			cp.Time, cp.Trigger, cp.Intent = at(11, 24), retake.TriggerManual, "adopted fork sqlite-store"
		}
		line = append(line, cp)
	}
	return line
}

func shopAnswer(n int64) retake.Verification {
	switch n {
	case 1, 14:
		return retake.Verification{Name: "e2e:login", Verdict: retake.Passed, Took: 38 * time.Second}
	case 13:
		return retake.Verification{Name: "e2e:login", Verdict: retake.CouldNotRun, Exit: 127, Why: "e2e:login: not found", Took: 3 * time.Second}
	}
	return retake.Verification{
		Name: "e2e:login", Verdict: retake.Failed, Exit: 1, Took: 41 * time.Second,
		Output: strings.Repeat("ok\n", 7) + "login > returns to the page you came from\n  expected url /cart, got \x1b[31m/login\n",
	}
}

func shopStory() *retake.Story {
	return &retake.Story{
		Counts: retake.StoryCounts{Added: 2, Edited: 10},
		Groups: []retake.Group{
			{Theme: retake.ThemeSettings, Files: 1, Items: []retake.Item{{Path: "config/session.json", What: retake.Edited, Files: 1, Plus: 1, Minus: 1}}},
			{Theme: retake.ThemeDatabase, Files: 1, Items: []retake.Item{{Path: "data/dev.db", What: retake.Edited, Files: 1}}},
			{Theme: retake.ThemeSource, Files: 10, Items: []retake.Item{{Path: "src/session.ts", What: retake.Edited, Files: 1, Plus: 88, Minus: 31}}},
		},
		Facts: []retake.Fact{
			{Kind: retake.FactSetting, What: retake.Edited, Name: "sameSite", Before: `"lax"`, After: `"strict"`, Path: "config/session.json"},
			{Kind: retake.FactTable, What: retake.Added, Name: "sessions", Path: "data/dev.db"},
		},
	}
}

// A line that is wider than the terminal takes more than one row of it: what is drawn again
// must go back over all of them.
func TestBisectGoesBackOverWhatItDrew(t *testing.T) {
	t.Parallel()
	l := cli.NewLook(10, now, false, true)
	for text, want := range map[string]int{
		"": 1, "one\n": 1, "one\n\ntwo\n": 3, "0123456789\n": 1, "0123456789a\n": 2, "\x1b[2m0123456789\x1b[0m\n": 1, strings.Repeat("x", 31) + "\ny\n": 5,
	} {
		if got := cli.RowsOn(l, text); got != want {
			t.Errorf("%q takes %d rows, want %d", text, got, want)
		}
	}
	running, _ := cli.Bisection(cli.NewLook(60, now, false, false), shopLine(), nil, shopAnswer, shopStory(), 5)
	for line := range strings.SplitSeq(running, "\n") {
		if termtext.Width(line) > 60 {
			t.Errorf("%d columns: %s", termtext.Width(line), line)
		}
	}
}

func TestBisectScreens80(t *testing.T) {
	t.Parallel()
	running, result := cli.Bisection(cli.NewLook(80, now, false, false), shopLine(), nil, shopAnswer, shopStory(), 5)
	same(t, running,
		`18 checkpoints on this line hold 7 different trees. None has a stored result`,
		`yet.`,
		`At most 5 runs, each in a fork that is thrown away. Your files are not touched.`,
		``,
		`  1–9 ─── 10 ─── 11–12 ─── 13 ─── 14,19,20 ─── 21 ─── 22`,
		`   ✔      ·        ·       ?         ✔         ◌      ✘`,
		``,
		`  run 1   22   ✘ fails, exit 1    41 s`,
		`  run 2    1   ✔ passes           38 s   2–9 have the same files`,
		`  run 3   13   ? could not run   3.0 s   e2e:login: not found`,
		`  run 4   14   ✔ passes           38 s   19 and 20 have the same files`,
		`  run 5   21   ◌ running          17 s   about 13 s left`,
		``,
		`ctrl-c stops; results so far are kept`,
	)
	same(t, result,
		`✘ 21 is the first checkpoint at which this fails   e2e:login, 5 runs, 2 min 41 s`,
		``,
		`  1–9 ─── 10 ─── 11–12 ─── 13 ─── 14,19,20 ─── 21 ─── 22`,
		`   ✔      ·        ·       ?         ✔         ✘      ✘`,
		``,
		`  ✔  20  11:02  “compare sqlite and redis”     the last one that passes`,
		`  ✘  21  11:24  adopted fork sqlite-store      22 min and 12 files later`,
		``,
		`What really changed from 20 to 21`,
		``,
		`  settings   1  config/session.json  sameSite  "lax" → "strict"`,
		`  database   1  data/dev.db          +table sessions`,
		`  source    10  src/session.ts       +88 −31  and 9 more`,
		``,
		`The end of the failing run  1 line before it`,
		``,
		`  ok`, `  ok`, `  ok`, `  ok`, `  ok`, `  ok`,
		`  login > returns to the page you came from`,
		`    expected url /cart, got \x1b[31m/login`,
	)
}

func TestBisectScreensWideAndPlain(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 200} {
		for _, ascii := range []bool{false, true} {
			running, result := cli.Bisection(cli.NewLook(width, now, ascii, false), shopLine(), nil, shopAnswer, shopStory(), 3)
			for line := range strings.SplitSeq(running+result, "\n") {
				if termtext.Width(line) > width {
					t.Errorf("%d columns, ascii %v: too wide: %s", width, ascii, line)
				}
				if strings.ContainsFunc(line, func(r rune) bool { return ascii && r > 126 }) {
					t.Errorf("not ASCII: %s", line)
				}
			}
		}
	}
	_, result := cli.Bisection(cli.NewLook(200, now, true, false), shopLine(), nil, shopAnswer, nil, 0)
	const want = "  1-9 --- 10 --- 11-12 --- 13 --- 14,19,20 --- 21 --- 22\n  ok      .        .       ?         ok        NO     NO\n"
	if !strings.Contains(result, want) {
		t.Errorf("missing %q in\n%s", want, result)
	}
}

// A thousand checkpoints fit on a screen: neighbours that say the same are one.
func TestBisectFoldsManyPoints(t *testing.T) {
	t.Parallel()
	var line []retake.Checkpoint
	for n := int64(1); n <= 1000; n++ {
		line = append(line, retake.Checkpoint{Number: n, Content: retake.ContentID(rune(n)), Time: at(9, 0), Trigger: retake.TriggerManual})
	}
	runs := 0
	ask := func(n int64) retake.Verification {
		if runs++; n >= 700 {
			return retake.Verification{Name: "test", Verdict: retake.Failed, Exit: 1}
		}
		return retake.Verification{Name: "test", Verdict: retake.Passed}
	}
	_, result := cli.Bisection(cli.NewLook(80, now, false, false), line, nil, ask, nil, 0)
	if runs > 12 || !strings.HasPrefix(result, "✘ 700 is the first checkpoint at which this fails") {
		t.Fatalf("%d runs:\n%s", runs, result)
	}
	for row := range strings.SplitSeq(result, "\n") {
		if termtext.Width(row) > 80 {
			t.Errorf("too wide: %s", row)
		}
	}
	if n := strings.Count(result, "\n"); n > 16 {
		t.Errorf("%d rows:\n%s", n, result)
	}
}

func TestBisectStoredAnswersNeedNoRun(t *testing.T) {
	t.Parallel()
	var stored []retake.Verification
	for _, cp := range shopLine() {
		v := shopAnswer(1)
		if cp.Number >= 21 {
			v = shopAnswer(22)
		}
		v.Content, v.Number = cp.Content, cp.Number
		stored = append(stored, v)
	}
	ask := func(n int64) retake.Verification {
		t.Errorf("ran at %d", n)
		return retake.Verification{Verdict: retake.CouldNotRun}
	}
	_, result := cli.Bisection(cli.NewLook(80, now, false, false), shopLine(), stored, ask, nil, 0)
	if !strings.HasPrefix(result, "✘ 21 is the first checkpoint at which this fails              e2e:login, no runs\n") {
		t.Fatalf("got\n%s", result)
	}
	// A claim is no answer, and neither is what ran at another path.
	for i := range stored {
		stored[i].Claim = i%2 == 0
		if i%2 == 1 {
			stored[i].Where = retake.Elsewhere
		}
	}
	asked := 0
	ask = func(n int64) retake.Verification { asked++; return shopAnswer(n) }
	cli.Bisection(cli.NewLook(80, now, false, false), shopLine(), stored, ask, nil, 0)
	if asked != 5 {
		t.Fatalf("%d runs", asked)
	}
}

func TestBisectWithoutABorder(t *testing.T) {
	t.Parallel()
	l := cli.NewLook(80, now, false, false)
	line := []retake.Checkpoint{{Number: 1, Content: "a", Time: at(9, 0), Intent: "one"}, {Number: 2, Content: "b", Time: at(9, 5), Intent: "two"}}
	_, passes := cli.Bisection(l, line, nil, func(int64) retake.Verification {
		return retake.Verification{Name: "test", Verdict: retake.Passed, Took: time.Second}
	}, nil, 0)
	same(t, passes,
		`✔ It passes at the newest checkpoint                          test, 1 run, 1.0 s`,
		``,
		`  1 ─── 2`,
		`  ·     ✔`,
		``,
		`  run 1    2   ✔ passes          1.0 s`,
		``,
		`  ✔  2  09:05  two               the last one that passes`,
	)
	_, fails := cli.Bisection(l, line, nil, func(int64) retake.Verification {
		return retake.Verification{Name: "test", Verdict: retake.Failed, Exit: 2, Took: time.Second}
	}, nil, 0)
	if !strings.HasPrefix(fails, "? It fails already at the first ") {
		t.Errorf("got\n%s", fails)
	}
	_, none := cli.Bisection(l, line, nil, func(int64) retake.Verification {
		return retake.Verification{Name: "test", Verdict: retake.CouldNotRun, Why: "no\x1bnpm", Took: time.Second}
	}, nil, 0)
	if !strings.HasPrefix(none, "? Nothing could be run ") || !strings.Contains(none, `no\x1bnpm`) {
		t.Errorf("got\n%s", none)
	}
}

func TestTheWayToACheckpoint(t *testing.T) {
	t.Parallel()
	cps := []retake.Checkpoint{ // newest first; 3 and 4 were left behind by going back to 2
		{ID: "cp_6", Number: 6, Parent: "cp_5"},
		{ID: "cp_5", Number: 5, Parent: "cp_2", Trigger: retake.TriggerReturn},
		{ID: "cp_4", Number: 4, Parent: "cp_3"},
		{ID: "cp_3", Number: 3, Parent: "cp_2"},
		{ID: "cp_2", Number: 2, Parent: "cp_1", Coverage: retake.Cover([]retake.Gap{{Path: "x", Reason: retake.ReasonBudget}})},
		{ID: "cp_1", Number: 1},
	}
	numbers := func(way []retake.Checkpoint) (out []int64) {
		for _, cp := range way {
			out = append(out, cp.Number)
		}
		return out
	}
	for name, tt := range map[string]struct {
		drop string
		want []int64
	}{
		"whole":               {"", []int64{1, 5, 6}}, // 2 holds not all
		"without a parent":    {"cp_5", []int64{1, 3, 4, 6}},
		"without the target":  {"cp_2", []int64{1, 5, 6}},
		"without the newest":  {"cp_6", []int64{1, 5}},
		"without what is old": {"cp_1", []int64{5, 6}},
	} {
		var left []retake.Checkpoint
		for _, cp := range cps {
			if string(cp.ID) != tt.drop {
				left = append(left, cp)
			}
		}
		if got := numbers(cli.WayTo(left[0], left[1:])); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	fork := retake.Checkpoint{ID: "cp_9", Number: 1, Parent: "cp_5", Trigger: retake.TriggerFork}
	if got := cli.WayTo(fork, nil); len(got) != 1 {
		t.Errorf("a fork goes back to %v", numbers(got))
	}
}

// A line has the facts of its own file, and the hint names no file by guess.
func TestBisectTellsFactsByFile(t *testing.T) {
	t.Parallel()
	st := &retake.Story{
		Counts: retake.StoryCounts{Edited: 5},
		Groups: []retake.Group{
			{Theme: retake.ThemeSettings, Files: 3, Items: []retake.Item{
				{Path: "a.toml", What: retake.Edited, Files: 1, Plus: 2}, {Path: ".env", What: retake.Edited, Files: 1}, {Path: "config.json", What: retake.Edited, Files: 1},
			}},
			{Theme: retake.ThemeSource, Files: 2, Items: []retake.Item{{Path: "src/", What: retake.Edited, Files: 2}}},
		},
		Facts: []retake.Fact{
			{Kind: retake.FactEnv, What: retake.Deleted, Name: "COOKIE_SECRET", Path: ".env"},
			{Kind: retake.FactSetting, What: retake.Edited, Name: "login.sameSite", Before: "lax", After: "strict", Path: "config.json"},
		},
	}
	_, result := cli.Bisection(cli.NewLook(80, now, false, false), shopLine(), nil, shopAnswer, st, 5)
	want := strings.Join([]string{
		`  settings   3  .env         −COOKIE_SECRET`,
		`                config.json  login.sameSite  lax → strict`,
		`                a.toml       +2`,
		`  source     2  src/`,
	}, "\n") + "\n\n"
	if !strings.Contains(result, want) {
		t.Errorf("no\n%s\nin\n%s", want, result)
	}
	if got := cli.Suspect(st); got != ".env" {
		t.Errorf("suspect is %q", got)
	}
	st.Facts = nil
	if got := cli.Suspect(st); got != "" {
		t.Errorf("of five files, the suspect is %q", got)
	}
}
