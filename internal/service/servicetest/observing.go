package servicetest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
)

// observings are what agents tell, and what becomes of it.
var observings = map[string]func(*testing.T, *bench){
	"TurnIsACheckpoint":    turnIsACheckpoint,
	"TurnThatOnlyTalked":   turnThatOnlyTalked,
	"ToldTwice":            toldTwice,
	"NotProtected":         notProtected,
	"NoSignal":             noSignal,
	"RiskBeforeItRuns":     riskBeforeItRuns,
	"UndoTakesATurn":       undoTakesATurn,
	"UndoInATurn":          undoInATurn,
	"EffectsStayDone":      effectsStayDone,
	"EffectsAreNumberedOn": effectsAreNumberedOn,
	"Contested":            contested,
	"TasksAreKept":         tasksAreKept,
	"ConversationIsKept":   conversationIsKept,
	"RewindIsTold":         rewindIsTold,
	"ResumeAfterUndo":      resumeAfterUndo,
	"AgentOfAPart":         agentOfAPart,
	"AgentDied":            agentDied,
	"RebuildKeepsTurns":    rebuildKeepsTurns,
	"SavedInTheMiddle":     savedInTheMiddle,
	"TranscriptThatIsNone": transcriptThatIsNone,
}

// agent is one session.
type agent struct {
	*bench
	name, id   string
	transcript string
	turn       int
}

func (b *bench) agent(name, id string) *agent { return &agent{bench: b, name: name, id: id} }

func (a *agent) signal(kind retake.SignalKind) retake.Signal {
	u, err := uuid.NewV7()
	a.must(err)
	return retake.Signal{
		ID: retake.SignalID(retake.SignalPrefix + u.String()), Kind: kind, Time: clock.Wall.Now(), Agent: a.name, Version: "1.2",
		Session: a.id, Turn: fmt.Sprintf("%s-turn-%d", a.id, a.turn), Dir: a.root, Transcript: a.transcript,
	}
}

func (a *agent) tell(s retake.Signal) retake.Reaction {
	a.Helper()
	r, err := a.s.Observe(a.ctx(), s)
	a.must(err)
	return r
}

func (a *agent) prompt(text string) retake.Reaction {
	a.Helper()
	a.turn++
	s := a.signal(retake.SignalPrompt)
	s.Prompt = text
	return a.tell(s)
}

func (a *agent) run(command string) retake.Reaction {
	a.Helper()
	s := a.signal(retake.SignalCall)
	s.Call = &retake.Call{ID: "c", Tool: "Bash", Kind: retake.CallShell, Command: command}
	return a.tell(s)
}

// end ends the turn and waits for its checkpoint.
func (a *agent) end(message string) retake.Checkpoint {
	a.Helper()
	return a.endWhile(message, func() {})
}

// endWhile is end with something that happens right after the answer.
func (a *agent) endWhile(message string, do func()) retake.Checkpoint {
	a.Helper()
	s := a.signal(retake.SignalTurnEnd)
	s.Message = message
	if r := a.tell(s); r.Later {
		a.Errorf("the end of a turn is not waited for: %+v", r)
	}
	do()
	return a.await(func(cp retake.Checkpoint) bool {
		return cp.Trigger == retake.TriggerTurn && cp.Turn != nil && cp.Turn.Session == a.id && cp.Turn.ID == s.Turn
	})
}

// turnOf does a whole turn.
func (a *agent) turnOf(prompt string, work func()) retake.Checkpoint {
	a.Helper()
	a.prompt(prompt)
	work()
	return a.end("done")
}

const soon = 20 * time.Second

// until asks again until it is so.
func (b *bench) until(what string, f func() bool) {
	b.Helper()
	for end := clock.Wall.Now().Add(soon); !f(); <-time.After(5 * time.Millisecond) {
		if clock.Wall.Now().After(end) {
			b.Fatalf("%s: not after %s", what, soon)
		}
	}
}

// await waits for a checkpoint.
func (b *bench) await(is func(retake.Checkpoint) bool) (found retake.Checkpoint) {
	b.Helper()
	b.until("the checkpoint comes", func() bool {
		t, err := b.s.Log(b.ctx(), retake.LogQuery{Workspace: b.ws.ID, Limit: 10})
		b.must(err)
		i := slices.IndexFunc(t.Checkpoints, is)
		if i >= 0 {
			found = t.Checkpoints[i]
		}
		return i >= 0
	})
	return found
}

func turnIsACheckpoint(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	if r := a.prompt("say hello"); r.Checkpoint == nil || r.Checkpoint.Number != 1 {
		t.Errorf("nothing changed before the turn, and %+v holds it, want 1", r.Checkpoint)
	}
	b.write("a", "2")
	cp := a.end("hello")
	if cp.Number != 2 || cp.Intent != "say hello" || cp.Changed.Edited != 1 || cp.Turn.Agent != "claude-code" || cp.Turn.Version != "1.2" {
		t.Errorf("the checkpoint is %+v of %+v", cp, cp.Turn)
	}
	b.write("mine", "x") // between two turns
	r := a.prompt("go on")
	if r.Checkpoint == nil || r.Checkpoint.Number != 3 || r.Checkpoint.Trigger != retake.TriggerPrompt {
		t.Fatalf("what was there before the turn is %+v", r.Checkpoint)
	}
	if b.cat("3", "mine") != "x" {
		t.Error("the checkpoint before the turn does not hold what changed outside turns")
	}
}

func turnThatOnlyTalked(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	cp := b.agent("codex", "s1").turnOf("what does this do?", func() {})
	if cp.Number != 2 || cp.Changed.Total() != 0 {
		t.Errorf("a turn that only talked is %+v", cp)
	}
}

func toldTwice(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("codex", "s1")
	a.prompt("one")
	b.write("a", "2")
	end := a.signal(retake.SignalTurnEnd)
	for range 3 {
		a.tell(end)
	}
	a.await(func(cp retake.Checkpoint) bool { return cp.Trigger == retake.TriggerTurn })
	b.reopen() // what waits is told again
	a.tell(end)
	a.prompt("two") // comes after whatever the others asked for
	log, err := b.s.Log(b.ctx(), retake.LogQuery{Workspace: b.ws.ID})
	b.must(err)
	if log.Total != 2 {
		t.Errorf("one turn that was told four times is %d checkpoints, want 2 with the start", log.Total)
	}
}

func notProtected(t *testing.T, b *bench) {
	a := b.agent("codex", "s1")
	s := a.signal(retake.SignalPrompt)
	if r := a.tell(s); r.Workspace != "" || r.Checkpoint != nil {
		t.Errorf("a directory that is not protected gives %+v", r)
	}
}

func noSignal(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("codex", "s1")
	for name, edit := range map[string]func(*retake.Signal){
		"id":        func(s *retake.Signal) { s.ID = "../../x" },
		"kind":      func(s *retake.Signal) { s.Kind = "explode" },
		"agent":     func(s *retake.Signal) { s.Agent = "Co dex/.." },
		"session":   func(s *retake.Signal) { s.Session = "../../etc" },
		"empty":     func(s *retake.Signal) { s.Session = "" },
		"directory": func(s *retake.Signal) { s.Dir = "relative" },
	} {
		s := a.signal(retake.SignalPrompt)
		edit(&s)
		if _, err := b.s.Observe(b.ctx(), s); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("a signal with another %s: %v, want invalid", name, err)
		}
	}
}

func riskBeforeItRuns(t *testing.T, b *bench) {
	b.write("src/a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.prompt("clean")
	b.write("src/b", "new in this turn")
	r := a.run("rm -rf src")
	if r.Checkpoint == nil || r.Checkpoint.Trigger != retake.TriggerRisk || r.Checkpoint.Turn.Risk == "" {
		t.Fatalf("before a risky call there is %+v", r.Checkpoint)
	}
	b.remove("src")
	if got := b.cat(fmt.Sprint(r.Checkpoint.Number), "src/b"); got != "new in this turn" {
		t.Errorf("the checkpoint before the call holds %q", got)
	}
	if r := a.run("ls"); r.Checkpoint != nil {
		t.Errorf("a harmless call makes %+v", r.Checkpoint)
	}
}

func undoTakesATurn(t *testing.T, b *bench) {
	b.write("src/a", "1")
	b.write("keep", "k")
	b.init()
	a := b.agent("claude-code", "s1")
	a.turnOf("one", func() { b.write("src/a", "2") })
	first := b.tree(b.root)
	a.turnOf("two", func() {
		b.write("src/b", "new")
		a.run("rm -rf keep")
		b.remove("keep")
		a.run("rm -rf src/a")
		b.remove("src/a")
	})
	b.undo()
	b.wantTree(first, "after one undo: the whole second turn is undone, with the checkpoints in it")
	b.undo()
	if got := b.read("src/a"); got != "1" {
		t.Errorf("after two undos src/a is %q: two undos are two turns", got)
	}
	b.redo()
	b.redo()
	b.gone("keep")
	if b.read("src/b") != "new" {
		t.Error("redo does not bring the second turn again")
	}
}

func undoInATurn(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.prompt("one")
	b.write("a", "2")
	r := a.run("rm -rf b")
	b.write("a", "3")
	a.end("")
	plan := b.plan(retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo, Ref: fmt.Sprint(r.Checkpoint.Number)})
	if plan.Target.Number != r.Checkpoint.Number+1 || len(plan.Writes) != 1 {
		t.Errorf("to undo a checkpoint in a turn is to undo the turn: the target is %d", plan.Target.Number)
	}
}

func effectsStayDone(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.turnOf("one", func() { b.write("a", "2") })
	cp := a.turnOf("ship it", func() {
		if r := a.run("git push origin main"); len(r.Effects) != 1 || r.Checkpoint != nil {
			t.Errorf("a push gives %+v", r)
		}
		b.write("a", "3")
	})
	if len(cp.Effects) != 1 || cp.Effects[0].ID != "e1" {
		t.Fatalf("the checkpoint holds the effects %+v", cp.Effects)
	}
	a.prompt("more")
	a.run("npm publish")
	for ref, want := range map[string]int{"": 2, "2": 2, fmt.Sprint(cp.Number): 1} {
		if got, err := b.s.Effects(b.ctx(), b.ws.ID, ref); err != nil || len(got) != want {
			t.Errorf("effects since %q: %+v, %v; want %d", ref, got, err, want)
		}
	}
	plan := b.plan(retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRestore, Ref: "1"})
	if len(plan.Effects) != 2 || plan.Effects[0].ID != "e1" || plan.Effects[1].ID != "e2" {
		t.Errorf("a plan over both names %+v", plan.Effects)
	}
	if plan := b.plan(retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo, Ref: "2"}); len(plan.Effects) != 0 {
		t.Errorf("undo of a turn without effects names %+v", plan.Effects)
	}
	if plan := b.plan(retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo, Ref: fmt.Sprint(cp.Number)}); len(plan.Effects) != 1 {
		t.Errorf("undo of the turn that pushed names %+v", plan.Effects)
	}
}

// effectsAreNumberedOn also when what is known of sessions is lost.
func effectsAreNumberedOn(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.turnOf("ship it", func() { b.write("a", "2"); a.run("git push origin main") })
	b.must(b.s.Close())
	err := filepath.WalkDir(b.home, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == string(b.ws.ID)+".json" {
			return os.WriteFile(path, []byte("{broken"), 0o600)
		}
		return err
	})
	b.must(err)
	b.open()
	a.prompt("again")
	if r := a.run("npm publish"); len(r.Effects) != 1 || r.Effects[0].ID != "e2" {
		t.Errorf("the next effect is %+v, want e2", r.Effects)
	}
}

func contested(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	one, two := b.agent("claude-code", "s1"), b.agent("codex", "0f3a9c77")
	one.prompt("one")
	two.prompt("two")
	b.write("a", "2")
	if cp := one.end(""); len(cp.Turn.Contested) != 1 || cp.Turn.Contested[0] != "codex 0f3a9c77" {
		t.Errorf("contested by %v", cp.Turn.Contested)
	}
}
