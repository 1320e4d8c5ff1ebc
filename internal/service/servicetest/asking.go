package servicetest

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// askings are what a plan asks about, and what its result says.
var askings = map[string]func(*testing.T, *bench){
	"U4_GitLeftBehindIsToldAndAsked":  gitLeftBehind,
	"U4_GitFollowsLater":              gitFollowsLater,
	"U4_OnlyHeadIsAReasonToAsk":       onlyHeadAsks,
	"U8_AnAgentAtWorkIsAskedAbout":    agentAtWork,
	"U8_UndoUnderAnAgentAsks":         undoUnderAnAgent,
	"U9_PlansSpeakOfRows":             plansSpeakOfRows,
	"U10_ReadBackIsSaidWhenItWasDone": readBackIsSaid,
}

func (b *bench) commit(branch, id string) {
	b.Helper()
	b.write(".git/HEAD", "ref: refs/heads/"+branch+"\n")
	b.write(".git/refs/heads/"+branch, strings.Repeat(id, 40)+"\n")
}

func asks(p retake.Plan, class string) *retake.Obstacle {
	if i := slices.IndexFunc(p.Obstacles, func(o retake.Obstacle) bool { return o.Class == class }); i >= 0 {
		return &p.Obstacles[i]
	}
	return nil
}

func gitLeftBehind(t *testing.T, b *bench) {
	b.commit("main", "1")
	b.write("a", "one\n")
	b.init()
	b.commit("feature", "2")
	b.write("a", "two\n")
	b.save("on a branch")
	want := retake.GitLeft{Path: ".git", Now: retake.GitHead{Branch: "feature", Commit: "2222222"}, Then: retake.GitHead{Branch: "main", Commit: "1111111"}, Checkpoint: 1}
	for _, req := range []retake.PlanRequest{{Course: retake.CourseRestore, Ref: "1"}, {Course: retake.CourseUndo}} {
		p := b.plan(req)
		if len(p.Git) != 1 || p.Git[0] != want || asks(p, retake.ObstacleGit) == nil {
			t.Fatalf("%s: git %+v, asks %+v", req.Course, p.Git, p.Obstacles)
		}
		req.Workspace = b.ws.ID
		_, err := b.s.ApplyRestore(b.ctx(), retake.ApplyRequest{PlanRequest: req, Digest: p.Digest})
		wantKind(t, err, retake.Denied)
	}
	res := b.undo()
	if len(res.Git) != 1 || res.Git[0] != want || res.Git[0].Command() != "retake restore 1 --git -- .git" {
		t.Fatalf("git %+v", res.Git)
	}
	if b.read("a") != "one\n" || b.read(".git/HEAD") != "ref: refs/heads/feature\n" {
		t.Error("the undo is not as told")
	}
	if p := b.plan(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1", Git: true}); len(p.Git) > 0 || asks(p, retake.ObstacleGit) != nil {
		t.Errorf("with git: %+v, asks %+v", p.Git, p.Obstacles)
	}
	b.apply(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1", Git: true, Paths: []string{".git"}})
	if b.read(".git/HEAD") != "ref: refs/heads/main\n" {
		t.Error("the command does not move git")
	}
}

func gitFollowsLater(t *testing.T, b *bench) {
	b.commit("main", "1")
	b.write("a", "one\n")
	b.init()
	b.commit("feature", "2")
	b.write("a", "two\n")
	b.save("on a branch")
	b.undo()
	b.write("a", "mine\n")
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2", Git: true})
	if b.read(".git/HEAD") != "ref: refs/heads/main\n" || b.read("a") != "mine\n" {
		t.Errorf("git is at %q, the file has %q", b.read(".git/HEAD"), b.read("a"))
	}
	if p := b.plan(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2", Git: true}); p.Total() > 0 {
		t.Errorf("once more: %v", paths(p.Writes))
	}
	_, err := b.s.PlanRestore(b.ctx(), retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo, Ref: "2"})
	wantKind(t, err, retake.Exists)
}

func onlyHeadAsks(t *testing.T, b *bench) {
	b.commit("main", "1")
	b.write(".git/index", "one")
	b.write(".git/logs/HEAD", "one")
	b.write("a", "one\n")
	b.init()
	b.write(".git/index", "two")
	b.write(".git/logs/HEAD", "two")
	b.write(".git/refs/heads/other", strings.Repeat("3", 40))
	b.write("a", "two\n")
	b.save("git add")
	if p := b.plan(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1"}); len(p.Git) > 0 || len(p.Obstacles) > 0 {
		t.Errorf("git %+v, asks %+v", p.Git, p.Obstacles)
	}
	b.commit("main", "4")
	b.save("commit")
	if p := b.plan(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1", Paths: []string{"a"}}); len(p.Git) > 0 || len(p.Obstacles) > 0 {
		t.Errorf("one file: git %+v, asks %+v", p.Git, p.Obstacles)
	}
}

// besideAnAgent saves two versions of a file; then an agent that runs in this process begins a turn.
func besideAnAgent(b *bench) *agent {
	b.write("a", "one\n")
	b.init()
	b.write("a", "two\n")
	b.save("mine")
	a := b.agent("claude-code", "s1")
	a.turn++
	s := a.signal(retake.SignalPrompt)
	s.Prompt, s.PID = "go on", os.Getpid()
	a.tell(s)
	return a
}

func agentAtWork(t *testing.T, b *bench) {
	a := besideAnAgent(b)
	req := retake.PlanRequest{Course: retake.CourseRestore, Ref: "1"}
	p := b.plan(req)
	o := asks(p, retake.ObstacleAgentWorking)
	if o == nil || !strings.HasPrefix(o.Text, "Claude Code has been working here for ") || len(p.Working) != 1 || p.Working[0].Session != "s1" {
		t.Fatalf("asks %+v, working %+v", p.Obstacles, p.Working)
	}
	req.Workspace = b.ws.ID
	_, err := b.s.ApplyRestore(b.ctx(), retake.ApplyRequest{PlanRequest: req, Digest: p.Digest})
	wantKind(t, err, retake.Denied)
	req.Asker = os.Getpid() // the agent itself, or what it runs
	if p := b.plan(req); asks(p, retake.ObstacleAgentWorking) != nil {
		t.Errorf("it is asked about itself: %+v", p.Obstacles)
	}
	_, err = b.s.ApplyRestore(b.ctx(), retake.ApplyRequest{PlanRequest: req, Digest: p.Digest})
	b.must(err)
	a.end("done")
	if p := b.plan(retake.PlanRequest{Course: retake.CourseRestore, Ref: "2"}); asks(p, retake.ObstacleAgentWorking) != nil {
		t.Errorf("after the turn: %+v", p.Obstacles)
	}
}

// undoUnderAnAgent: undo in the middle of a turn asks first, and touches nothing until then.
func undoUnderAnAgent(t *testing.T, b *bench) {
	besideAnAgent(b)
	req := retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo}
	p := b.plan(req)
	if asks(p, retake.ObstacleAgentWorking) == nil {
		t.Errorf("undo under an agent asks %+v", p.Obstacles)
	}
	_, err := b.s.ApplyRestore(b.ctx(), retake.ApplyRequest{PlanRequest: req, Digest: p.Digest})
	wantKind(t, err, retake.Denied)
	if b.read("a") != "two\n" {
		t.Error("it was undone without an answer")
	}
	b.undo() // with the answer
	if b.read("a") != "one\n" {
		t.Error("with the answer it was not undone")
	}
}

func readBackIsSaid(t *testing.T, b *bench) {
	b.shop()
	b.wreck()
	b.save("wrecked")
	req := retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRestore, Ref: "1"}, ID: "cp_0190f3a1-2b4c-7d5e-8f60-718293a4b5c6"}
	p := b.plan(req.PlanRequest)
	req.Digest = p.Digest
	for _, o := range p.Obstacles {
		req.Accept = append(req.Accept, o.Class)
	}
	for i, want := range []bool{true, false} { // asked again, nothing is read
		res, err := b.s.ApplyRestore(b.ctx(), req)
		b.must(err)
		if res.ReadBack != want {
			t.Errorf("time %d: read back %v", i+1, res.ReadBack)
		}
	}
}

func plansSpeakOfRows(t *testing.T, b *bench) {
	b.write("data/shop.db", database("tea", "bowl", "cup"))
	b.write(".env", "A=1\nB=2\n")
	b.init()
	if !b.reading() {
		t.Skip("there is no child to read them in")
	}
	b.write("data/shop.db", database("tea"))
	b.write(".env", "A=1\n")
	b.save("lost rows")
	want := map[string]string{"data/shop.db": "t 1 → 3 rows", ".env": "+B"}
	var got map[string]string
	for range 100 { // a busy machine may be too late for one plan, and remembers for the next
		got = map[string]string{}
		for _, s := range b.plan(retake.PlanRequest{Course: retake.CourseUndo}).Writes {
			if s.Means != "" {
				got[s.Path] = s.Means
			}
		}
		if len(got) > 0 {
			break
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the plan says %v, want %v", got, want)
	}
	b.write("data/shop.db", database("tea", "jar")) // not stored
	for range 100 {
		p := b.plan(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1", Paths: []string{"data/shop.db"}})
		if got = map[string]string{"data/shop.db": p.Writes[0].Means}; p.Writes[0].Means != "" {
			break
		}
	}
	if got["data/shop.db"] != "t 2 → 3 rows" {
		t.Errorf("of a live file it says %v", got)
	}
}
