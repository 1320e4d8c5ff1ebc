package mcp_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/mcp"
)

// Every tool does what it says, once.
func TestEveryToolAnswers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("a.txt", "one\nTWO\n")
	d.write("new.txt", "n\n")

	cp := d.good("checkpoint", args{"intent": "loud two", "pin": "loud"})
	if at[float64](t, cp, "number") != 2 || at[float64](t, cp, "changed", "edited") != 1 || at[string](t, cp, "coverage") != "complete" || at[string](t, cp, "pin") != "loud" {
		t.Errorf("checkpoint: %v", cp)
	}
	tl := d.good("timeline", args{})
	first := at[[]any](t, tl, "moments")[0]
	if at[string](t, first, "intent") != "loud two" || at[[]any](t, first, "pins")[0] != "loud" || at[string](t, first, "trigger") != "manual" || at[string](t, first, "time") != "2026-11-03T10:27:00Z" {
		t.Errorf("timeline: %v", tl)
	}
	df := d.good("diff", args{"from": "1", "to": "2", "paths": []string{"a.txt"}})
	if got := at[string](t, df, "lines"); got != "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n" {
		t.Errorf("lines: %q", got)
	}
	file := d.good("show_file", args{"ref": "1", "path": "a.txt"})
	if at[string](t, file, "text") != "one\ntwo\n" || !at[bool](t, file, "exact") {
		t.Errorf("file: %v", file)
	}
	d.goBack(args{"ref": "1"})
	if d.read("a.txt") != "one\ntwo\n" || d.read("new.txt") != "absent" {
		t.Errorf("restored: %q %q", d.read("a.txt"), d.read("new.txt"))
	}
	fork := d.good("fork", args{"ref": "2"})
	if b, err := os.ReadFile(filepath.Join(at[string](t, fork, "path"), "a.txt")); string(b) != "one\nTWO\n" || at[string](t, fork, "path") != d.root()+"-fork" {
		t.Errorf("fork: %v %q %v", fork, b, err)
	}
	for range 2 { // the second time adds nothing
		if pin := d.good("pin", args{"ref": "1", "name": "clean"}); at[float64](t, pin, "number") != 1 {
			t.Errorf("pin: %v", pin)
		}
	}
}

// What an agent tells by signals and by tools is one story: its list, and how it goes on.
func TestTasksAndResume(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if p := d.bad("resume", args{}); p.Kind != string(retake.NotFound) {
		t.Errorf("nobody worked here: %+v", p)
	}
	d.tell(retake.Signal{Kind: retake.SignalSessionStart})
	d.tell(retake.Signal{Kind: retake.SignalPrompt, Turn: "t1", Prompt: "add a parser"})
	tasks := d.good("tasks", args{"tasks": []args{{"title": "write", "status": "completed"}, {"id": "t", "title": "test", "status": "pending"}}})
	if at[float64](t, tasks, "done") != 1 || at[float64](t, tasks, "total") != 2 || at[string](t, tasks, "next") != "test" {
		t.Errorf("tasks: %v", tasks)
	}
	d.write("parser.txt", "p")
	d.tell(retake.Signal{Kind: retake.SignalTurnEnd, Turn: "t1", Message: "done"})
	read := d.good("tasks", args{})
	rows := at[[]any](t, read, "tasks")
	if len(rows) != 2 || at[string](t, rows[0], "id") != "1" || at[string](t, rows[1], "id") != "t" {
		t.Errorf("tasks, read: %v", read)
	}
	res := d.good("resume", args{})
	if at[string](t, res, "agent") != "claude-code" || at[string](t, res, "next") != "test" {
		t.Errorf("resume: %v", res)
	}
	if a := d.ask("timeline", args{}); !strings.Contains(a.text, `"add a parser"`) {
		t.Errorf("the prompt is not told: %s", a.text)
	}
	if all := d.good("tasks", args{"tasks": []args{}}); at[float64](t, all, "total") != 0 {
		t.Errorf("an empty list: %v", all)
	}
}

// resume only looks, and begins with the newest checkpoint. The session of the agent's own
// command is made when a person runs ours.
func TestA4_ResumeNamesACommandThatWorks(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	e := &ears{Service: d.s, resumption: retake.Resumption{
		Checkpoint: retake.Checkpoint{Number: 60}, Agent: "codex", Session: "s1", Command: []string{"codex", "resume", "s 1"}, Note: "Go on.",
	}}
	c := d.connect(e, mcp.Options{Dir: d.root()}, "")
	for _, ref := range []string{"latest", "1"} {
		in := args{"ref": ref}
		if ref == "latest" {
			in = args{}
		}
		a := askOver(t, c, "resume", in)
		if got := e.asked[len(e.asked)-1]; !got.Look || got.Ref != ref || !strings.Contains(a.text, "a person runs: retake resume 60\n") || !strings.Contains(a.text, "| Go on.") {
			t.Errorf("asked %+v: %s", got, a.text)
		}
	}
}

// tell is a signal of an agent that works in the workspace.
func (d *desk) tell(s retake.Signal) {
	d.Helper()
	s.ID = retake.SignalID(retake.SignalPrefix + uuid.NewString())
	s.Time, s.Agent, s.Session, s.Dir = d.clock.Now(), "claude-code", "0f3a", d.root()
	ctx, cancel := context.WithTimeout(d.Context(), time.Minute)
	defer cancel()
	r, err := d.s.Observe(ctx, s)
	must(d.T, err)
	for r.Later { // it is done when its checkpoint is there
		cp := retake.CheckpointPrefix + strings.TrimPrefix(string(s.ID), retake.SignalPrefix)
		_, err := d.s.Find(ctx, r.Workspace, cp)
		if !retake.IsKind(err, retake.NotFound) {
			must(d.T, err)
			return
		}
		runtime.Gosched()
	}
}

// goBack plans and applies.
func (d *desk) goBack(in args) map[string]any {
	d.Helper()
	plan := d.good("restore", in)
	in["digest"] = at[string](d.T, plan, "plan", "digest")
	res := d.good("restore", in)
	if !at[bool](d.T, res, "applied") || at[bool](d.T, plan, "applied") {
		d.Errorf("plan %v, result %v", plan, res)
	}
	return res
}

// The second fork without a directory finds another name; the three ways between checkpoints
// lead where they say.
func TestForkAndCourses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	must(t, os.MkdirAll(d.root()+"-fork", 0o755))
	d.write("a.txt", "three\n")
	d.good("checkpoint", args{"intent": "three"})
	if f := d.good("fork", args{"ref": "1"}); at[string](t, f, "path") != d.root()+"-fork-2" {
		t.Errorf("fork: %v", f)
	}
	elsewhere := filepath.Join(d.area, "else")
	if f := d.good("fork", args{"ref": "1", "dir": elsewhere}); at[string](t, f, "path") != elsewhere {
		t.Errorf("fork: %v", f)
	}
	d.goBack(args{"course": "undo"})
	if d.read("a.txt") != "one\ntwo\n" {
		t.Errorf("undone: %q", d.read("a.txt"))
	}
	d.goBack(args{"course": "redo"})
	if d.read("a.txt") != "three\n" {
		t.Errorf("redone: %q", d.read("a.txt"))
	}
	d.write("src/b.txt", "other\n")
	d.good("checkpoint", args{"intent": "other"})
	d.goBack(args{"ref": "start", "paths": []string{d.at("src")}})
	if d.read("src/b.txt") != "b\n" || d.read("a.txt") != "three\n" {
		t.Errorf("only src: %q %q", d.read("src/b.txt"), d.read("a.txt"))
	}
	if plan := d.good("restore", args{"ref": "latest"}); !at[bool](t, plan, "plan", "idle") {
		t.Errorf("nothing to do: %v", plan)
	}
}
