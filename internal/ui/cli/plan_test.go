package cli_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/cli"
)

var ascii = func() string {
	var b strings.Builder
	for c := ' '; c <= '~'; c++ {
		b.WriteRune(c)
	}
	return b.String()
}()

func TestPlan80(t *testing.T) {
	t.Parallel()
	same(t, cli.RenderPlan(cli.NewLook(80, now, false, false), story()),
		`Restore 14  10:27  working version, app healthy                   plan 3f9a-c21e`,
		`1,181 files would change. Nothing has been changed yet.`,
		``,
		`DELETE      1,132   1,118  node_modules/     cluster-key-slot/, 10 more`,
		`                        8  src/redis/        r0.ts, r1.ts, r2.ts, r3.ts, 4 more`,
		`                        6  test/redis/ 3, .nvmrc, config/redis.json,`,
		`                           docker-compose.yml`,
		`BRING BACK     30      28  public/avatars/   00.png, 01.png, 02.png, 25 more`,
		`                        2  docs/             faq.md, img/`,
		`CHANGE         19      11  src/              app.ts, auth.ts, part0.ts, 8 more`,
		`                        8  .env, .github/workflows/ci.yml, +6 more, --list`,
		`LEAVE AS IS     3          .git/             HEAD c81f02e, was 4d90ab1 (--git)`,
		`                           logs/, .cache/    always moving`,
		``,
		`CONFIRM     mass-delete    1,132 deletions, the limit is 1,000`,
		`            database       data/dev.db is open in node, pid 48213`,
		`            changed        web/login.html: your edit of 10:51 is not saved yet`,
		`EXTERNAL    e1  10:36      git push origin auth-sessions, 3 commi…  already done`,
		`            e2  10:44      mail to qa@shopfront.test  already done`,
		``,
		`First your files are saved as checkpoint 18; retake undo brings them back.`,
	)
}

func TestPlan200(t *testing.T) {
	t.Parallel()
	same(t, cli.RenderPlan(cli.NewLook(200, now, false, false), story()),
		`Restore 14  10:27  working version, app healthy                                                                                                                                           plan 3f9a-c21e`,
		`1,181 files would change. Nothing has been changed yet.`,
		``,
		`DELETE      1,132   1,118  node_modules/       cluster-key-slot/, connect-redis/, denque/, ioredis/, 7 more          │  CONFIRM     mass-delete    1,132 deletions, the limit is 1,000`,
		`                        8  src/redis/          r0.ts, r1.ts, r2.ts, r3.ts, r4.ts, r5.ts, r6.ts, r7.ts                │              database       data/dev.db is open in node, pid 48213`,
		`                        3  test/redis/         t0.ts, t1.ts, t2.ts                                                   │              changed        web/login.html: your edit of 10:51 is not saved yet`,
		`                        1  .nvmrc              1.2 kB                                                                │`,
		`                        1  config/redis.json   1.2 kB                                                                │  EXTERNAL    e1  10:36      git push origin auth-sessions, 3 commi…  already done`,
		`                        1  docker-compose.yml  1.2 kB                                                                │              e2  10:44      mail to qa@shopfront.test  already done`,
		`                                                                                                                     │`,
		`BRING BACK     30      28  public/avatars/     00.png, 01.png, 02.png, 03.png, 04.png, 05.png, 06.png, 21 more       │  AFTERWARDS  18             everything you have now`,
		`                        1  docs/faq.md         3.4 kB                                                                │              19             this restore`,
		`                        1  docs/img/login.png  3.4 kB                                                                │              retake undo    from 19 to 18 again`,
		`                                                                                                                     │`,
		`CHANGE         19      11  src/              app.ts, auth.ts, part0.ts, part1.ts, part2.ts, part3.ts, 5 more         │`,
		`                        1  .env              1.2 kB → 3.4 kB                                                         │`,
		`                        7  .github/workflows/ci.yml, config/session.json, data/dev.db, +4 more, --list               │`,
		`                                                                                                                     │`,
		`LEAVE AS IS     3          .git/             HEAD c81f02e, was 4d90ab1 (--git)                                       │`,
		`                           logs/, .cache/    always moving                                                           │`,
		``,
	)
}

// undo takes one item back of a file that both changed, and of one where they
// changed the same lines.
func undo() *retake.Plan {
	item := retake.Checkpoint{ID: "cp_22", Number: 22, Time: at(11, 31), Trigger: retake.TriggerManual, Intent: "remember me for 30 days"}
	merge := steps(retake.Edited, "web/login.html")
	merge[0].Merge = &retake.Merge{Theirs: 2, Yours: 1, First: 41}
	return &retake.Plan{
		Digest: "0123456789", Course: retake.CourseUndo, Target: &item,
		Writes: steps(retake.Edited, "src/auth.ts", "src/session.ts", "test/auth.test.ts"), Merges: merge,
		Keeps: []retake.Keep{
			{Path: "README.md", Why: retake.KeepChanged}, {Path: "data/dev.db", Why: retake.KeepVolatile},
			{Path: "docs/a.md", Why: retake.KeepConflict, Side: "docs/a.md.undo-22"},
		},
		Safety: retake.Safety{Number: 23, There: true},
	}
}

func TestUndoPlan(t *testing.T) {
	t.Parallel()
	same(t, cli.RenderPlan(cli.NewLook(80, now, false, false), undo()),
		`Undo 22  11:31  “remember me for 30 days”  11 min ago             plan 0123-4567`,
		`4 files would change. Nothing has been changed yet.`,
		``,
		`CHANGE BACK     3   src/auth.ts       1.2 kB → 3.4 kB`,
		`                    src/session.ts    1.2 kB → 3.4 kB`,
		`                    test/auth.test.ts  1.2 kB → 3.4 kB`,
		`MERGE           1   web/login.html    its 2 places go, yours at line 41 stays`,
		`CONFLICT        1   docs/a.md         stays yours; the other: a.md.undo-22`,
		`LEAVE AS IS     2   README.md         changed since, so yours stays`,
		`                    data/dev.db       always moving`,
		``,
		`Checkpoint 23 has everything you have now; retake redo brings it back.`,
	)
	if got, want := cli.LastQuestion(undo()), "Undo 22 now: change back 3, merge 1, put 1 beside?"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := cli.LastQuestion(story()), "Restore 14 now: delete 1,132, bring back 30, change 19?"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	l := cli.NewLook(80, now, false, false)
	p := story()
	res := retake.RestoreResult{
		ReadBack:   true,
		Checkpoint: retake.Checkpoint{ID: "cp_19", Number: 19, Content: "x"}, Safety: retake.Checkpoint{ID: "cp_18", Number: 18, Content: "y"},
		Target: retake.Checkpoint{ID: "cp_14", Number: 14, Content: "x"}, Written: 49, Deleted: 1132, Kept: 3,
		Holders: []retake.Holder{{PID: 48213, Command: "node", Path: "data/dev.db"}},
	}
	same(t, cli.RenderResult(l, p, res, 1800*time.Millisecond),
		`✔ Restored 14  10:27  working version, app healthy                         1.8 s`,
		``,
		`  deleted 1,132 · brought back 30 · changed 19 · left as is 3`,
		`  every byte read back`,
		`  before      checkpoint 18, everything you had`,
		`  now         checkpoint 19, same files as 14`,
		`  running     node 48213 still has the old data/dev.db open: restart it`,
		`  external    e1 git push origin auth-sessions, 3 commits  can't be undone`,
		`  external    e2 mail to qa@shopfront.test  can't be undone`,
	)
	res.Checkpoint.Content = "z"
	res.Failed = []retake.Failure{{Path: ".nvmrc", Why: "changed since the plan"}, {Path: "docs/\x1bfaq.md", Why: "busy"}, {Path: "src/app.ts", Why: "busy"}}
	p.Effects = nil
	same(t, cli.RenderResult(l, p, res, 1800*time.Millisecond),
		`! Restored 14  10:27  working version, app healthy                         1.8 s`,
		``,
		`  deleted 1,131 · brought back 30 · changed 18 · left as is 3`,
		`  every byte read back`,
		`  before      checkpoint 18, everything you had`,
		`  now         checkpoint 19`,
		`  running     node 48213 still has the old data/dev.db open: restart it`,
		`  left        .nvmrc  changed since the plan`,
		`  left        docs/\x1bfaq.md  busy`,
		`  left        src/app.ts  busy`,
	)
	same(t, cli.RenderResult(l, undo(), retake.RestoreResult{
		ReadBack:   true,
		Checkpoint: retake.Checkpoint{ID: "cp_24", Number: 24, Content: "z"}, Safety: retake.Checkpoint{ID: "cp_23", Number: 23, Content: "y"},
		Target: retake.Checkpoint{ID: "cp_22", Number: 22, Content: "y"}, Written: 3, Merged: 1, Kept: 2,
	}, 200*time.Millisecond),
		`✔ Undone 22  11:31  “remember me for 30 days”  11 min ago                  0.2 s`,
		``,
		`  changed back 3 · merged 1 · put beside 1 · left as is 2   every byte read back`,
		`  before      checkpoint 23, everything you had`,
		`  now         checkpoint 24`,
		`  beside      docs/a.md.undo-22  the other version of docs/a.md`,
	)
}

func TestInterruption(t *testing.T) {
	t.Parallel()
	same(t, cli.RenderInterrupted(cli.NewLook(80, now, false, false), &retake.Interruption{
		Course: retake.CourseRestore, Target: 14, Safety: 18, Done: 612, Total: 1181, Since: at(11, 39),
	}),
		`! The restore to checkpoint 14 was interrupted 3 min ago, after 612 of 1,181 files.`,
		`  Nothing is lost: checkpoint 18 has everything from before.`,
		`  Finish it:     retake restore --finish`,
		`  Roll it back:  retake restore --undo`,
		`  Retake still saves new checkpoints.`,
		``,
	)
}

// Whatever the size, a question still fits below the plan on 24 lines.
func TestPlanFits(t *testing.T) {
	t.Parallel()
	flat := func(n int) *retake.Plan {
		return &retake.Plan{
			Digest: "0123456789", Target: story().Target, Deletes: steps(retake.Deleted, many(n, "d%06d")...),
			Writes: append(steps(retake.Added, many(n, "b/%06d/x")...), steps(retake.Edited, many(n, "c/%06d")...)...),
		}
	}
	worst := flat(33_000)
	worst.Merges, worst.Obstacles, worst.Effects, worst.Keeps = undo().Merges, everyObstacle(), manyEffects(40), everyKeep()
	for name, p := range map[string]*retake.Plan{
		"none": {Target: story().Target}, "ten": flat(3), "hundred thousand": flat(33_333), "worst": worst, "story": story(), "undo": undo(),
	} {
		for _, width := range []int{80, 119, 120, 160, 200} {
			got := cli.RenderPlan(cli.NewLook(width, now, false, false), p)
			if n := strings.Count(got, "\n"); n > 22 {
				t.Errorf("%s has %d lines at %d:\n%s", name, n, width, got)
			}
			for line := range strings.SplitSeq(got, "\n") {
				if termtext.Width(line) > width {
					t.Errorf("%s has %d columns at %d: %s", name, termtext.Width(line), width, line)
				}
			}
			for _, o := range p.Obstacles {
				if !strings.Contains(got, o.Class) {
					t.Errorf("%s does not ask about %s at %d:\n%s", name, o.Class, width, got)
				}
			}
		}
	}
}

func everyObstacle() []retake.Obstacle {
	var out []retake.Obstacle
	for _, class := range []string{
		retake.ObstacleUncaptured, retake.ObstacleChanged, retake.ObstaclePartial, retake.ObstacleHeld, retake.ObstacleMassDelete,
		retake.ObstacleSpace, retake.ObstacleNames, retake.ObstacleSetuid, retake.ObstacleDatabase,
	} {
		out = append(out, retake.Obstacle{Class: class, Text: class + " in a text that is long enough for more than one line of a terminal of any usual width, and longer", Paths: []string{"a", "b"}})
	}
	return out
}

func manyEffects(n int) []retake.Effect {
	var out []retake.Effect
	for i := range n {
		out = append(out, retake.Effect{ID: fmt.Sprint("e", i), Time: at(10, 0), Text: strings.Repeat("push ", 40)})
	}
	return out
}

func everyKeep() []retake.Keep {
	var out []retake.Keep
	for _, why := range []retake.KeepReason{
		retake.KeepGit, retake.KeepVolatile, retake.KeepChanged, retake.KeepConflict, retake.KeepUncaptured, retake.KeepUnheld, retake.KeepOccupied, retake.KeepOverlap,
	} {
		for i := range 3 {
			out = append(out, retake.Keep{Path: fmt.Sprintf("%s/%d/", strings.Repeat("long", 20), i), Why: why, Detail: strings.Repeat("detail ", 20), Side: "side"})
		}
	}
	return out
}

// Without colors and without signs a plan says the same in the same columns.
func TestPlanNeedsNoColors(t *testing.T) {
	t.Parallel()
	codes := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, width := range []int{80, 160} {
		for _, p := range []*retake.Plan{story(), undo()} {
			plain := cli.RenderPlan(cli.NewLook(width, now, false, false), p)
			colored := cli.RenderPlan(cli.NewLook(width, now, false, true), p)
			if colored == plain || trimLines(codes.ReplaceAllString(colored, "")) != trimLines(plain) {
				t.Fatalf("got\n%s\nwant\n%s", colored, plain)
			}
			fancy := strings.Split(plain, "\n")
			for i, line := range strings.Split(cli.RenderPlan(cli.NewLook(width, now, true, false), p), "\n") {
				if strings.Trim(line, ascii) != "" || termtext.Width(line) != termtext.Width(fancy[i]) {
					t.Fatalf("got %q, want %q", line, fancy[i])
				}
			}
		}
	}
}

// What is not shown is counted: the numbers of a section add up.
func TestPlanCountsWhatItFolds(t *testing.T) {
	t.Parallel()
	p := &retake.Plan{Target: story().Target, Deletes: steps(retake.Deleted, append(many(5000, "f%04d"), many(40, "d/%02d")...)...)}
	got := cli.RenderPlan(cli.NewLook(80, now, false, false), p)
	for _, want := range []string{"DELETE      5,040", "40  d/", " more, --list"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	list := cli.RenderPlanList(cli.NewLook(80, now, false, false), p)
	if n := strings.Count(list, "\n"); n < 5040 || strings.Contains(list, "more") {
		t.Fatalf("%d lines", n)
	}
}

func TestPlanShowsNothingToObey(t *testing.T) {
	t.Parallel()
	evil := "x\x1b[2J\n"
	p := &retake.Plan{
		Target: &retake.Checkpoint{Intent: evil}, Paths: []string{evil}, Deletes: steps(retake.Deleted, evil), Writes: steps(retake.Edited, evil+"/a", evil+"/b"),
		Keeps:     []retake.Keep{{Path: evil, Why: retake.KeepGit, Detail: evil}, {Path: evil, Why: retake.KeepConflict, Side: evil}, {Path: evil, Why: "new\x1b"}},
		Obstacles: []retake.Obstacle{{Class: "new\x1b", Text: evil, Paths: []string{evil}}}, Effects: []retake.Effect{{ID: evil, Text: evil}},
	}
	res := retake.RestoreResult{Failed: []retake.Failure{{Path: evil, Why: evil}}, Holders: []retake.Holder{{Command: evil, Path: evil}}}
	l := cli.NewLook(80, now, false, false)
	yes, silence := cli.Refusals(l, p)
	for _, got := range []string{
		cli.RenderPlan(l, p), cli.RenderPlan(cli.NewLook(200, now, false, false), p), cli.RenderPlanList(l, p), cli.RenderResult(l, p, res, 0),
		yes, silence, cli.LastQuestion(p),
	} {
		if strings.Contains(got, "\x1b") {
			t.Errorf("got %q", got)
		}
	}
}
