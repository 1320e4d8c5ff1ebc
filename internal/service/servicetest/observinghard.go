package servicetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
)

// hardships are what goes wrong around agents.
var hardships = map[string]func(*testing.T, *bench){
	"EffectsOnceAfterARestart":   effectsOnceAfterARestart,
	"CompactionInATurn":          compactionInATurn,
	"OutOfTimeInATurn":           outOfTimeInATurn,
	"ForgottenInATurn":           forgottenInATurn,
	"TurnNobodyToldOf":           turnNobodyToldOf,
	"ResumeAfterAnUndoneRestore": resumeAfterAnUndoneRestore,
	"ForgottenConversation":      forgottenConversation,
	"NothingKnownOfSessions":     nothingKnownOfSessions,
	"AgentWentElsewhere":         agentWentElsewhere,
	"SignalInACopy":              signalInACopy,
	"TranscriptBelowTheRoot":     transcriptBelowTheRoot,
	"SecretsOnCards":             secretsOnCards,
	"TwoUndosAreTold":            twoUndosAreTold,
}

func effectsOnceAfterARestart(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.prompt("one")
	a.run("git push origin main")
	b.write("a", "2")
	b.save("by hand")
	b.reopen()
	if got, err := b.s.Effects(b.ctx(), b.ws.ID, ""); err != nil || len(got) != 1 {
		t.Errorf("after a restart one push is %+v, %v", got, err)
	}
	b.write("a", "3")
	if cp := b.save("next").Checkpoint; len(cp.Effects) != 0 {
		t.Errorf("the next checkpoint holds it again: %+v", cp.Effects)
	}
}

func compactionInATurn(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.prompt("one")
	b.write("a", "2")
	a.tell(a.signal(retake.SignalCompact))
	a.await(func(cp retake.Checkpoint) bool { return cp.Trigger == retake.TriggerSession })
	b.write("b", "2")
	a.end("")
	b.undo()
	b.gone("b")
	if got := b.read("a"); got != "1" {
		t.Errorf("undo of a turn in which the agent compacted leaves %q", got)
	}
}

func outOfTimeInATurn(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.prompt("one")
	b.write("a", "2")
	res, err := b.s.Save(b.ctx(), retake.SaveRequest{Workspace: b.ws.ID, Intent: "hurry", Budget: time.Nanosecond})
	b.must(err)
	if res.Partial == nil {
		t.Fatal("the time was enough")
	}
	b.write("a", "3")
	a.end("")
	b.undo()
	if got := b.read("a"); got != "1" {
		t.Errorf("undo of a turn with a save that ran out of time leaves %q", got)
	}
}

func forgottenInATurn(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.turnOf("one", func() {
		for i, command := range []string{"rm -rf x", "rm -rf y"} {
			b.write("a", fmt.Sprint(i+2))
			a.run(command)
		}
		b.write("a", "4")
	})
	_, err := b.s.Forget(b.ctx(), b.ws.ID, []string{"3"})
	b.must(err)
	b.undo()
	if got := b.read("a"); got != "1" {
		t.Errorf("undo of a turn of which a checkpoint was forgotten leaves %q", got)
	}
}

func turnNobodyToldOf(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.turnOf("one", func() { b.write("a", "2") })
	a.turn++
	b.write("a", "3")
	if cp := a.end(""); cp.Turn.Prompt != "" {
		t.Errorf("the second turn says %q", cp.Turn.Prompt)
	}
	b.undo()
	if got := b.read("a"); got != "2" {
		t.Errorf("undo takes two turns back at once: %q", got)
	}
}

// talker is an agent with a transcript where it keeps its own.
func (b *bench) talker() *agent {
	b.Helper()
	a := b.agent("claude-code", uuid.NewString())
	a.transcript = filepath.Join(b.TempDir(), ".claude", "projects", "p", a.id+".jsonl")
	b.must(os.MkdirAll(filepath.Dir(a.transcript), 0o700))
	return a
}

// says does a turn with what is said in it.
func (a *agent) says(text string, work func()) retake.Checkpoint {
	a.Helper()
	a.prompt(text)
	a.talks(a.line("user", text) + a.line("assistant", "answer to "+text))
	work()
	cp := a.end("answer to " + text)
	a.kept(cp)
	return cp
}

func resumeAfterAnUndoneRestore(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.talker()
	first := a.says("first", func() { b.write("a", "2") })
	a.says("second", func() { b.write("a", "3") })
	b.restore(fmt.Sprint(first.Number))
	if r, err := b.s.Resume(b.ctx(), retake.ResumeRequest{Workspace: b.ws.ID, Look: true}); err != nil || r.Checkpoint.Intent != "first" {
		t.Errorf("after the restore it goes on at %q, %v", r.Checkpoint.Intent, err)
	}
	b.undo()
	if r, err := b.s.Resume(b.ctx(), retake.ResumeRequest{Workspace: b.ws.ID, Look: true}); err != nil || r.Checkpoint.Intent != "second" {
		t.Errorf("after the undo of the restore it goes on at %q, %v", r.Checkpoint.Intent, err)
	}
}

// forgottenConversation: what later checkpoints refer to may be swept when the only checkpoint
// that holds it is forgotten. Then it is read anew, and nothing refers to what is gone.
func forgottenConversation(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.talker()
	cp := a.says("first", func() { b.write("a", "2") })
	b.write("a", "hand")
	b.save("by hand")
	_, err := b.s.Forget(b.ctx(), b.ws.ID, []string{fmt.Sprint(cp.Number)})
	b.must(err)
	_, err = b.s.Sweep(b.ctx())
	b.must(err)
	next := a.says("second", func() { b.write("a", "3") })
	if text, c := b.kept(next); !strings.Contains(text, "answer to first") || !strings.Contains(text, "answer to second") {
		t.Errorf("kept is %q: %+v", text, c)
	}
	if rep, err := b.s.Scrub(b.ctx(), retake.ScrubQuery{Share: 1}); err != nil || len(rep.Failed) > 0 {
		t.Errorf("Scrub: %+v, %v", rep, err)
	}
	_, err = b.s.Sweep(b.ctx())
	b.must(err)
}

// nothingKnownOfSessions: without what agents told, everything else works.
func nothingKnownOfSessions(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	b.write("a", "2")
	b.save("two")
	b.must(b.s.Close())
	for _, dir := range []string{filepath.Join(b.home, "sessions"), filepath.Join(b.home, "data", "sessions")} {
		if _, err := os.Stat(dir); err == nil {
			file := filepath.Join(dir, string(b.ws.ID)+".json")
			b.must(os.RemoveAll(file))
			b.must(os.Mkdir(file, 0o700))
		}
	}
	b.open()
	b.undo()
	if got := b.read("a"); got != "1" {
		t.Errorf("undo leaves %q", got)
	}
	b.agent("codex", "s1").turnOf("on", func() { b.write("a", "3") })
}

func agentWentElsewhere(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.prompt("one")
	b.write("a", "2")
	s := a.signal(retake.SignalTurnEnd)
	s.Dir = t.TempDir()
	if r := a.tell(s); r.Workspace != b.ws.ID {
		t.Errorf("the turn that began here ends elsewhere: %+v", r)
	}
	a.await(func(cp retake.Checkpoint) bool { return cp.Trigger == retake.TriggerTurn })
}

func signalInACopy(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	copied := b.root + "-copy"
	b.h.Copy(b.T, b.root, copied)
	s := b.agent("claude-code", "s1").signal(retake.SignalPrompt)
	s.Dir = copied
	if r, err := b.s.Observe(b.ctx(), s); err != nil || r.Workspace != "" {
		t.Errorf("a copy that nobody decided about: %+v, %v", r, err)
	}
}

func transcriptBelowTheRoot(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", uuid.NewString())
	a.transcript = filepath.Join(b.root, ".claude", "projects", "p", a.id+".jsonl")
	b.must(os.MkdirAll(filepath.Dir(a.transcript), 0o700))
	a.says("one", func() { b.write("a", "2") })
	if r, err := b.s.Resume(b.ctx(), retake.ResumeRequest{Workspace: b.ws.ID}); err != nil || len(r.Command) > 0 {
		t.Errorf("it goes on with %v, %v", r.Command, err)
	}
	if all, err := filepath.Glob(filepath.Join(b.root, ".claude", "projects", "*", "*")); err != nil || len(all) != 1 {
		t.Errorf("files of conversations in the workspace: %v, %v", all, err)
	}
}

func secretsOnCards(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	key := "ghp_" + strings.Repeat("aB3dE6", 6)
	a.prompt(strings.Repeat("x", 4096-30) + " " + key)
	b.write("a", "2")
	s := a.signal(retake.SignalTurnEnd)
	s.Failed = "401 for token " + key
	a.tell(s)
	cp := a.await(func(cp retake.Checkpoint) bool { return cp.Trigger == retake.TriggerTurn })
	if strings.Contains(cp.Turn.Prompt, key[:10]) || strings.Contains(cp.Turn.Failed, key[:10]) {
		t.Errorf("the card says %q and %q", cp.Turn.Prompt, cp.Turn.Failed)
	}
}

func twoUndosAreTold(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.turnOf("one", func() { b.write("a", "2") })
	a.turnOf("two", func() { b.write("a", "3"); a.run("npm publish") })
	b.undo()
	b.undo()
	s := a.signal(retake.SignalPrompt)
	s.Turn, s.Prompt = "again", "again"
	for range 2 { // whoever did not hear the answer asks again
		if r := a.tell(s); !strings.Contains(r.Note, "npm publish") {
			t.Errorf("the note %q does not say what can't be undone", r.Note)
		}
	}
}
