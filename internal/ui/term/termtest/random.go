package termtest

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/view"
)

// hostile are texts that a workspace may hold.
var hostile = []string{"fix the login", "a\x1b[31mb", "line\nbreak", "right\u202eleft", `back\slash\n`, "日本語 テスト", "“quoted”", "<b>&amp;", ""}

// RandomTimeline makes a timeline with restores, adoptions, forks, quiet runs, effects, pins,
// flags and hostile names. The same seed makes the same timeline.
func RandomTimeline(seed uint64) view.Input {
	r := rand.New(rand.NewPCG(seed, 7))
	n := int64(1 + r.IntN(40))
	in := view.Input{Tree: true, Newest: n, Titles: view.Titles{}}
	in.Workspace, in.Total = retake.Workspace{ID: "ws_shop", Name: "shop", Created: At(9, 0)}, n
	in.Findings = map[retake.CheckpointID]retake.Finding{}
	s := &TimelineBuilder{View: &in}
	for i := n; i > 0; i-- {
		b := s.Checkpoint(i, At(9, 0).Add(time.Duration(i)*time.Minute), i-1, func(c *retake.Checkpoint) { randomCheckpoint(r, c) })
		randomFinding(r, b)
		if r.IntN(12) == 0 {
			in.Pins = append(in.Pins, retake.Pin{Name: fmt.Sprint(pick(r, hostile), i), Checkpoint: b.ID(), Number: i, Time: At(9, 0)})
		}
		if r.IntN(10) == 0 {
			f := Fork(fmt.Sprint("f", i, pick(r, hostile)), 1+r.Int64N(4), At(10, int(i)), "codex", retake.Passed, r.Int64N(3), "a")
			f.ID, f.Origin.Checkpoint, f.Origin.Number = retake.WorkspaceID(fmt.Sprint("ws_f", i)), b.ID(), i
			in.Forks = append(in.Forks, f)
		}
	}
	adopt(r, &in)
	return in
}

func pick[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

var triggers = []retake.Trigger{
	retake.TriggerManual, retake.TriggerTurn, retake.TriggerTurn, retake.TriggerTask, retake.TriggerCall, retake.TriggerPrompt, retake.TriggerRisk,
	retake.TriggerQuiet, retake.TriggerQuiet, retake.TriggerQuiet, retake.TriggerSafety, retake.TriggerComplete, retake.TriggerReturn, retake.TriggerSession,
}

func randomCheckpoint(r *rand.Rand, c *retake.Checkpoint) {
	if c.Number == 1 {
		c.Trigger, c.Files = retake.TriggerInit, r.Int64N(5000)
		return
	}
	c.Trigger = pick(r, triggers)
	c.Changed = retake.Counts{Added: r.Int64N(3), Deleted: r.Int64N(40) / 38, Edited: r.Int64N(3)}
	if c.Trigger != retake.TriggerQuiet && r.IntN(2) == 0 {
		c.Intent = pick(r, hostile)
	}
	switch c.Trigger {
	case retake.TriggerTask:
		c.Intent = "task 1 of 2" + pick(r, []string{" completed: ", " failed: "}) + pick(r, hostile)
	case retake.TriggerReturn:
		to := ID(1 + r.Int64N(c.Number-1))
		c.Return = &retake.Return{Course: pick(r, []retake.Course{retake.CourseRestore, retake.CourseUndo, retake.CourseRedo}), Target: to, Before: c.Parent}
		if c.Return.Course == retake.CourseRestore {
			c.Parent = to
		}
		if r.IntN(4) == 0 {
			c.Return.Paths = []string{"a", "b"}
		}
		if r.IntN(6) == 0 {
			c.Return.Hunks = make([]retake.Hunk, 2)
		}
	default:
	}
	randomTurn(r, c)
	if r.IntN(9) == 0 {
		c.Effects = []retake.Effect{{ID: fmt.Sprint("e", c.Number), Text: pick(r, hostile), Time: c.Time, Agent: "codex"}}
	}
	if r.IntN(14) == 0 {
		c.Coverage = retake.Cover([]retake.Gap{{Path: "db/" + pick(r, hostile), Reason: pick(r, []retake.Reason{retake.ReasonTorn, retake.ReasonUnreadable})}})
	}
}

func randomTurn(r *rand.Rand, c *retake.Checkpoint) {
	switch c.Trigger {
	case retake.TriggerTurn, retake.TriggerTask, retake.TriggerCall, retake.TriggerPrompt, retake.TriggerRisk, retake.TriggerSession:
	default:
		return
	}
	t := &retake.Turn{Agent: pick(r, []string{"claude-code", "codex", "gemini-cli"}), Session: "5b1e77", ID: fmt.Sprint("t", c.Number/3)}
	if c.Trigger == retake.TriggerRisk {
		t.Risk = "deletes " + pick(r, hostile)
	}
	switch r.IntN(16) {
	case 0:
		t.Contested = []string{"codex 0f3a", "codex 11aa"}[:1+r.IntN(2)]
	case 1:
		t.Running = 1 + r.IntN(2)
	case 2:
		t.Subagents = []retake.Subagent{{Name: "Explore"}, {Task: pick(r, hostile)}}
	case 3:
		t.Failed = "cut off"
	case 4:
		t.Late = 3 * time.Second
	}
	c.Turn = t
}

var themes = []retake.Theme{retake.ThemeSource, retake.ThemeDeleted, retake.ThemePackages, retake.ThemeSettings, retake.ThemeMoving}

func randomFinding(r *rand.Rand, b *CheckpointBuilder) {
	if r.IntN(3) == 0 {
		files := r.Int64N(5)
		b.Change(func(f *retake.Finding) {
			f.Gist = &retake.Gist{V: 1, Lead: pick(r, hostile), Counts: retake.StoryCounts{Edited: files}, Points: []retake.Point{Point(pick(r, themes), "src/"+pick(r, hostile))}, Moving: r.IntN(5) == 0}
		})
		if r.IntN(6) == 0 {
			b.Flag("says docs, changed " + pick(r, hostile))
		}
	}
	if r.IntN(4) == 0 {
		b.Answer("test", pick(r, []retake.Verdict{retake.Passed, retake.Failed, retake.CouldNotRun, retake.Running}))
	}
	if r.IntN(8) == 0 {
		b.Good("lint")
	}
}

// adopt lets a later checkpoint take in one of the forks.
func adopt(r *rand.Rand, in *view.Input) {
	if len(in.Forks) == 0 || r.IntN(2) == 0 {
		return
	}
	f := &in.Forks[r.IntN(len(in.Forks))]
	for i := range in.Checkpoints {
		if c := &in.Checkpoints[i]; c.Number > f.Origin.Number && c.Trigger == retake.TriggerManual {
			c.Trigger, c.Intent, c.Return = retake.TriggerReturn, "", &retake.Return{Course: retake.CourseAdopt, Target: f.Latest.ID, Before: c.Parent}
			f.Adopted, in.Titles[f.Latest.ID] = []retake.CheckpointID{c.ID}, f.Name
			return
		}
	}
}
