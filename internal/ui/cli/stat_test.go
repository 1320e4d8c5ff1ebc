package cli_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// installChanges are the paths of installed, since two checkpoints before.
func installChanges() []retake.Change {
	var out []retake.Change
	put := func(what retake.Difference, path string, size int64) {
		c := retake.Change{Path: path, What: what}
		if what != retake.Added {
			c.Before = entry(size)
		}
		if what != retake.Deleted {
			c.After = entry(size)
		}
		out = append(out, c)
	}
	for _, p := range many(412, "dist/%03d.js") {
		put(retake.Deleted, p, 14_806)
	}
	for _, p := range many(783, "node_modules/%03d.js") {
		put(retake.Added, p, 12_005)
	}
	put(retake.Added, "src/session.ts", 900)
	for _, p := range []string{"src/auth.ts", "src/routes/login.ts", "src/app.ts", "test/auth.test.ts", "package.json", "package-lock.json", ".env", "data/dev.db"} {
		put(retake.Edited, p, 100)
	}
	return out
}

func TestStatSaysWhatChangesMean(t *testing.T) {
	t.Parallel()
	st := installed()
	all := scene().Checkpoints
	d := retake.Comparison{From: &all[11], To: &all[9], Changes: installChanges()}
	counts := map[string][2]int64{
		"src/session.ts": {64, 0}, "src/auth.ts": {18, 31}, "src/routes/login.ts": {9, 14}, "src/app.ts": {6, 1}, "test/auth.test.ts": {4, 4},
		"package.json": {3, 0}, "package-lock.json": {214, 0}, ".env": {1, 0},
	}
	known := [2][]retake.Answer{{{Name: "test", Verdict: retake.Passed}}, {{Name: "lint", Verdict: retake.Passed}, {Name: "test", Verdict: retake.Failed}}}
	same(t, cli.RenderStat(cli.NewLook(80, now, false, false), d, counts, &st, known),
		`from  11  10:11  before “refactor auth to sessions”                       ✔ test`,
		`to    13  10:18  after “install the session store”                        ✘ test`,
		``,
		`deleted  412 files`,
		`  dist/                                    −6.1 MB   412 files, build output`,
		``,
		`added  784 files`,
		`  src/session.ts                      +64            ━━━━━━━━━━━━━━━━`,
		`  node_modules/                   +9.4 MB            783 files, 12 npm packages`,
		``,
		`edited  8 files`,
		`  src/auth.ts                         +18      −31   ━━━━━━━━━━━`,
		`  src/routes/login.ts                  +9      −14   ━━━━━`,
		`  test/auth.test.ts                    +4       −4   ━━`,
		`  src/app.ts                           +6       −1   ━━`,
		`  package.json                         +3            ━`,
		`  .env                                 +1            SESSION_KEY`,
		`  data/dev.db                                        table sessions, 0 rows`,
		`  package-lock.json                  +214            lock file, not in the sum`,
		``,
		`1,204 files  412 deleted  784 added  8 edited   ·   +104 −50 lines to read`,
	)
	// Without a story the counts stand as they are.
	if got := cli.RenderStat(cli.NewLook(80, now, false, false), d, counts, nil, [2][]retake.Answer{}); strings.Contains(got, "lock file") || strings.Contains(got, "to read") || !strings.Contains(got, "+214") {
		t.Errorf("got\n%s", got)
	}
}

func standing() retake.Status {
	s := scene()
	cp := s.Checkpoints[0]
	return retake.Status{
		Workspace: s.Workspace, Latest: &cp, Count: 22, Now: retake.Counts{Edited: 2}, Tracking: retake.Tracking{Mode: retake.TrackingInotify}, Protection: "same-user",
		Store: retake.StoreState{Bytes: 412e6, Free: 212e9, Floor: 10e9}, Good: &cp, Answers: s.Findings[cp.ID].Answers,
		Drill: &retake.Drill{At: at(8, 30), Number: 22, Verdict: retake.Passed},
	}
}

func TestStatusTellsWhatIsGood(t *testing.T) {
	t.Parallel()
	same(t, cli.RenderStatus(cli.NewLook(80, now, false, false), standing()),
		`shopfront  ~/code/shopfront`,
		``,
		`  ● protected   since 09:41 · 22 checkpoints`,
		`    latest      22  11:31  “remember me for 30 days”  11 min ago`,
		`  ✔ last good   22  11:31  “remember me for 30 days”     test, lint`,
		`                proven restorable 3 h ago, in a fork`,
		`    unsaved     2 files changed since 22 · edited 2`,
		`  ✔ saved       complete · no files, 0 B`,
		``,
		`  ✔ tracking    inotify`,
		`  ! isolation   same user: a program that runs as you could delete the history.`,
		`                Keep a copy elsewhere: retake help remote`,
		`  ✔ store       412 MB · disk 212 GB free, minimum 10 GB`,
	)
}

func TestStatusTellsWhatIsNot(t *testing.T) {
	t.Parallel()
	st := standing()
	worse := scene().Checkpoints[9]
	st.Latest, st.Answers = &worse, scene().Findings[worse.ID].Answers
	st.Drill.Verdict, st.Drill.Why = retake.Failed, "test, exit 1"
	has := func(ascii bool, want ...string) {
		t.Helper()
		got := cli.RenderStatus(cli.NewLook(80, now, ascii, false), st)
		if !strings.Contains(got, strings.Join(want, "\n")+"\n") {
			t.Errorf("no\n%s\nin\n%s", strings.Join(want, "\n"), got)
		}
	}
	has(false,
		`  ✔ last good   22  11:31  “remember me for 30 days”`,
		`                22 restored into a fork 3 h ago did not pass: test, exit 1`,
		`  ✘ checks      13 fails test · passes lint`)
	st.Drill.Verdict, st.Drill.Why = retake.CouldNotRun, "the disk is full"
	has(false, `                22 could not be proven restorable 3 h ago: the disk is full`)
	st.Good = nil
	has(false, `  ! last good   none: no checkpoint has passed its checks`, `  ✘ checks      13 fails test · passes lint`)
	has(true, `  !  last good   none: no checkpoint has passed its checks`, `  NO checks      13 fails test - passes lint`)
	st.Answers = []retake.Answer{{Name: "test", Verdict: retake.Passed, As: 11}, {Name: "lint", Verdict: retake.Failed, Bisect: true}}
	has(false, `  ✘ checks      13 fails bisect lint · passes test (same files as 11)`)
	st.Answers = nil // nobody asked
	if got := cli.RenderStatus(cli.NewLook(80, now, false, true), standing()); !strings.Contains(got, "  \x1b[32m✔\x1b[0m last good   22") {
		t.Errorf("got\n%s", got)
	}
	if got := cli.RenderStatus(cli.NewLook(80, now, false, false), st); strings.Contains(got, "good") {
		t.Errorf("got\n%s", got)
	}
}

func TestStatusLineTellsWhatIsGood(t *testing.T) {
	t.Parallel()
	all := scene()
	line := func(width int, newest, good int64, as []retake.Answer, change ...func(*retake.Timeline)) string {
		tl := retake.Timeline{Workspace: all.Workspace, Findings: map[retake.CheckpointID]retake.Finding{id(newest): {Answers: as, Good: newest == good}}}
		for i, c := range all.Checkpoints {
			if c.Number == newest {
				tl.Checkpoints = []retake.Checkpoint{c}
			}
			if c.Number == good {
				tl.Good = &all.Checkpoints[i]
			}
		}
		for _, f := range change {
			f(&tl)
		}
		return cli.RenderStatusLine(cli.NewLook(width, now, false, false), tl, true)
	}
	failed := []retake.Answer{{Name: "lint", Verdict: retake.Passed}, {Name: "test", Verdict: retake.Failed}}
	running := []retake.Answer{{Name: "test", Verdict: retake.Running}}
	cut := func(tl *retake.Timeline) { tl.Workspace.Interrupted = &retake.Interruption{Done: 612, Total: 1181} }
	for want, got := range map[string]string{
		"◆ 22 · good 10:27 · protected":           line(80, 22, 14, nil),
		"◆ 22 · good · protected":                 line(80, 22, 22, []retake.Answer{{Name: "test", Verdict: retake.Passed}}),
		"◆ 13 · good 10:11 · ✘ test · protected":  line(80, 13, 11, failed),
		"◆ 13 · good 10:11 · ◌ test · protected":  line(80, 13, 11, running),
		"◆ 13 · no good yet · ✘ test · protected": line(80, 13, 0, failed),
		"◆ 12 · no good yet · protected":          line(80, 12, 0, nil),
		"◆ 17 · good 10:27 · partial · protected": line(80, 17, 14, nil),
		"! restore interrupted at 612 of 1,181":   line(80, 22, 22, nil, cut),
		"◆ 22 · good 11:24":                       line(24, 22, 21, nil),
		"◆ 22":                                    line(10, 22, 21, nil),
		"◆ 13 · good 10:11 · ✘ test":              line(30, 13, 11, failed),
		// What an agent says is no news.
		"◆ 13 · good 10:11 · protected": line(80, 13, 11, []retake.Answer{{Name: "test", Verdict: retake.Failed, Claim: true}}),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
