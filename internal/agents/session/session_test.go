package session_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
)

var epoch = time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)

// play lets signals follow each other, a second apart.
type play struct {
	t     *testing.T
	st    session.State
	now   time.Time
	n     int
	habit retake.Habits
}

func begin(t *testing.T) *play { return &play{t: t, now: epoch} }

func (p *play) tell(kind retake.SignalKind, edit func(*retake.Signal)) session.Act {
	p.t.Helper()
	p.n++
	p.now = p.now.Add(time.Second)
	sig := retake.Signal{ID: id(p.n), Kind: kind, Time: p.now, Agent: "claude-code", Session: "s1", Dir: "/w"}
	if edit != nil {
		edit(&sig)
	}
	var act session.Act
	p.st, act = session.Next(p.st, sig, "", p.habit, nil)
	again, none := session.Next(p.st, sig, "", p.habit, nil)
	if none.Save != nil || none.Note != act.Note || len(none.Effects) > 0 {
		p.t.Errorf("the same signal again asks for %+v", none)
	}
	if d := cmp.Diff(p.st, again); d != "" {
		p.t.Errorf("the same signal again changes the state:\n%s", d)
	}
	return act
}

func id(n int) retake.SignalID {
	return retake.SignalID(fmt.Sprintf("%s00000000-0000-7000-8000-%012d", retake.SignalPrefix, n))
}

func said(text string) func(*retake.Signal) { return func(s *retake.Signal) { s.Prompt = text } }

func shell(command string) func(*retake.Signal) {
	return func(s *retake.Signal) {
		s.Call = &retake.Call{ID: "c1", Tool: "Bash", Kind: retake.CallShell, Command: command}
	}
}

func wantSave(t *testing.T, a session.Act, trigger retake.Trigger, intent string) *session.Save {
	t.Helper()
	if a.Save == nil {
		t.Fatalf("no checkpoint is asked for, want %s", trigger)
	}
	if a.Save.Trigger != trigger || a.Save.Intent != intent {
		t.Errorf("the checkpoint is %s %q, want %s %q", a.Save.Trigger, a.Save.Intent, trigger, intent)
	}
	return a.Save
}

func TestTurnHasACheckpointBeforeAndOneAfter(t *testing.T) {
	t.Parallel()
	p := begin(t)
	if a := p.tell(retake.SignalSessionStart, nil); a.Save != nil {
		t.Errorf("the start of a session asks for %+v", a.Save)
	}
	before := wantSave(t, p.tell(retake.SignalPrompt, said("fix the login\nand the logout")), retake.TriggerPrompt, "before “fix the login …”")
	if !before.Wait || !before.IfChanged {
		t.Errorf("the agent must wait for what was there before, and only a change makes it a checkpoint: %+v", before)
	}
	end := p.tell(retake.SignalTurnEnd, func(s *retake.Signal) { s.Running = 2 })
	after := wantSave(t, end, retake.TriggerTurn, "fix the login …")
	if !after.Wait || after.IfChanged || !end.KeepTranscript {
		t.Errorf("a turn with a prompt is a checkpoint, the agent waits for it, and what was said is kept: %+v", after)
	}
	if after.Turn.Running != 2 || after.Turn.Prompt != "fix the login\nand the logout" {
		t.Errorf("the checkpoint says %+v", after.Turn)
	}
}

func TestTurnThatWasNeverEndedIsACheckpointAtTheNextPrompt(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("one"))
	s := wantSave(t, p.tell(retake.SignalPrompt, said("two")), retake.TriggerTurn, "one")
	if s.Turn.Failed == "" || !s.Wait {
		t.Errorf("what is asked for is %+v", s)
	}
	if s := wantSave(t, p.tell(retake.SignalTurnEnd, nil), retake.TriggerTurn, "two"); s.Turn.Failed != "" {
		t.Errorf("the second turn ended well, and says %q", s.Turn.Failed)
	}
}

func TestSessionThatEndsInATurnLeavesIt(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("one"))
	if s := wantSave(t, p.tell(retake.SignalSessionEnd, nil), retake.TriggerTurn, "one"); s.Turn.Failed == "" {
		t.Error("nothing says that the turn was interrupted")
	}
	if s := wantSave(t, p.tell(retake.SignalSessionEnd, nil), retake.TriggerSession, "the session of claude-code"); !s.IfChanged {
		t.Error("an end that changed nothing would be a checkpoint")
	}
}

func TestRiskyCallWaitsForACheckpoint(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("clean up"))
	if a := p.tell(retake.SignalCall, shell("ls -la")); a.Save != nil {
		t.Errorf("a harmless call asks for %+v", a.Save)
	}
	s := wantSave(t, p.tell(retake.SignalCall, shell("rm -rf dist node_modules")), retake.TriggerRisk, "before `rm -rf dist node_modules`")
	if !s.Wait || s.IfChanged || s.Turn.Risk == "" {
		t.Errorf("what is asked for is %+v", s)
	}
}

func TestEffectsAreNumberedAndStayUntilACheckpointHasThem(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("ship it"))
	first := p.tell(retake.SignalCall, shell("git push origin main"))
	second := p.tell(retake.SignalCall, shell("npm publish"))
	if len(first.Effects) != 1 || first.Effects[0].ID != "e1" || len(second.Effects) != 1 || second.Effects[0].ID != "e2" {
		t.Fatalf("effects are %+v and %+v", first.Effects, second.Effects)
	}
	if first.Save != nil {
		t.Error("a push destroys nothing here, and asks for a checkpoint")
	}
	if len(p.st.Effects) != 2 {
		t.Errorf("%d effects wait for a checkpoint, want 2", len(p.st.Effects))
	}
}

func TestTaskThatEndsIsACheckpoint(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("do all"))
	list := func(statuses ...retake.TaskStatus) func(*retake.Signal) {
		return func(s *retake.Signal) {
			for i, st := range statuses {
				s.Tasks = append(s.Tasks, retake.Task{ID: fmt.Sprint(i), Title: fmt.Sprintf("part %d", i+1), Status: st})
			}
		}
	}
	if a := p.tell(retake.SignalTasks, list(retake.TaskActive, retake.TaskPending)); a.Save != nil {
		t.Errorf("a list on which nothing ended asks for %+v", a.Save)
	}
	s := wantSave(t, p.tell(retake.SignalTasks, list(retake.TaskCompleted, retake.TaskActive)), retake.TriggerTask, "task 1 of 2 completed: part 1")
	if s.Turn.Tasks == nil || *s.Turn.Tasks != (retake.TaskCount{Done: 1, Total: 2, Next: "part 2"}) {
		t.Errorf("the checkpoint counts %+v", s.Turn.Tasks)
	}
	if a := p.tell(retake.SignalTasks, list(retake.TaskCompleted, retake.TaskActive)); a.Save != nil {
		t.Error("the same list again asks for a checkpoint")
	}
	wantSave(t, p.tell(retake.SignalTasks, list(retake.TaskCompleted, retake.TaskFailed)), retake.TriggerTask, "task 2 of 2 failed: part 2")
}

func TestTasksThatAreToldOneByOne(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("do all"))
	called := func(tool, input, output string) func(*retake.Signal) {
		return func(s *retake.Signal) {
			s.Call = &retake.Call{Tool: tool, Kind: retake.CallOther, Input: []byte(input), Output: output}
		}
	}
	for _, a := range []session.Act{
		p.tell(retake.SignalCalled, called("TaskCreate", `{"subject":"write it"}`, "Task #7 created successfully: write it")),
		p.tell(retake.SignalCalled, called("TaskCreate", `{"subject":"test it"}`, "")),
		p.tell(retake.SignalCalled, called("TaskUpdate", `{"taskId":"7","status":"in_progress"}`, "")),
		p.tell(retake.SignalCalled, called("TaskUpdate", `{"taskId":"99","status":"completed"}`, "")),
		p.tell(retake.SignalCalled, called("TaskUpdate", `{`, "")),
	} {
		if a.Save != nil {
			t.Errorf("nothing ended, and %+v is asked for", a.Save)
		}
	}
	wantSave(t, p.tell(retake.SignalCalled, called("TaskUpdate", `{"taskId":"7","status":"completed"}`, "")), retake.TriggerTask, "task 1 of 2 completed: write it")
	p.tell(retake.SignalCalled, called("TaskUpdate", `{"taskId":"2","status":"deleted"}`, ""))
	want := []retake.Task{{ID: "7", Title: "write it", Status: retake.TaskCompleted}}
	if d := cmp.Diff(want, p.st.Newest().Tasks); d != "" {
		t.Errorf("the list (-want +got):\n%s", d)
	}
}

func TestTwoSessionsAtOnceAreContested(t *testing.T) {
	t.Parallel()
	p := begin(t)
	other := func(text string) func(*retake.Signal) {
		return func(s *retake.Signal) { s.Agent, s.Session, s.Prompt = "codex", "0f3a9c77d1", text }
	}
	p.tell(retake.SignalPrompt, said("one"))
	p.tell(retake.SignalPrompt, other("two"))
	if s := wantSave(t, p.tell(retake.SignalTurnEnd, nil), retake.TriggerTurn, "one"); !cmp.Equal(s.Turn.Contested, []string{"codex 0f3a9c77"}) {
		t.Errorf("contested by %v", s.Turn.Contested)
	}
	if s := wantSave(t, p.tell(retake.SignalTurnEnd, other("")), retake.TriggerTurn, "two"); len(s.Turn.Contested) != 1 {
		t.Errorf("contested by %v: the first one worked when this one began", s.Turn.Contested)
	}
	p.tell(retake.SignalPrompt, said("three"))
	if s := wantSave(t, p.tell(retake.SignalTurnEnd, nil), retake.TriggerTurn, "three"); len(s.Turn.Contested) != 0 {
		t.Errorf("contested by %v, who rested all the time", s.Turn.Contested)
	}
}

func TestRewindIsToldOnceToThoseWhoKnewTheFiles(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("one"))
	p.tell(retake.SignalTurnEnd, nil)
	p.st.Rewind = &session.Rewind{ID: "cp_1", At: p.now, Text: "rewound"}
	if a := p.tell(retake.SignalPrompt, said("two")); a.Note != "rewound" {
		t.Errorf("the note is %q", a.Note)
	}
	if a := p.tell(retake.SignalPrompt, said("three")); a.Note != "" {
		t.Errorf("it is told again: %q", a.Note)
	}
	fresh := func(reason string) func(*retake.Signal) {
		return func(s *retake.Signal) { s.Session, s.Reason, s.Prompt = "s-"+reason, reason, "hello" }
	}
	p.tell(retake.SignalSessionStart, fresh("startup"))
	if a := p.tell(retake.SignalPrompt, fresh("startup")); a.Note != "" {
		t.Errorf("a session that knows nothing is told %q", a.Note)
	}
	p.tell(retake.SignalSessionStart, fresh("resume"))
	if a := p.tell(retake.SignalPrompt, fresh("resume")); a.Note != "rewound" {
		t.Errorf("a session that comes back is told %q", a.Note)
	}
}

func TestSubagentsHaveNoTurns(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("one"))
	for _, kind := range []retake.SignalKind{retake.SignalSubagentStart, retake.SignalTurnEnd, retake.SignalSubagentEnd, retake.SignalSessionEnd, retake.SignalPrompt} {
		if a := p.tell(kind, func(s *retake.Signal) { s.Subagent = "a1" }); a.Save != nil {
			t.Errorf("%s of a subagent asks for %+v", kind, a.Save)
		}
	}
	if a := p.tell(retake.SignalCall, func(s *retake.Signal) { shell("git reset --hard")(s); s.Subagent = "a1" }); a.Save == nil || a.Save.Trigger != retake.TriggerRisk {
		t.Error("a risky call of a subagent asks for no checkpoint")
	}
	wantSave(t, p.tell(retake.SignalTurnEnd, nil), retake.TriggerTurn, "one")
}

func TestGranularityCallAddsCheckpointsAfterCalls(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("one"))
	if a := p.tell(retake.SignalCalled, shell("make")); a.Save != nil {
		t.Errorf("by default a call asks for %+v", a.Save)
	}
	p.habit.Granularity = retake.GranularityCall
	if s := wantSave(t, p.tell(retake.SignalCalled, shell("make")), retake.TriggerCall, "after a call"); !s.IfChanged || s.Wait {
		t.Errorf("what is asked for is %+v", s)
	}
	if a := p.tell(retake.SignalCalled, func(s *retake.Signal) { s.Call = &retake.Call{Tool: "Read", Kind: retake.CallRead} }); a.Save != nil {
		t.Error("reading asks for a checkpoint")
	}
}

func TestSecretsAreMaskedOnCards(t *testing.T) {
	t.Parallel()
	p := begin(t)
	const token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	s := wantSave(t, p.tell(retake.SignalPrompt, said("push with "+token)), retake.TriggerPrompt, "before “push with [masked: github token]”")
	if strings.Contains(s.Turn.Prompt, token) {
		t.Errorf("the card says %q", s.Turn.Prompt)
	}
}

// Whatever is told, in whatever order: nothing grows without a bound, turns with a
// prompt become checkpoints, and Next changes nothing it was given.
func TestLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		st := session.State{}
		owed := map[string]string{} // session to the prompt of a turn that is no checkpoint yet
		for i := range rapid.IntRange(1, 120).Draw(t, "signals") {
			sig := retake.Signal{
				ID: id(i), Kind: rapid.SampledFrom(retake.SignalKinds).Draw(t, "kind"), Time: epoch.Add(time.Duration(i) * time.Minute),
				Agent: "codex", Session: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "session"), Dir: "/w",
				Prompt: fmt.Sprintf("prompt %d", i), Machine: rapid.Bool().Draw(t, "machine"),
			}
			if rapid.IntRange(0, 9).Draw(t, "sub") == 0 {
				sig.Subagent = "x"
			}
			if sig.Kind == retake.SignalCall {
				sig.Call = &retake.Call{Kind: retake.CallShell, Command: rapid.SampledFrom([]string{"ls", "rm -rf x", "git push"}).Draw(t, "command")}
			}
			before := st
			copied := fmt.Sprintf("%+v", st)
			next, act := session.Next(st, sig, "sub", retake.Habits{}, nil)
			if fmt.Sprintf("%+v", before) != copied {
				t.Fatal("Next changed the state it was given")
			}
			st = next
			if act.Save != nil && act.Save.Trigger == retake.TriggerTurn && act.Save.Turn.Prompt == owed[sig.Session] {
				delete(owed, sig.Session)
			}
			ends := sig.Kind == retake.SignalTurnEnd || sig.Kind == retake.SignalSessionEnd
			if owed[sig.Session] != "" && sig.Subagent == "" && ends {
				t.Fatalf("the turn %q ended and is no checkpoint", owed[sig.Session])
			}
			if x := st.Find("codex " + sig.Session); sig.Kind == retake.SignalPrompt && sig.Subagent == "" && x.Turn.Prompt == sig.Prompt {
				if was := owed[sig.Session]; was != "" {
					t.Fatalf("the turn %q gave way to another and is no checkpoint", was)
				}
				owed[sig.Session] = sig.Prompt
			}
		}
		if len(st.Seen) > 256 || len(st.Sessions) > 32 {
			t.Fatalf("%d ids and %d sessions are kept", len(st.Seen), len(st.Sessions))
		}
	})
}

// An agent that left ends no further turn, whatever of it is still on its way. What it
// begins anew counts.
func TestA1_LateNewsOfAnAgentThatLeft(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("one"))
	wantSave(t, p.tell(retake.SignalTurnEnd, nil), retake.TriggerTurn, "one")
	p.st.MarkLeft("claude-code s1")
	for _, kind := range []retake.SignalKind{retake.SignalTurnEnd, retake.SignalCalled} {
		if a := p.tell(kind, func(s *retake.Signal) {
			if kind == retake.SignalCalled {
				shell("ls")(s)
			}
		}); a.Save != nil || p.st.Newest().Phase == session.Working {
			t.Errorf("%s of an agent that left asks for %+v", kind, a.Save)
		}
	}
	p.tell(retake.SignalPrompt, said("two"))
	wantSave(t, p.tell(retake.SignalTurnEnd, nil), retake.TriggerTurn, "two")
}

// A process that called once may be a wrapper around that hook: its end is not the
// agent's.
func TestA1_OnlyAProcessThatCalledTwiceIsTheAgent(t *testing.T) {
	t.Parallel()
	p := begin(t)
	dead := func(int) bool { return false }
	p.tell(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt, s.PID = "one", 7 })
	if gone := p.st.DeadSessions(dead); len(gone) != 0 {
		t.Errorf("after one call: %+v", gone)
	}
	p.tell(retake.SignalCall, func(s *retake.Signal) { shell("ls")(s); s.PID = 8 })
	if gone := p.st.DeadSessions(dead); len(gone) != 0 {
		t.Errorf("after calls of two wrappers: %+v", gone)
	}
	p.tell(retake.SignalCalled, func(s *retake.Signal) { shell("ls")(s); s.PID = 8 })
	if gone := p.st.DeadSessions(dead); len(gone) != 1 {
		t.Errorf("after two calls of one process: %+v", gone)
	}
}

// A turn names its sub-agents once, whether the call, the sub-agent or both report them.
func TestA5_SubagentsOfATurn(t *testing.T) {
	t.Parallel()
	p := begin(t)
	p.tell(retake.SignalPrompt, said("find out why the login fails"))
	p.tell(retake.SignalCall, func(s *retake.Signal) {
		s.Call = &retake.Call{ID: "c1", Tool: "Task", Kind: retake.CallOther, Input: []byte(`{"description":"search the logs","subagent_type":"Explore","prompt":"…"}`)}
	})
	sub := func(id, kind string) func(*retake.Signal) {
		return func(s *retake.Signal) { s.Subagent, s.Reason = id, kind }
	}
	p.tell(retake.SignalSubagentStart, sub("a1", "Explore"))
	p.tell(retake.SignalSubagentStart, sub("a2", "Plan"))
	p.tell(retake.SignalSubagentEnd, sub("a1", ""))
	p.tell(retake.SignalSubagentEnd, sub("a2", ""))
	got := wantSave(t, p.tell(retake.SignalTurnEnd, nil), retake.TriggerTurn, "find out why the login fails").Turn.Subagents
	want := []retake.Subagent{{Name: "Explore", Task: "search the logs"}, {Name: "Plan"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("sub-agents (-want +got):\n%s", d)
	}
	if s := wantSave(t, p.tell(retake.SignalPrompt, said("next")), retake.TriggerPrompt, "before “next”"); s.Turn.Subagents != nil {
		t.Errorf("what is before the next turn has %+v", s.Turn.Subagents)
	}
	if s := wantSave(t, p.tell(retake.SignalTurnEnd, nil), retake.TriggerTurn, "next"); s.Turn.Subagents != nil {
		t.Errorf("the next turn has %+v", s.Turn.Subagents)
	}
}
