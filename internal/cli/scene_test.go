package cli_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/cli"
)

// scene is a morning with everything a timeline can show: a line that was left, two forks,
// effects, flags, answers of every kind, and quiet moments.
func scene() cli.View {
	v := cli.View{Newest: 22, Tree: true}
	v.Timeline = retake.Timeline{
		Workspace: retake.Workspace{ID: "ws_shop", Name: "shopfront", Root: "/home/ann/code/shopfront", Created: at(9, 41)},
		Total:     22, Findings: map[retake.CheckpointID]retake.Finding{},
	}
	s := &stage{v: &v}
	s.moment(22, at(11, 31), 21, claude("“", "remember me for 30 days")).gist("auth.ts", 4, src("src/auth.ts", 31, 4), src("src/session.ts", 14, 3), src("2 more", 0, 0)).good("test", "lint")
	s.moment(21, at(11, 24), 20, func(c *retake.Checkpoint) {
		c.Trigger, c.Return = retake.TriggerReturn, &retake.Return{Course: retake.CourseAdopt, Target: "cp_sqlite"}
	}).gist("session.ts", 12, src("src/session.ts", 88, 31), point(retake.ThemeSettings, "config sameSite"), src("10 more", 0, 0)).good("test", "lint")
	s.moment(20, at(11, 2), 19, claude("“", "compare sqlite and redis")).as(14, "test", "lint")
	s.moment(19, at(10, 52), 14, func(c *retake.Checkpoint) {
		c.Trigger, c.Return = retake.TriggerReturn, &retake.Return{Course: retake.CourseRestore, Target: "cp_14", Before: "cp_18"}
		c.Changed = retake.Counts{Deleted: 1132, Added: 30, Edited: 19}
	}).as(14, "test", "lint")
	s.moment(18, at(10, 52), 17, func(c *retake.Checkpoint) { c.Trigger = retake.TriggerSafety }).gist("login.html", 1, src("web/login.html", 2, 2))
	s.moment(17, at(10, 46), 16, claude("“", "move sessions to redis"), func(c *retake.Checkpoint) {
		c.Coverage = retake.Cover([]retake.Gap{{Path: "data/dev.db", Reason: retake.ReasonTorn}})
		c.Effects = []retake.Effect{{ID: "e2", Time: at(10, 44), Text: "mail to qa@shopfront.test", Target: "api.mailer.test", Agent: "claude-code"}}
	}).gist("deleted 28", 1165, point(retake.ThemeDeleted, "deleted 28 in public/avatars/"), point(retake.ThemePackages, "npm +9 packages")).answer("test", retake.Failed)
	s.moment(16, at(10, 41), 15, claude("“", "tidy the imports"), func(c *retake.Checkpoint) {
		c.Turn.Contested = []string{"codex 0f3a"}
		c.Effects = []retake.Effect{{ID: "e1", Time: at(10, 36), Text: "git push origin auth-sessions", Target: "origin", Agent: "claude-code"}}
	}).gist("src/", 14, src("11 in src/", 40, 12), src(".nvmrc", 1, 1))
	s.moment(15, at(10, 34), 14, claude("“", "update the login docs")).gist("deleted 2", 6, point(retake.ThemeDeleted, "deleted 2 in docs/"), point(retake.ThemeSettings, ".env −COOKIE_SECRET")).
		flag("says docs, changed settings and .env −COOKIE_SECRET").answer("test", retake.Failed)
	s.moment(14, at(10, 27), 13, manual("working version, app healthy")).gist("auth.ts", 3, src("src/auth.ts", 41, 12), src("2 more", 0, 0)).good("test", "lint")
	s.moment(13, at(10, 18), 12, claude("", "install the session store")).gist("npm +12", 1204,
		point(retake.ThemeDeleted, "deleted 412 in dist/"), point(retake.ThemePackages, "npm +12 packages"), point(retake.ThemeSettings, ".env +SESSION_KEY")).
		answer("test", retake.Failed).answer("lint", retake.Passed)
	s.moment(12, at(10, 14), 11, func(c *retake.Checkpoint) {
		c.Trigger, c.Intent = retake.TriggerRisk, "before `rm -rf dist node_modules`"
		c.Turn = &retake.Turn{Agent: "claude-code", Session: "5b1e", Risk: "deletes dist and node_modules"}
	})
	s.moment(11, at(10, 11), 10, func(c *retake.Checkpoint) {
		c.Trigger, c.Intent = retake.TriggerPrompt, "before “refactor auth to sessions”"
		c.Turn = &retake.Turn{Agent: "claude-code", Session: "5b1e", ID: "t1"}
	}).gist("README.md", 2, src("README.md", 2, 1), src(".editorconfig", 1, 0)).good("test", "lint")
	s.moment(10, at(10, 2), 9, manual("clean clone, built")).gist("dist/", 412, point(retake.ThemeBuild, "dist/ +412")).answer("test", retake.Passed).mark()
	for n := int64(9); n > 1; n-- {
		s.moment(n, at(9, 42+2*int(n)-2), n-1, func(c *retake.Checkpoint) { c.Trigger, c.Changed = retake.TriggerCall, retake.Counts{Edited: 1} }).gist("dev.db", 1, point(retake.ThemeMoving, "data/dev.db")).moving()
	}
	s.moment(1, at(9, 41), 0, func(c *retake.Checkpoint) { c.Trigger, c.Files = retake.TriggerInit, 38012 }).answer("test", retake.Passed).mark()
	v.Good = &v.Checkpoints[0]
	v.Forks = []cli.ForkLine{
		fork("sqlite-store", 3, at(11, 19), "claude-code", retake.Passed, 12, "session.ts", "cp_21"),
		fork("redis-store", 4, at(11, 22), "codex", retake.Failed, 1131, "npm +9"),
	}
	v.Goals = map[retake.CheckpointID]string{"cp_sqlite": "sqlite-store"}
	v.Now = &retake.Counts{Edited: 2}
	v.Level = "same-user"
	return v
}

type stage struct{ v *cli.View }

// told is what is said of the moment that was added last.
type told struct {
	s *stage
	c retake.CheckpointID
}

func id(n int64) retake.CheckpointID {
	if n == 0 {
		return ""
	}
	return retake.CheckpointID(fmt.Sprintf("cp_%d", n))
}

func (s *stage) moment(n int64, when time.Time, parent int64, how ...func(*retake.Checkpoint)) *told {
	c := retake.Checkpoint{ID: id(n), Workspace: "ws_shop", Number: n, Parent: id(parent), Time: when, Coverage: retake.Coverage{Grade: retake.Complete}}
	for _, f := range how {
		f(&c)
	}
	s.v.Checkpoints = append(s.v.Checkpoints, c)
	return &told{s, c.ID}
}

func (t *told) change(f func(*retake.Finding)) *told {
	found := t.s.v.Findings[t.c]
	f(&found)
	t.s.v.Findings[t.c] = found
	return t
}

func (t *told) gist(lead string, files int64, points ...retake.Point) *told {
	last := &t.s.v.Checkpoints[len(t.s.v.Checkpoints)-1]
	if last.Changed.Total() == 0 {
		last.Changed.Edited = files
	}
	return t.change(func(f *retake.Finding) {
		f.Gist = &retake.Gist{V: 1, Lead: lead, Points: points, Counts: retake.StoryCounts{Edited: files}}
	})
}

func (t *told) moving() *told { return t.change(func(f *retake.Finding) { f.Gist.Moving = true }) }
func (t *told) mark() *told   { return t.change(func(f *retake.Finding) { f.Good = true }) }

func (t *told) flag(why string) *told {
	return t.change(func(f *retake.Finding) {
		f.Gist.Flags = append(f.Gist.Flags, retake.Flag{Kind: "mismatch", Why: why})
	})
}

func (t *told) answer(name string, v retake.Verdict) *told {
	return t.change(func(f *retake.Finding) { f.Answers = append(f.Answers, retake.Answer{Name: name, Verdict: v}) })
}

func (t *told) good(names ...string) *told {
	for _, n := range names {
		t.answer(n, retake.Passed)
	}
	return t.mark()
}

func (t *told) as(number int64, names ...string) *told {
	return t.change(func(f *retake.Finding) {
		for _, n := range names {
			f.Answers = append(f.Answers, retake.Answer{Name: n, Verdict: retake.Passed, As: number})
		}
		f.Good = true
	})
}

func claude(quoted, prompt string) func(*retake.Checkpoint) {
	return func(c *retake.Checkpoint) {
		c.Trigger, c.Intent = retake.TriggerTurn, prompt
		if quoted == "" {
			c.Trigger, c.Intent = retake.TriggerTask, "task 2 of 5 completed: "+prompt
		}
		c.Turn = &retake.Turn{Agent: "claude-code", Session: "5b1e77", ID: "t" + prompt, Prompt: prompt}
	}
}

func manual(intent string) func(*retake.Checkpoint) {
	return func(c *retake.Checkpoint) { c.Trigger, c.Intent = retake.TriggerManual, intent }
}

func point(theme retake.Theme, text string) retake.Point {
	return retake.Point{Theme: theme, Text: text}
}

func src(text string, plus, minus int64) retake.Point {
	return retake.Point{Theme: retake.ThemeSource, Text: text, Plus: plus, Minus: minus}
}

func fork(name string, count int64, when time.Time, agent string, v retake.Verdict, files int64, lead string, adopted ...retake.CheckpointID) cli.ForkLine {
	c := retake.Checkpoint{ID: retake.CheckpointID("cp_" + name), Time: when, Changed: retake.Counts{Edited: files}, Turn: &retake.Turn{Agent: agent}, Trigger: retake.TriggerTurn}
	return cli.ForkLine{
		State: retake.WorkspaceState{
			Workspace: retake.Workspace{ID: retake.WorkspaceID("ws_" + name), Name: name, Origin: &retake.Origin{Workspace: "ws_shop", Checkpoint: "cp_20", Number: 20}},
			Latest:    &c, Count: count,
		},
		Finding: retake.Finding{
			Gist: &retake.Gist{Lead: lead, Counts: retake.StoryCounts{Edited: files}, Points: []retake.Point{{Theme: retake.ThemeSource, Text: lead}}},
			Good: v == retake.Passed, Answers: []retake.Answer{{Name: "test", Verdict: v}, {Name: "lint", Verdict: retake.Passed}},
		},
		Adopted: adopted,
	}
}

// uncolored takes our colors away.
func uncolored(s string) string {
	for _, code := range []string{"0", "1", "2", "31", "32", "33", "35", "36"} {
		s = strings.ReplaceAll(s, "\x1b["+code+"m", "")
	}
	return s
}
