package servicetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
)

func tasksAreKept(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	list := []retake.Task{{ID: "1", Title: "first", Status: retake.TaskCompleted}, {ID: "2", Title: "second", Status: retake.TaskPending}}
	if _, err := b.s.SetTasks(b.ctx(), b.ws.ID, []retake.Task{{Title: "x", Status: "dreaming"}}); !retake.IsKind(err, retake.Invalid) {
		t.Errorf("a status that there is none of: %v", err)
	}
	a := b.agent("codex", "s1")
	a.prompt("do both")
	s := a.signal(retake.SignalTasks)
	s.Tasks = list
	if r := a.tell(s); !r.Later {
		t.Errorf("a task that ends gives %+v", r)
	}
	cp := a.await(func(cp retake.Checkpoint) bool { return cp.Trigger == retake.TriggerTask })
	if cp.Turn.Tasks == nil || cp.Turn.Tasks.Done != 1 || cp.Turn.Tasks.Next != "second" {
		t.Errorf("the checkpoint counts %+v", cp.Turn.Tasks)
	}
	b.reopen()
	if got, err := b.s.Tasks(b.ctx(), b.ws.ID); err != nil || !slices.Equal(got, list) {
		t.Errorf("Tasks: %v, %v", got, err)
	}
	if st, err := b.s.State(b.ctx(), b.ws.ID, string(cp.ID)); err != nil || !slices.Equal(st.Tasks, list) {
		t.Errorf("State: %+v, %v", st.Tasks, err)
	}
}

// line is one line of a transcript as Claude Code writes it.
func (a *agent) line(kind, text string) string {
	b, err := json.Marshal(map[string]any{
		"type": kind, "sessionId": a.id, "uuid": uuid.NewString(), "cwd": a.root, "timestamp": clock.Wall.Now().UTC().Format(time.RFC3339Nano),
		"message": map[string]any{"role": kind, "content": []map[string]string{{"type": "text", "text": text}}},
	})
	a.must(err)
	return string(b) + "\n"
}

func (a *agent) talks(text string) {
	a.Helper()
	f, err := os.OpenFile(a.transcript, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	a.must(err)
	_, err = f.WriteString(text)
	a.must(errors.Join(err, f.Close()))
}

// kept waits for the conversation of a checkpoint and gives its bytes.
func (b *bench) kept(cp retake.Checkpoint) (string, retake.Conversation) {
	b.Helper()
	b.until("the conversation is kept", func() bool {
		st, err := b.s.State(b.ctx(), b.ws.ID, string(cp.ID))
		b.must(err)
		return st.Conversation != nil && (st.Conversation.Complete || strings.Contains(st.Conversation.Missing, "after"))
	})
	r, c, err := b.s.Conversation(b.ctx(), b.ws.ID, string(cp.ID))
	b.must(err)
	text, err := io.ReadAll(r)
	b.must(errors.Join(err, r.Close()))
	return string(text), c
}

func conversationIsKept(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", uuid.NewString())
	a.transcript = filepath.Join(t.TempDir(), a.id+".jsonl")
	a.prompt("one")
	a.talks(a.line("user", "one"))
	cp := a.endWhile("first answer", func() { a.talks(a.line("assistant", "first answer")) }) // flushed after the end was told
	first, c := b.kept(cp)
	if !c.Complete || !strings.Contains(first, "first answer") || len(c.Segments) != 1 {
		t.Fatalf("kept %q: %+v", first, c)
	}
	a.prompt("two")
	a.talks(a.line("user", "two") + a.line("assistant", "second answer"))
	second := a.end("second answer")
	whole, c := b.kept(second)
	if len(c.Segments) != 2 || !strings.HasPrefix(whole, first) || !strings.Contains(whole, "second answer") {
		t.Errorf("the second turn keeps %+v", c)
	}
	if again, _ := b.kept(cp); again != first {
		t.Error("the first turn's conversation changed")
	}
	b.must(os.WriteFile(a.transcript, []byte(a.line("user", "made anew")+a.line("assistant", "third")), 0o600))
	a.prompt("three")
	third := a.end("third")
	if text, c := b.kept(third); len(c.Segments) != 1 || !strings.HasPrefix(text, "{") || strings.Contains(text, "first answer") {
		t.Errorf("a transcript that was written anew is kept as %q", text)
	}
}

func rewindIsTold(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", "s1")
	a.turnOf("one", func() { b.write("a", "2"); a.run("git push origin main") })
	b.undo()
	r := a.prompt("go on")
	for _, want := range []string{`"one" (checkpoint 2) was undone`, "git push origin main", "before you repeat it"} {
		if !strings.Contains(r.Note, want) {
			t.Errorf("the note %q does not say %q", r.Note, want)
		}
	}
	a.end("")
	if r := a.prompt("and on"); r.Note != "" {
		t.Errorf("it is told twice: %q", r.Note)
	}
}

func resumeAfterUndo(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("claude-code", uuid.NewString())
	projects := t.TempDir()
	a.transcript = filepath.Join(projects, ".claude", "projects", "p", a.id+".jsonl")
	b.must(os.MkdirAll(filepath.Dir(a.transcript), 0o700))
	for i, text := range []string{"one", "two"} {
		a.prompt(text)
		a.talks(a.line("user", text) + a.line("assistant", "answer to "+text))
		b.write("a", fmt.Sprint(i+2))
		b.kept(a.end("answer to " + text))
	}
	live, err := os.ReadFile(a.transcript)
	b.must(err)
	b.undo()
	r, err := b.s.Resume(b.ctx(), retake.ResumeRequest{Workspace: b.ws.ID})
	b.must(err)
	if r.Checkpoint.Intent != "one" || !r.Exact || len(r.Command) == 0 || r.Session == a.id {
		t.Fatalf("after the undo of two it goes on with %+v", r)
	}
	now, err := os.ReadFile(a.transcript)
	b.must(err)
	if string(now) != string(live) {
		t.Error("the live transcript was changed")
	}
	fork, err := os.ReadFile(b.forkOf(projects, r.Session))
	b.must(err)
	if !strings.Contains(string(fork), "answer to one") || strings.Contains(string(fork), "answer to two") || strings.Contains(string(fork), a.id) {
		t.Errorf("the fork is\n%s", fork)
	}
	a.resumedTwice(projects, r)
	next := b.agent("claude-code", r.Session)
	if got := next.prompt("again"); got.Note == "" {
		t.Error("the forked session is not told where it stands")
	}
}

// forkOf is the file of a forked session of Claude Code.
func (b *bench) forkOf(projects, id string) string {
	b.Helper()
	all, err := filepath.Glob(filepath.Join(projects, ".claude", "projects", "*", id+".jsonl"))
	b.must(err)
	if len(all) != 1 {
		b.Fatalf("files of the session %s: %v, want one", id, all)
	}
	return all[0]
}

// resumedTwice: to ask again gives the same fork, until somebody goes on with it.
func (a *agent) resumedTwice(projects string, r retake.Resumption) {
	a.Helper()
	req := retake.ResumeRequest{Workspace: a.ws.ID}
	if again, err := a.s.Resume(a.ctx(), req); err != nil || again.Session != r.Session {
		a.Errorf("asked twice, it goes on as %s and %s, %v", r.Session, again.Session, err)
	}
	forked := a.agent("claude-code", r.Session)
	forked.transcript = a.forkOf(projects, r.Session)
	forked.talks(forked.line("user", "went on"))
	if again, err := a.s.Resume(a.ctx(), req); err != nil || again.Session == r.Session {
		a.Errorf("one that was gone on with is given again: %s, %v", again.Session, err)
	}
}

func agentOfAPart(t *testing.T, b *bench) {
	b.write("web/a", "1")
	b.init()
	a := b.agent("codex", "s1")
	s := a.signal(retake.SignalPrompt)
	s.Dir, s.Prompt = filepath.Join(b.root, "web"), "one"
	if r := a.tell(s); r.Workspace != b.ws.ID {
		t.Fatalf("an agent in a part of the workspace: %+v", r)
	}
	b.write("web/a", "2")
	end := a.signal(retake.SignalTurnEnd)
	end.Dir = filepath.Join(b.root, "web")
	a.tell(end)
	if cp := a.await(func(cp retake.Checkpoint) bool { return cp.Trigger == retake.TriggerTurn }); cp.Turn.Dir != "web" {
		t.Errorf("the checkpoint says that the agent was in %q", cp.Turn.Dir)
	}
}

func rebuildKeepsTurns(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("codex", "s1")
	before := a.turnOf("ship", func() { b.write("a", "2"); a.run("git push origin main") })
	_, err := b.s.Rebuild(b.ctx())
	b.must(err)
	after := b.find(string(before.ID))
	if len(after.Effects) != 1 || after.Turn == nil || after.Turn.Prompt != "ship" {
		t.Errorf("after a rebuild the checkpoint is %+v of %+v", after, after.Turn)
	}
}

func savedInTheMiddle(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	a := b.agent("codex", "s1")
	a.prompt("one")
	b.write("a", "2")
	mid := b.save("half way").Checkpoint
	if mid.Turn == nil || mid.Turn.Session != "s1" || mid.Trigger != retake.TriggerManual {
		t.Errorf("a save in the middle of a turn is of %+v", mid.Turn)
	}
	b.write("a", "3")
	a.end("")
	b.undo()
	if got := b.read("a"); got != "1" {
		t.Errorf("undo of the turn leaves %q", got)
	}
	if cp := b.save("after"); cp.Checkpoint.Turn != nil {
		t.Errorf("a save between turns is of %+v", cp.Checkpoint.Turn)
	}
}

// transcriptThatIsNone: whatever an agent names as its transcript, the checkpoint is whole
// and on time.
func transcriptThatIsNone(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	b.must(makeFIFO(fifo))
	link := filepath.Join(dir, "link")
	b.must(os.Symlink("/etc/hostname", link))
	for i, path := range []string{fifo, link, dir, filepath.Join(dir, "gone"), "/dev/zero", "/proc/self/mem"} {
		a := b.agent("claude-code", fmt.Sprintf("s%d", i))
		a.transcript = path
		began := clock.Wall.Now()
		cp := a.turnOf("one", func() { b.write("a", fmt.Sprintf("x%d", i)) })
		if took := clock.Wall.Now().Sub(began); took > soon/2 {
			t.Errorf("%s held the turn up for %s", path, took)
		}
		if cp.Changed.Edited != 1 || cp.Coverage.Grade != retake.Complete {
			t.Errorf("with the transcript %s the checkpoint is %+v", path, cp)
		}
	}
}

// agentDied: a turn whose agent is killed becomes a checkpoint, before whatever comes next,
// and its conversation goes on from there.
func agentDied(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	const dead = 1 << 30 // no process has such a number
	a := b.agent("claude-code", uuid.NewString())
	a.transcript = filepath.Join(t.TempDir(), ".claude", "projects", "p", a.id+".jsonl")
	b.must(os.MkdirAll(filepath.Dir(a.transcript), 0o700))
	a.turn++
	s := a.signal(retake.SignalPrompt)
	s.Prompt, s.PID = "one of five", dead
	a.tell(s)
	a.talks(a.line("user", "one of five") + a.line("assistant", "half of it"))
	tasks := a.signal(retake.SignalTasks)
	tasks.Tasks = []retake.Task{{ID: "1", Title: "first", Status: retake.TaskPending}, {ID: "2", Title: "second", Status: retake.TaskPending}}
	tasks.PID = s.PID
	b.write("a", "2")
	a.tell(tasks)
	r, err := b.s.Resume(b.ctx(), retake.ResumeRequest{Workspace: b.ws.ID})
	b.must(err)
	if cp := r.Checkpoint; cp.Trigger != retake.TriggerTurn || cp.Intent != "one of five" || cp.Turn.Failed == "" || cp.Changed.Edited != 1 {
		t.Errorf("the turn of an agent that died is %+v of %+v", cp, cp.Turn)
	}
	if r.Next == nil || r.Next.Title != "first" || !strings.Contains(r.Note, "second") {
		t.Errorf("the next task is %+v, the note %q", r.Next, r.Note)
	}
	if len(r.Command) == 0 {
		t.Errorf("there is no way to go on: %s", r.Why)
	}
	if got := b.agent("claude-code", r.Session).prompt("go on"); !strings.Contains(got.Note, "second") {
		t.Errorf("who goes on is told %q", got.Note)
	}
}
