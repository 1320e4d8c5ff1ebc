package servicetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// truths are what is said of calls, and what agents are told, as it is.
var truths = map[string]func(*testing.T, *bench){
	"V3FailedEffectIsNoWarning":       failedEffectIsNoWarning,
	"V3EffectComesAfterItsCheckpoint": effectComesAfterItsCheckpoint,
	"V4NewFileIsNoRisk":               newFileIsNoRisk,
	"V7NoteNamesTurnAndPaths":         noteNamesTurnAndPaths,
	"V7NotToldWhoCameAfter":           notToldWhoCameAfter,
	"V7WholeSessionKeepsItsWords":     wholeSessionKeepsItsWords,
	"V7ForkKnowsWhatIsGone":           forkKnowsWhatIsGone,
	"U8ToldAtTheNextCall":             toldAtTheNextCall,
	"V6_OneCount":                     oneCount,
	"X4_NoWorkspace":                  noWorkspace,
	"V8FailedTaskIsNotDone":           failedTaskIsNotDone,
	"V8BisectDecidesNothing":          bisectDecidesNothing,
}

// ran tells how a call of run ended.
func (a *agent) ran(command string, failed bool) {
	a.Helper()
	s := a.signal(retake.SignalCalled)
	s.Call = &retake.Call{ID: "c", Tool: "Bash", Kind: retake.CallShell, Command: command, Failed: failed}
	a.tell(s)
}

// A push that failed was never done: no plan warns of it, and no agent is told to leave it.
func failedEffectIsNoWarning(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.turnOf("ship it", func() {
		b.write("a", "2")
		for command, failed := range map[string]bool{"git push origin main": true, "npm publish": false} {
			a.run(command)
			a.ran(command, failed)
		}
		a.run("curl -X POST https://api.example.com") // nobody says how it ends
	})
	all, err := b.s.Effects(b.ctx(), b.ws.ID, "")
	b.must(err)
	got := map[string]retake.Outcome{}
	for _, e := range all {
		got[e.Kind] = e.Outcome
	}
	if got["push"] != retake.OutcomeFailed || got["publish"] != retake.OutcomeDone || got["http"] != retake.OutcomeUnknown {
		t.Errorf("the outcomes are %v", got)
	}
	for _, e := range b.plan(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1"}).Effects {
		if e.Kind == "push" {
			t.Errorf("the plan warns of %+v", e)
		}
	}
	b.undo()
	if r := a.prompt("go on"); strings.Contains(r.Note, "git push") || !strings.Contains(r.Note, "npm publish") {
		t.Errorf("the agent is told %q", r.Note)
	}
}

// What a call does outside is done after the checkpoint that is taken before it: a plan that
// goes back to that checkpoint says so.
func effectComesAfterItsCheckpoint(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.prompt("clean up and push")
	const command = "rm -f a && git push origin main"
	r := a.run(command)
	if r.Checkpoint == nil || len(r.Checkpoint.Effects) != 0 {
		t.Fatalf("before the call there is %+v", r.Checkpoint)
	}
	b.must(os.Remove(filepath.Join(b.root, "a")))
	a.ran(command, false)
	if end := a.end("done"); len(end.Effects) != 1 || end.Effects[0].Outcome != retake.OutcomeDone {
		t.Errorf("the end of the turn has the effects %+v", end.Effects)
	}
	if p := b.plan(retake.PlanRequest{Course: retake.CourseRestore, Ref: string(r.Checkpoint.ID)}); len(p.Effects) != 1 {
		t.Errorf("the way back to before the call warns of %+v", p.Effects)
	}
}

// To make a file destroys nothing; of several targets those count that are there.
func newFileIsNoRisk(t *testing.T, b *bench) {
	b.write("old.txt", "1")
	b.write("sub/old.txt", "1")
	b.must(os.Symlink("/nowhere", filepath.Join(b.root, "link")))
	b.init()
	a := b.agent("claude-code", "s1")
	a.prompt("write files")
	for command, risk := range map[string]string{
		"echo x > new.txt":                             "",
		"mkdir -p lib && cat > lib/new.txt <<< x":      "",
		"cd sub && echo x > new.txt":                   "",
		"echo x > new.txt; echo y | tee other.txt":     "",
		"echo x > old.txt":                             "writes over old.txt",
		"cd sub && echo x > old.txt":                   "writes over old.txt",
		"echo x > new.txt; echo y > sub/old.txt":       "writes over sub/old.txt",
		"echo x > link":                                "writes over link",
		"echo x > link/new.txt":                        "writes over link/new.txt",
		`echo x > "$OUT"`:                              "writes over $OUT",
		"echo x > new.txt && rm -rf sub":               "deletes sub",
		"echo x > old.txt && npm ci && rm -rf ~/older": "deletes ~/older; deletes node_modules and installs again: npm ci; writes over old.txt",
	} {
		b.write("touched", command) // so that a checkpoint has something to hold
		r := a.run(command)
		switch {
		case risk == "" && r.Checkpoint != nil:
			t.Errorf("%s: there is a checkpoint before it, %+v", command, r.Checkpoint.Turn)
		case risk != "" && (r.Checkpoint == nil || r.Checkpoint.Turn.Risk != risk):
			t.Errorf("%s: the checkpoint before it is %+v, want %q", command, r.Checkpoint, risk)
		}
	}
}

// The note names the turn and the files, and is given once.
func noteNamesTurnAndPaths(t *testing.T, b *bench) {
	b.write("keep", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.turnOf("add a health endpoint", func() { b.write("src/health.ts", "2") })
	a.turnOf("fix the css", func() {
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			b.write("css/"+name, "3")
		}
	})
	b.apply(retake.PlanRequest{Course: retake.CourseUndo})
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"})
	note := a.prompt("go on").Note
	for _, want := range []string{`"fix the css"`, `"css/a"`, "and 2 more", `"add a health endpoint"`, `"src/health.ts"`} {
		if !strings.Contains(note, want) {
			t.Errorf("the note %q does not say %s", note, want)
		}
	}
	a.end("")
	if r := a.prompt("and on"); r.Note != "" {
		t.Errorf("it is told twice: %q", r.Note)
	}
}

// A session that began after an undo never saw the old files, also when it is resumed.
func notToldWhoCameAfter(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	b.agent("claude-code", "s1").turnOf("one", func() { b.write("a", "2") })
	b.undo()
	late := b.agent("claude-code", "s2")
	start := late.signal(retake.SignalSessionStart)
	start.Reason = "startup"
	late.tell(start)
	late.turnOf("two", func() { b.write("a", "3") })
	again := late.signal(retake.SignalSessionStart)
	again.Reason = "resume"
	late.tell(again)
	if r := late.prompt("three"); r.Note != "" {
		t.Errorf("a session that came after is told %q", r.Note)
	}
}

// An agent whose sessions cannot be forked is not told that it forgot something.
func wholeSessionKeepsItsWords(t *testing.T, b *bench) {
	for i, name := range []string{"docker-agent", "cursor", "copilot", "cline", "pi", "droid"} {
		if i == 0 {
			b.write("a", "0")
			b.init()
		}
		a := b.agent(name, "s-"+name)
		a.turnOf("work of "+name, func() { b.write(name, "1") })
		res := b.undo()
		r, err := b.s.Resume(b.ctx(), retake.ResumeRequest{Workspace: b.ws.ID, Ref: string(res.Checkpoint.ID)})
		if err == nil && (r.Exact || strings.Contains(r.Note, "not part of it") || strings.Contains(r.Note, "goes on from")) {
			t.Errorf("%s: the way on is %+v", name, r)
		}
		note := a.prompt("go on").Note
		if strings.Contains(note, "goes on from") || !strings.Contains(note, "work of "+name) {
			t.Errorf("%s is told %q", name, note)
		}
		a.end("")
	}
}

// A conversation that is forked after a turn that was taken back is told that it is gone.
func forkKnowsWhatIsGone(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", uuid.NewString())
	a.transcript = filepath.Join(t.TempDir(), ".claude", "projects", "p", a.id+".jsonl")
	b.must(os.MkdirAll(filepath.Dir(a.transcript), 0o700))
	first := a.says("add a health endpoint", func() { b.write("health", "1") })
	a.says("fix the css", func() { b.write("css", "1") })
	res := b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: string(first.ID)})
	r, err := b.s.Resume(b.ctx(), retake.ResumeRequest{Workspace: b.ws.ID, Ref: string(res.Checkpoint.ID)})
	b.must(err)
	note := b.agent("claude-code", r.Session).prompt("go on").Note
	if !r.Exact || !strings.Contains(r.Taken, "add a health endpoint") || note != r.Note || !strings.Contains(note, `"add a health endpoint"`) {
		t.Errorf("it goes on with %+v, told %q", r, note)
	}
}

// In the middle of a turn the note comes with the next call, where the agent listens then.
func toldAtTheNextCall(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	deaf, a := b.agent("cursor", "s2"), b.agent("claude-code", "s1")
	a.turnOf("one", func() { b.write("a", "2") })
	deaf.prompt("look")
	a.prompt("two")
	b.undo()
	call := func(a *agent, subagent string) string {
		s := a.signal(retake.SignalCall)
		s.Call = &retake.Call{ID: uuid.NewString(), Tool: "Bash", Kind: retake.CallShell, Command: "ls"}
		s.Hears, s.Subagent = a.name == "claude-code", subagent
		return a.tell(s).Note
	}
	if note := call(a, "sub"); note != "" {
		t.Errorf("its subagent is told %q", note)
	}
	if note := call(deaf, ""); note != "" {
		t.Errorf("one that does not listen is told %q", note)
	}
	if note := call(a, ""); !strings.Contains(note, `"one"`) {
		t.Errorf("at the call it is told %q", note)
	}
	if note := call(a, ""); note != "" {
		t.Errorf("at the next call it is told again: %q", note)
	}
	if note := deaf.prompt("go on").Note; !strings.Contains(note, `"one"`) {
		t.Errorf("at the prompt the other is told %q", note)
	}
}

func failedTaskIsNotDone(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.prompt("work")
	s := a.signal(retake.SignalTasks)
	s.Tasks = []retake.Task{{ID: "1", Title: "one", Status: retake.TaskCompleted}, {ID: "2", Title: "two", Status: retake.TaskFailed}, {ID: "3", Title: "three", Status: retake.TaskPending}}
	a.tell(s)
	if n := a.end("").Turn.Tasks; n == nil || n.Done != 1 || n.Failed != 1 || n.Total != 3 || n.Next != "three" {
		t.Errorf("the list is %+v", n)
	}
}

// The answers of a search are shown as such, and make no checkpoint good or bad.
func bisectDecidesNothing(t *testing.T, b *bench) {
	b.three()
	searched := func(a *retake.Attestation) { a.Bisect = true }
	b.attest("2", 0, nil)
	b.attest("2", 1, searched)
	b.attest("3", 0, searched)
	if n := b.good(); n != 2 {
		t.Errorf("good is %d, want 2", n)
	}
	if got := b.answers(3); len(got) != 1 || !got[0].Bisect {
		t.Errorf("checkpoint 3 says %+v", got)
	}
	if got := b.answers(2); len(got) != 1 || got[0].Bisect || got[0].Verdict != retake.Passed {
		t.Errorf("checkpoint 2 says %+v", got)
	}
}

// The count of a checkpoint is the same wherever it is told: directories are none, a rename is
// one, and a file whose time alone changed is none.
func oneCount(t *testing.T, b *bench) {
	b.write("dir/a", strings.Repeat("the same text\n", 20))
	b.write("dir/b", "b")
	b.write("touched", "t")
	b.init()
	b.must(os.Rename(b.at("dir/a"), b.at("renamed")))
	b.must(os.RemoveAll(b.at("dir")))
	old := clock.Wall.Now().Add(-time.Hour)
	b.must(os.Chtimes(b.at("touched"), old, old))
	cp := b.save("renamed, deleted and touched").Checkpoint
	st, err := b.s.Story(b.ctx(), retake.DiffQuery{Workspace: b.ws.ID, To: "2"})
	b.must(err)
	if st.Counts.Total() != 2 || st.Counts.Renamed != 1 {
		t.Fatalf("the story counts %+v", st.Counts)
	}
	if n := cp.ChangedFiles(&st.Gist); n != st.Counts.Total() {
		t.Errorf("the checkpoint counts %d, its story %d", n, st.Counts.Total())
	}
	b.attest("2", 0, nil)
	tl, err := b.s.Log(b.ctx(), retake.LogQuery{Workspace: b.ws.ID, Limit: 1})
	b.must(err)
	f := tl.Findings[cp.ID]
	if f.Changed != cp.ChangedFiles(f.Gist) || f.Gist != nil && f.Changed != 2 {
		t.Errorf("the timeline counts %d: %+v", f.Changed, f.Gist)
	}
}

// Whoever asks for a workspace that is not there is told so, in words.
func noWorkspace(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	const none = retake.WorkspaceID("ws_nope")
	for name, ask := range map[string]func() error{
		"log":    func() error { _, err := b.s.Log(b.ctx(), retake.LogQuery{Workspace: none}); return err },
		"save":   func() error { _, err := b.s.Save(b.ctx(), retake.SaveRequest{Workspace: none}); return err },
		"diff":   func() error { _, err := b.s.Diff(b.ctx(), retake.DiffQuery{Workspace: none}); return err },
		"story":  func() error { _, err := b.s.Story(b.ctx(), retake.DiffQuery{Workspace: none}); return err },
		"status": func() error { _, err := b.s.Status(b.ctx(), none); return err },
		"plan": func() error {
			_, err := b.s.PlanRestore(b.ctx(), retake.PlanRequest{Workspace: none, Course: retake.CourseUndo})
			return err
		},
	} {
		err := ask()
		if !retake.IsKind(err, retake.NotFound) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e := retake.AsError(err); !strings.Contains(e.Error(), "there is no workspace") || strings.Contains(e.Error(), "row") || e.Hint == "" {
			t.Errorf("%s: %q, hint %q", name, e.Error(), e.Hint)
		}
	}
}
