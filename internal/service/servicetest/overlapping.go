package servicetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// edit writes a file as a file tool of the agent does, with its signals.
func (a *agent) edit(path, text string) {
	a.Helper()
	for _, kind := range []retake.SignalKind{retake.SignalCall, retake.SignalCalled} {
		s := a.signal(kind)
		s.Call = &retake.Call{ID: "w-" + path, Tool: "Write", Kind: retake.CallWrite, Paths: []string{a.at(path)}}
		a.tell(s)
		a.write(path, text)
	}
}

// undoBesideAnotherSession: undo of a turn takes back what that session wrote, leaves what the
// other one wrote, and asks about what cannot be told apart.
func undoBesideAnotherSession(t *testing.T, b *bench) {
	b.write("src/app.ts", "1\n")
	b.init()
	one, two := b.agent("claude-code", "aaaa1111"), b.agent("codex", "bbbb2222")
	one.prompt("write the invoice module")
	two.prompt("fix the css")
	one.edit("src/inv/a.ts", "a\n")
	two.edit("src/ui/style.css", "css\n")
	b.write("src/made.txt", "by a shell of one of them\n")
	css := two.end("done")
	one.edit("src/inv/b.ts", "b\n")
	one.end("done")

	p := b.plan(retake.PlanRequest{Course: retake.CourseUndo, Ref: string(css.ID)})
	if !slices.Equal(files(p.Deletes), []string{"src/ui/style.css"}) {
		t.Errorf("undo of the css turn deletes %v", files(p.Deletes))
	}
	var kept []string
	for _, k := range p.Keeps {
		if k.Why == retake.KeepOverlap {
			kept = append(kept, k.Path)
		}
	}
	if !slices.Equal(kept, []string{"src/inv/a.ts", "src/made.txt"}) || !slices.ContainsFunc(p.Obstacles, func(o retake.Obstacle) bool { return o.Class == retake.ObstacleOverlap }) {
		t.Errorf("kept %v, obstacles %+v", kept, p.Obstacles)
	}
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: string(css.ID)})
	if b.gone("src/ui/style.css"); b.read("src/inv/a.ts") != "a\n" || b.read("src/inv/b.ts") != "b\n" {
		t.Error("work of the other session was undone")
	}
	b.undo() // the invoice module: all that it is known to have written, in one step
	b.gone("src/inv/a.ts")
	b.gone("src/inv/b.ts")
	if b.read("src/made.txt") == "" || b.read("src/app.ts") != "1\n" {
		t.Error("a file that cannot be told apart was undone")
	}
}

// undoOfInterleavedTurns: a turn is one item also when checkpoints of another one lie between its own.
func undoOfInterleavedTurns(t *testing.T, b *bench) {
	b.write("doomed", "1\n")
	b.write("too", "1\n")
	b.init()
	one, two := b.agent("claude-code", "aaaa1111"), b.agent("codex", "bbbb2222")
	one.prompt("first")
	two.prompt("second")
	one.edit("one-early", "1\n")
	one.run("rm doomed")
	two.edit("two-early", "1\n")
	two.run("rm too")
	one.edit("one-late", "1\n")
	one.end("done")
	two.edit("two-late", "1\n")
	two.end("done")
	if p := b.plan(retake.PlanRequest{Course: retake.CourseUndo}); p.Target == nil || p.Target.Turn == nil || p.Target.Turn.Session != two.id || !slices.Equal(files(p.Deletes), []string{"two-early", "two-late"}) {
		t.Errorf("undo takes back %v: %v", p.Target, files(p.Deletes))
	}
	b.undo()
	if p := b.plan(retake.PlanRequest{Course: retake.CourseUndo}); !slices.Equal(files(p.Deletes), []string{"one-early", "one-late"}) {
		t.Errorf("the second undo takes back %v", files(p.Deletes))
	}
}

func undoOfARange(t *testing.T, b *bench) {
	b.write("a", "0\n")
	b.init()
	for _, n := range []string{"1", "2", "3"} {
		b.write("a", n+"\n")
		b.write("made-"+n, n)
		b.save("change " + n)
	}
	p := b.plan(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2..3"})
	if p.Target == nil || p.Target.Number != 3 || !slices.Equal(p.Also, []int64{2}) {
		t.Fatalf("the range takes back %v and %v", p.Target, p.Also)
	}
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2..3"})
	b.gone("made-1")
	b.gone("made-2")
	if b.read("made-3") != "3" {
		t.Error("a change after the range was undone")
	}
	if p := b.plan(retake.PlanRequest{Course: retake.CourseUndo}); p.Target == nil || p.Target.Number != 4 {
		t.Errorf("then undo takes back %v", p.Target)
	}
	b.redo()
	if b.read("made-1") != "1" || b.read("made-2") != "2" || b.read("a") != "3\n" {
		t.Error("redo did not bring the range again")
	}
}

// undoOfASession takes back the turns of one session and keeps what was edited between them.
func undoOfASession(t *testing.T, b *bench) {
	b.write("notes", "mine\n")
	b.init()
	a := b.agent("claude-code", "aaaa1111")
	a.turnOf("one", func() { b.write("one", "1\n") })
	b.write("notes", "mine, edited between two turns\n")
	a.turnOf("two", func() { b.write("two", "2\n") })
	b.write("saved", "by hand\n")
	b.save("by hand")
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Session: "last"})
	b.gone("one")
	b.gone("two")
	if b.read("notes") != "mine, edited between two turns\n" || b.read("saved") != "by hand\n" {
		t.Error("undo of a session took edits of the user")
	}
}

// files are the steps that are of no directory.
func files(steps []retake.Step) []string {
	var out []string
	for _, s := range steps {
		if s.Now == nil || s.Now.Kind != retake.KindDir {
			out = append(out, s.Path)
		}
	}
	slices.Sort(out)
	return out
}

// undoOfAHunk takes some lines of one file back: the rest of the change and later edits stay,
// nobody takes the turn for undone, and redo brings the lines again.
func undoOfAHunk(t *testing.T, b *bench) {
	lines := func(first, last string) string {
		return first + "\n" + strings.Repeat("between\n", 20) + last + "\n"
	}
	b.write("a", lines("one", "two"))
	b.init()
	b.write("a", lines("ONE", "TWO"))
	b.write("b", "beside\n")
	b.save("both ends")
	b.write("a", "mine\n"+lines("ONE", "TWO"))
	req := retake.PlanRequest{Course: retake.CourseUndo, Ref: "2", From: "1", Paths: []string{"a"}, Hunks: []retake.Hunk{{OldStart: 22, OldLines: 1, NewStart: 22, NewLines: 1}}}
	if p := b.plan(req); len(p.Merges) != 1 || p.Total() != 1 {
		t.Fatalf("the plan is %+v", p)
	}
	b.apply(req)
	if got := b.read("a"); got != "mine\n"+lines("ONE", "two") || b.read("b") != "beside\n" {
		t.Errorf("one hunk back gives %q", got)
	}
	if p := b.plan(req); p.Total() != 0 {
		t.Errorf("a hunk that is back already is undone again: %+v", p.Merges)
	}
	for _, paths := range [][]string{nil, {"a"}} {
		if p := b.plan(retake.PlanRequest{Course: retake.CourseUndo, Paths: paths}); p.Target == nil || p.Target.Number != 2 {
			t.Errorf("after a hunk, undo of %v takes back %v", paths, p.Target)
		}
	}
	b.redo()
	if got := b.read("a"); got != "mine\n"+lines("ONE", "TWO") {
		t.Errorf("redo gives %q", got)
	}
	b.write("a", lines("ONE", "three"))
	b.save("the same line again")
	p := b.plan(req)
	if p.Total() != 0 || len(p.Keeps) != 1 || p.Keeps[0].Why != retake.KeepConflict || p.Keeps[0].Side != "" {
		t.Errorf("lines that changed since: %+v %+v", p.Merges, p.Keeps)
	}
	for name, bad := range map[string]retake.PlanRequest{
		"no from":     {Ref: "2", Paths: []string{"a"}},
		"no ref":      {From: "1", Paths: []string{"a"}},
		"two paths":   {Ref: "2", From: "1", Paths: []string{"a", "b"}},
		"no path":     {Ref: "2", From: "1"},
		"a pattern":   {Ref: "2", From: "1", Paths: []string{"*"}},
		"wrong order": {Ref: "1", From: "2", Paths: []string{"a"}},
	} {
		bad.Workspace, bad.Course, bad.Hunks = b.ws.ID, retake.CourseUndo, req.Hunks
		if _, err := b.s.PlanRestore(b.ctx(), bad); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, hunk := range []retake.Hunk{{OldStart: 0, OldLines: 1, NewStart: 1, NewLines: 1}, {OldStart: 1, OldLines: 1 << 62, NewStart: 1, NewLines: 1}, {OldStart: 1, OldLines: -1, NewStart: 1, NewLines: 1}} {
		req.Hunks = []retake.Hunk{hunk}
		if p := b.plan(req); p.Total() != 0 {
			t.Errorf("a hunk that is not there: %+v", p.Merges)
		}
	}
}
