// Package termtest is the morning that pictures are tested with: one story for all faces
// of a terminal. It holds data and touches nothing.
package termtest

import (
	"fmt"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/view"
)

// Now is when somebody looks at it.
var Now = time.Date(2026, 11, 3, 11, 42, 0, 0, time.UTC)

// At is a time of that day.
func At(hour, minute int) time.Time { return time.Date(2026, 11, 3, hour, minute, 0, 0, time.UTC) }

// SampleTimeline is a morning with everything a timeline can show: a line that was left, two forks,
// effects, flags, answers of every kind, and quiet checkpoints.
func SampleTimeline() view.Input {
	v := view.Input{Newest: 22, Tree: true}
	v.Timeline = retake.Timeline{
		Workspace: retake.Workspace{ID: "ws_shop", Name: "shopfront", Root: "/home/ann/code/shopfront", Created: At(9, 41)},
		Total:     22, Findings: map[retake.CheckpointID]retake.Finding{},
	}
	s := &TimelineBuilder{View: &v}
	s.Checkpoint(22, At(11, 31), 21, Claude("“", "remember me for 30 days")).Gist("auth.ts", 4, Src("src/auth.ts", 31, 4), Src("src/session.ts", 14, 3), Src("2 more", 0, 0)).Good("test", "lint")
	s.Checkpoint(21, At(11, 24), 20, func(c *retake.Checkpoint) {
		c.Trigger, c.Return = retake.TriggerReturn, &retake.Return{Course: retake.CourseAdopt, Target: "cp_sqlite"}
	}).Gist("session.ts", 12, Src("src/session.ts", 88, 31), Point(retake.ThemeSettings, "config sameSite"), Src("10 more", 0, 0)).Good("test", "lint")
	s.Checkpoint(20, At(11, 2), 19, Claude("“", "compare sqlite and redis")).As(14, "test", "lint")
	s.Checkpoint(19, At(10, 52), 14, func(c *retake.Checkpoint) {
		c.Trigger, c.Return = retake.TriggerReturn, &retake.Return{Course: retake.CourseRestore, Target: "cp_14", Before: "cp_18"}
		c.Changed = retake.Counts{Deleted: 1132, Added: 30, Edited: 19}
	}).As(14, "test", "lint")
	s.Checkpoint(18, At(10, 52), 17, func(c *retake.Checkpoint) { c.Trigger = retake.TriggerSafety }).Gist("login.html", 1, Src("web/login.html", 2, 2))
	s.Checkpoint(17, At(10, 46), 16, Claude("“", "move sessions to redis"), func(c *retake.Checkpoint) {
		c.Coverage = retake.Cover([]retake.Gap{{Path: "data/dev.db", Reason: retake.ReasonTorn}})
		c.Effects = []retake.Effect{{ID: "e2", Time: At(10, 44), Text: "mail to qa@shopfront.test", Target: "api.mailer.test", Agent: "claude-code"}}
	}).Gist("deleted 28", 1165, Point(retake.ThemeDeleted, "deleted 28 in public/avatars/"), Point(retake.ThemePackages, "npm +9 packages")).Answer("test", retake.Failed)
	s.Checkpoint(16, At(10, 41), 15, Claude("“", "tidy the imports"), func(c *retake.Checkpoint) {
		c.Turn.Contested = []string{"codex 0f3a"}
		c.Effects = []retake.Effect{{ID: "e1", Time: At(10, 36), Text: "git push origin auth-sessions", Target: "origin", Agent: "claude-code"}}
	}).Gist("src/", 14, Src("11 in src/", 40, 12), Src(".nvmrc", 1, 1))
	s.Checkpoint(15, At(10, 34), 14, Claude("“", "update the login docs")).Gist("deleted 2", 6, Point(retake.ThemeDeleted, "deleted 2 in docs/"), Point(retake.ThemeSettings, ".env −COOKIE_SECRET")).
		Flag("says docs, changed settings and .env −COOKIE_SECRET").Answer("test", retake.Failed)
	s.Checkpoint(14, At(10, 27), 13, Manual("working version, app healthy")).Gist("auth.ts", 3, Src("src/auth.ts", 41, 12), Src("2 more", 0, 0)).Good("test", "lint")
	s.Checkpoint(13, At(10, 18), 12, Claude("", "install the session store")).Gist("npm +12", 1204,
		Point(retake.ThemeDeleted, "deleted 412 in dist/"), Point(retake.ThemePackages, "npm +12 packages"), Point(retake.ThemeSettings, ".env +SESSION_KEY")).
		Answer("test", retake.Failed).Answer("lint", retake.Passed)
	s.Checkpoint(12, At(10, 14), 11, func(c *retake.Checkpoint) {
		c.Trigger, c.Intent = retake.TriggerRisk, "before `rm -rf dist node_modules`"
		c.Turn = &retake.Turn{Agent: "claude-code", Session: "5b1e", Risk: "deletes dist and node_modules"}
	})
	s.Checkpoint(11, At(10, 11), 10, func(c *retake.Checkpoint) {
		c.Trigger, c.Intent = retake.TriggerPrompt, "before “refactor auth to sessions”"
		c.Turn = &retake.Turn{Agent: "claude-code", Session: "5b1e", ID: "t1"}
	}).Gist("README.md", 2, Src("README.md", 2, 1), Src(".editorconfig", 1, 0)).Good("test", "lint")
	s.Checkpoint(10, At(10, 2), 9, Manual("clean clone, built")).Gist("dist/", 412, Point(retake.ThemeBuild, "dist/ +412")).Answer("test", retake.Passed).Mark()
	for n := int64(9); n > 1; n-- {
		s.Checkpoint(n, At(9, 42+2*int(n)-2), n-1, func(c *retake.Checkpoint) { c.Trigger, c.Changed = retake.TriggerCall, retake.Counts{Edited: 1} }).Gist("dev.db", 1, Point(retake.ThemeMoving, "data/dev.db")).Moving()
	}
	s.Checkpoint(1, At(9, 41), 0, func(c *retake.Checkpoint) { c.Trigger, c.Files = retake.TriggerInit, 38012 }).Answer("test", retake.Passed).Mark()
	v.Good = &v.Checkpoints[0]
	v.Forks = []view.Fork{
		Fork("sqlite-store", 3, At(11, 19), "claude-code", retake.Passed, 12, "session.ts", "cp_21"),
		Fork("redis-store", 4, At(11, 22), "codex", retake.Failed, 1131, "npm +9"),
	}
	v.Titles = map[retake.CheckpointID]string{"cp_sqlite": "sqlite-store"}
	v.Now = &retake.Counts{Edited: 2}
	v.Level = "same-user"
	return v
}

// TimelineBuilder is a timeline in the making.
type TimelineBuilder struct{ View *view.Input }

// CheckpointBuilder is what is said of the checkpoint that was added last.
type CheckpointBuilder struct {
	s *TimelineBuilder
	c retake.CheckpointID
}

// ID is the id of a checkpoint by its number.
func ID(n int64) retake.CheckpointID {
	if n == 0 {
		return ""
	}
	return retake.CheckpointID(fmt.Sprintf("cp_%d", n))
}

// Checkpoint adds one.
func (s *TimelineBuilder) Checkpoint(n int64, when time.Time, parent int64, how ...func(*retake.Checkpoint)) *CheckpointBuilder {
	c := retake.Checkpoint{ID: ID(n), Workspace: "ws_shop", Number: n, Parent: ID(parent), Time: when, Coverage: retake.Coverage{Grade: retake.Complete}}
	for _, f := range how {
		f(&c)
	}
	s.View.Checkpoints = append(s.View.Checkpoints, c)
	return &CheckpointBuilder{s, c.ID}
}

// ID is the checkpoint that is spoken of.
func (t *CheckpointBuilder) ID() retake.CheckpointID { return t.c }

// Of is what is said of a checkpoint.
func (s *TimelineBuilder) Of(id retake.CheckpointID) *CheckpointBuilder {
	return &CheckpointBuilder{s, id}
}

// Change changes what was found out.
func (t *CheckpointBuilder) Change(f func(*retake.Finding)) *CheckpointBuilder {
	found := t.s.View.Findings[t.c]
	f(&found)
	t.s.View.Findings[t.c] = found
	return t
}

// Gist says what really changed.
func (t *CheckpointBuilder) Gist(lead string, files int64, points ...retake.Point) *CheckpointBuilder {
	last := &t.s.View.Checkpoints[len(t.s.View.Checkpoints)-1]
	if last.Changed.Total() == 0 {
		last.Changed.Edited = files
	}
	return t.Change(func(f *retake.Finding) {
		f.Gist = &retake.Gist{V: 1, Lead: lead, Points: points, Counts: retake.StoryCounts{Edited: files}}
	})
}

// Moving says that only such files changed that always move.
func (t *CheckpointBuilder) Moving() *CheckpointBuilder {
	return t.Change(func(f *retake.Finding) { f.Gist.Moving = true })
}

// Mark says that the checkpoint is good.
func (t *CheckpointBuilder) Mark() *CheckpointBuilder {
	return t.Change(func(f *retake.Finding) { f.Good = true })
}

// Flag says that words and facts disagree.
func (t *CheckpointBuilder) Flag(why string) *CheckpointBuilder {
	return t.Change(func(f *retake.Finding) {
		f.Gist.Flags = append(f.Gist.Flags, retake.Flag{Kind: "mismatch", Why: why})
	})
}

// Answer is that of a verification.
func (t *CheckpointBuilder) Answer(name string, v retake.Verdict) *CheckpointBuilder {
	return t.Change(func(f *retake.Finding) { f.Answers = append(f.Answers, retake.Answer{Name: name, Verdict: v}) })
}

// Good says that all of some verifications passed.
func (t *CheckpointBuilder) Good(names ...string) *CheckpointBuilder {
	for _, n := range names {
		t.Answer(n, retake.Passed)
	}
	return t.Mark()
}

// As says that they passed for another checkpoint with the same files.
func (t *CheckpointBuilder) As(number int64, names ...string) *CheckpointBuilder {
	return t.Change(func(f *retake.Finding) {
		for _, n := range names {
			f.Answers = append(f.Answers, retake.Answer{Name: n, Verdict: retake.Passed, As: number})
		}
		f.Good = true
	})
}

// Claude says that a turn of an agent ended; without a quote, that a task did.
func Claude(quoted, prompt string) func(*retake.Checkpoint) {
	return func(c *retake.Checkpoint) {
		c.Trigger, c.Intent = retake.TriggerTurn, prompt
		if quoted == "" {
			c.Trigger, c.Intent = retake.TriggerTask, "task 2 of 5 completed: "+prompt
		}
		c.Turn = &retake.Turn{Agent: "claude-code", Session: "5b1e77", ID: "t" + prompt, Prompt: prompt}
	}
}

// Manual says that somebody saved.
func Manual(intent string) func(*retake.Checkpoint) {
	return func(c *retake.Checkpoint) { c.Trigger, c.Intent = retake.TriggerManual, intent }
}

// Point is one fact of a gist.
func Point(theme retake.Theme, text string) retake.Point {
	return retake.Point{Theme: theme, Text: text}
}

// Src is a point about lines of source.
func Src(text string, plus, minus int64) retake.Point {
	return retake.Point{Theme: retake.ThemeSource, Text: text, Plus: plus, Minus: minus}
}

// Fork is a fork of checkpoint 20.
func Fork(name string, count int64, when time.Time, agent string, v retake.Verdict, files int64, lead string, adopted ...retake.CheckpointID) view.Fork {
	c := retake.Checkpoint{ID: retake.CheckpointID("cp_" + name), Time: when, Changed: retake.Counts{Edited: files}, Turn: &retake.Turn{Agent: agent}, Trigger: retake.TriggerTurn}
	return view.Fork{
		WorkspaceState: retake.WorkspaceState{
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
