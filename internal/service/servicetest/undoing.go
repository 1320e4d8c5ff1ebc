package servicetest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

func undoAndRedo(t *testing.T, b *bench) {
	b.write("a", "1")
	b.init()
	var states []string
	for _, text := range []string{"2", "3", "4"} {
		states = append(states, b.tree(b.root))
		b.write("a", text)
		b.write("only-"+text, text)
		b.save("turn " + text)
	}
	states = append(states, b.tree(b.root))
	for i := 2; i >= 0; i-- {
		b.undo()
		if b.read("a") != string(rune('1'+i)) {
			t.Fatalf("undo %d: a is %q", 3-i, b.read("a"))
		}
	}
	_, err := b.s.PlanRestore(b.ctx(), retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo})
	wantKind(t, err, retake.NotFound)
	b.redo()
	b.redo()
	b.wantTree(states[2], "after three undos and two redos")
	b.undo()
	b.wantTree(states[1], "after one more undo")
	b.write("b", "a new change")
	b.save("new")
	_, err = b.s.PlanRestore(b.ctx(), retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRedo})
	wantKind(t, err, retake.NotFound)
	b.undo()
	b.gone("b")
	b.undo()
	if b.read("a") != "1" {
		t.Errorf("undo after a new change: a is %q", b.read("a"))
	}
	b.redo()
	b.redo()
	if b.read("b") != "a new change" {
		t.Error("redo did not reach the new change")
	}
}

// undoKeepsEdits: undo takes back the last recorded change, and unsaved edits stay.
func undoKeepsEdits(t *testing.T, b *bench) {
	b.write("a", "one\n")
	b.write("poem", poem)
	b.init()
	b.write("a", "two\n")
	b.write("poem", "ONE\n"+poem[4:])
	b.save("turn")
	b.write("poem", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n")
	b.write("mine", "mine\n")
	p := b.plan(retake.PlanRequest{Course: retake.CourseUndo})
	if p.Target == nil || p.Target.Number != 2 {
		t.Fatalf("undo takes back %v, want checkpoint 2", p.Target)
	}
	if p.Edits == nil || p.Edits.Unsaved != 2 {
		t.Errorf("the plan says of unsaved edits: %+v", p.Edits)
	}
	b.undo()
	if b.read("a") != "one\n" || b.read("mine") != "mine\n" || b.read("poem") != "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n" {
		t.Errorf("after undo a is %q, mine %q, poem %q", b.read("a"), b.read("mine"), b.read("poem"))
	}
	b.redo()
	if b.read("a") != "two\n" || b.read("mine") != "mine\n" || b.read("poem") != "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n" {
		t.Errorf("after redo a is %q, mine %q, poem %q", b.read("a"), b.read("mine"), b.read("poem"))
	}
}

// undoBelowADirectory: paths are a scope. Undo takes back the newest change below them, and redo
// brings the same part again.
func undoBelowADirectory(t *testing.T, b *bench) {
	b.write("web/a", "1\n")
	b.write("api/b", "1\n")
	b.init()
	b.write("web/a", "2\n")
	b.write("api/b", "2\n")
	b.save("both")
	b.write("api/b", "3\n")
	b.save("api only")
	web := retake.PlanRequest{Course: retake.CourseUndo, Paths: []string{"web"}}
	if p := b.plan(web); p.Target == nil || p.Target.Number != 2 || p.Total() != 1 {
		t.Fatalf("undo in web takes back %v, %d paths", p.Target, p.Total())
	}
	b.apply(web)
	if b.read("web/a") != "1\n" || b.read("api/b") != "3\n" {
		t.Errorf("web/a is %q, api/b is %q", b.read("web/a"), b.read("api/b"))
	}
	web.Workspace = b.ws.ID
	_, err := b.s.PlanRestore(b.ctx(), web)
	wantKind(t, err, retake.NotFound)
	b.redo()
	if b.read("web/a") != "2\n" || b.read("api/b") != "3\n" {
		t.Errorf("after redo web/a is %q, api/b is %q", b.read("web/a"), b.read("api/b"))
	}
	if p := b.plan(retake.PlanRequest{Course: retake.CourseUndo}); p.Target == nil || p.Target.Number != 3 {
		t.Errorf("undo of everything takes back %v", p.Target)
	}
}

// undoDiscardsEdits: --edits takes back what is in no checkpoint, and nothing else.
func undoDiscardsEdits(t *testing.T, b *bench) {
	b.write("a", "one\n")
	b.init()
	b.write("a", "two\n")
	b.save("turn")
	turn := b.tree(b.root)
	none := retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo, Edits: true}
	_, err := b.s.PlanRestore(b.ctx(), none)
	wantKind(t, err, retake.NotFound)
	b.write("a", "three\n")
	b.write("mine", "mine\n")
	edited := b.tree(b.root)
	if p := b.plan(none); p.Target != nil {
		t.Errorf("the unsaved edits are checkpoint %d", p.Target.Number)
	}
	b.apply(none)
	b.wantTree(turn, "after the edits were discarded")
	b.redo()
	b.wantTree(edited, "after they were brought again")
	b.undo()
	if b.read("a") != "three\n" || b.read("mine") != "mine\n" {
		t.Error("undo after redo took the edits, which were never saved")
	}
}

// onlyEditsAreLeft: without a recorded change, undo touches nothing and says how edits go.
func onlyEditsAreLeft(t *testing.T, b *bench) {
	b.write("a", "one\n")
	b.init()
	b.write("a", "two\n")
	_, err := b.s.PlanRestore(b.ctx(), retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo})
	wantKind(t, err, retake.NotFound)
	if e := retake.AsError(err); !strings.Contains(e.Hint, "retake undo --edits") {
		t.Errorf("the hint is %q", e.Hint)
	}
}

// undoNeverPassesOver: the newest recorded change is taken back, whatever it touched.
func undoNeverPassesOver(t *testing.T, b *bench) {
	for _, only := range []struct {
		name   string
		change func()
		back   func() bool
		asks   string
	}{
		{"a database", func() { b.write("app.db", "no users\n") }, func() bool { return b.read("app.db") == "users\n" }, ""},
		{"build output", func() { b.write("dist/app.js", "2") }, func() bool { return b.read("dist/app.js") == "1" }, ""},
		{"deleted output", func() { b.remove("dist/app.js") }, func() bool { return b.read("dist/app.js") == "1" }, ""},
		{"a deleted log", func() { b.remove("dev.log") }, func() bool { return b.read("dev.log") == "started\n" }, ""},
		{"git", func() { b.write(".git/HEAD", "ref: refs/heads/other\n") }, func() bool { return b.read(".git/HEAD") == "ref: refs/heads/main\n" }, retake.ObstacleGit},
	} {
		b.write("app.db", "users\n")
		b.write("dist/app.js", "1")
		b.write("dev.log", "started\n")
		b.write(".git/HEAD", "ref: refs/heads/main\n")
		b.write("app.js", "v1\n")
		if b.ws.ID == "" {
			b.init()
		}
		b.write("app.js", "my precious work\n")
		b.save("my precious work")
		only.change()
		last := b.save("only " + only.name)
		p := b.plan(retake.PlanRequest{Course: retake.CourseUndo})
		if p.Target == nil || p.Target.ID != last.Checkpoint.ID || p.Total() == 0 {
			t.Fatalf("%s: undo would take back %v, %d paths", only.name, p.Target, p.Total())
		}
		if asks := slices.ContainsFunc(p.Obstacles, func(o retake.Obstacle) bool { return o.Class == only.asks }); asks != (only.asks != "") {
			t.Errorf("%s: obstacles %+v", only.name, p.Obstacles)
		}
		b.undo()
		if !only.back() || b.read("app.js") != "my precious work\n" {
			t.Errorf("%s was not taken back, or the work before it was", only.name)
		}
	}
}

// undoBringsDeletedOutputBack: discarding edits brings deleted build output and databases back.
func undoBringsDeletedOutputBack(t *testing.T, b *bench) {
	b.write("dist/app.js", "1")
	b.write("app.db", "users\n")
	b.write("dev.log", "1\n")
	b.write("src/a", "1\n")
	b.init()
	b.remove("dist/app.js")
	b.write("app.db", "dropped\n")
	b.write("dev.log", "1\n2\n")
	b.write("src/a", "2\n")
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Edits: true})
	if b.read("dist/app.js") != "1" || b.read("app.db") != "users\n" || b.read("src/a") != "1\n" {
		t.Error("an edit was not discarded")
	}
	if b.read("dev.log") != "1\n2\n" {
		t.Error("a log that went on was set back beside other edits")
	}
}

// undoSaysWhatIsLeft: of an item that changed again since, nothing is left; the next one is named.
func undoSaysWhatIsLeft(t *testing.T, b *bench) {
	b.write("a", "1\n")
	b.write("b", "1\n")
	b.init()
	b.write("a", "2\n")
	b.save("first")
	b.write("b", "2\n")
	b.save("second")
	b.write("b", "1\n") // by hand
	p := b.plan(retake.PlanRequest{Course: retake.CourseUndo})
	if p.Target == nil || p.Target.Number != 3 || p.Total() != 0 || p.Next != 2 {
		t.Fatalf("the plan takes back %v, %d paths, next is %d", p.Target, p.Total(), p.Next)
	}
}

const poem = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n"

func undoInTheMiddle(t *testing.T, b *bench) {
	b.write("a", "1")
	b.write("b", "1")
	b.init()
	b.write("a", "2")
	b.save("a") // 2
	b.write("b", "2")
	b.save("b") // 3
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"})
	if b.read("a") != "1" || b.read("b") != "2" {
		t.Errorf("a %q, b %q", b.read("a"), b.read("b"))
	}
	_, err := b.s.PlanRestore(b.ctx(), retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo, Ref: "2"})
	wantKind(t, err, retake.Exists)
	_, err = b.s.PlanRestore(b.ctx(), retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo, Ref: "1"})
	wantKind(t, err, retake.Invalid)
}

func undoMerges(t *testing.T, b *bench) {
	b.write("poem", poem)
	b.init()
	b.write("poem", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n")
	b.save("the agent's edit")
	b.write("poem", "ONE\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n")
	b.save("a person's typo fix")
	p := b.plan(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"})
	if len(p.Merges) != 1 || p.Merges[0].Merge.Theirs != 1 || p.Merges[0].Merge.Yours != 1 || len(p.Writes) != 0 {
		t.Fatalf("merges %+v, writes %v", p.Merges, paths(p.Writes))
	}
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"})
	if got := b.read("poem"); got != "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\n" {
		t.Errorf("merged to %q", got)
	}
}

func undoConflict(t *testing.T, b *bench) {
	b.write("poem", poem)
	b.write("came", "")
	b.init()
	b.write("poem", "ONE\n"+poem[4:])
	b.write("new", "theirs\n")
	b.remove("came")
	b.save("turn")
	b.write("poem", "One\n"+poem[4:])
	b.write("new", "mine\n")
	b.write("came", "again\n")
	b.save("mine")
	p := b.plan(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"})
	if p.Total() != 0 || len(p.Keeps) != 3 {
		t.Fatalf("plan %+v", p)
	}
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"})
	if b.read("poem") != "One\n"+poem[4:] || b.read("poem.before-2") != poem {
		t.Error("a conflict was not left with a copy beside it")
	}
	if b.read("new") != "mine\n" || b.read("came") != "again\n" || b.read("came.before-2") != "" {
		t.Error("files of both sides were not left")
	}
	b.gone("new.before-2")
}

// undoKeepsOutputs: what a server writes all the time is no conflict and no edit.
func undoKeepsOutputs(t *testing.T, b *bench) {
	b.write("src/a", "1")
	b.write("data/dev.db", "1")
	b.write("dist/app.js", "1")
	b.init()
	b.write("src/a", "2")
	b.write("data/dev.db", "2")
	b.write("dist/app.js", "2")
	b.save("turn")
	b.write("data/dev.db", "3")
	b.write("data/dev.db-wal", "3")
	b.write("dist/app.js", "3")
	p := b.plan(retake.PlanRequest{Course: retake.CourseUndo})
	if p.Target == nil || p.Target.Number != 2 || !sameSet(paths(p.Writes), []string{"src/a"}) || len(p.Obstacles) != 0 {
		t.Fatalf("plan of %v: %v, obstacles %v", p.Target, paths(p.Writes), p.Obstacles)
	}
	for _, k := range p.Keeps {
		if k.Why != retake.KeepVolatile {
			t.Errorf("%s is kept as %s", k.Path, k.Why)
		}
	}
	b.undo()
	if b.read("src/a") != "1" || b.read("data/dev.db") != "3" || b.read("data/dev.db-wal") != "3" || b.read("dist/app.js") != "3" {
		t.Error("an output was undone, or an edit was not")
	}
}

func undoRestore(t *testing.T, b *bench) {
	b.shop()
	b.wreck()
	b.save("wrecked")
	wrecked := b.tree(b.root)
	b.restore("1")
	b.undo()
	b.wantTree(wrecked, "after the restore was undone")
	b.redo()
	if b.read("src/app.go") != "package app\n" {
		t.Error("the restore did not come again")
	}
}

func forkAndAdopt(t *testing.T, b *bench) {
	before := b.shop()
	b.wreck()
	b.save("wrecked")
	dir := filepath.Join(filepath.Dir(b.root), "trial")
	res, err := b.s.Fork(b.ctx(), retake.ForkRequest{Workspace: b.ws.ID, Ref: "1", Dir: dir})
	b.must(err)
	if got := b.tree(dir); got != before {
		t.Fatalf("the fork is not what it forked from:\n--- want\n%s\n--- got\n%s", before, got)
	}
	if res.Checkpoint.Number != 1 || res.Checkpoint.Parent != res.Origin.ID || res.Checkpoint.Tree != res.Origin.Tree {
		t.Errorf("the first checkpoint of a fork: %+v", res.Checkpoint)
	}
	same, err := b.s.Save(b.ctx(), retake.SaveRequest{Workspace: res.Workspace.ID, IfChanged: true})
	b.must(err)
	if same.Recorded {
		t.Errorf("a fork that was not touched differs from its first checkpoint: %+v", same.Checkpoint.Changed)
	}
	b.reopen() // a fork outlives whoever made it
	b.must(os.WriteFile(filepath.Join(dir, "src/feature.go"), []byte("package feature\n"), 0o644))
	b.must(os.Remove(filepath.Join(dir, "docs/faq.md")))
	b.restore("1")
	b.write("src/app.go", "package mine\n")
	b.save("mine")
	forks, err := b.s.Forks(b.ctx(), b.ws.ID)
	b.must(err)
	if len(forks) != 1 || forks[0].ID != res.Workspace.ID || forks[0].Origin.Number != 1 {
		t.Fatalf("forks %+v", forks)
	}
	b.apply(retake.PlanRequest{Course: retake.CourseAdopt, Fork: res.Workspace.ID})
	if b.read("src/feature.go") != "package feature\n" || b.read("src/app.go") != "package mine\n" {
		t.Error("the fork was not adopted beside what changed here")
	}
	b.gone("docs/faq.md")
	b.undo()
	if b.gone("src/feature.go"); b.read("docs/faq.md") != "questions\n" {
		t.Error("an adopt cannot be undone")
	}
	_, err = b.s.Fork(b.ctx(), retake.ForkRequest{Workspace: b.ws.ID, Ref: "1", Dir: dir})
	wantKind(t, err, retake.Exists)
}

// A fork asks before it writes a file that runs with the rights of its owner, as a restore does.
func forkAsksAboutSetuid(t *testing.T, b *bench) {
	b.write("tool", "#!/bin/sh\n")
	b.must(os.Chmod(filepath.Join(b.root, "tool"), 0o755|os.ModeSetuid))
	b.init()
	dir := filepath.Join(filepath.Dir(b.root), "trial")
	req := retake.ForkRequest{Workspace: b.ws.ID, Ref: "1", Dir: dir}
	_, err := b.s.Fork(b.ctx(), req)
	if e := retake.AsError(err); e == nil || e.Kind != retake.Denied || !slices.Equal(e.Accept, []string{retake.ObstacleSetuid}) {
		t.Fatalf("forked without asking: %+v", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the refused fork left %s: %v", dir, err)
	}
	req.Accept = []string{retake.ObstacleSetuid}
	_, err = b.s.Fork(b.ctx(), req)
	b.must(err)
	if i, err := os.Lstat(filepath.Join(dir, "tool")); err != nil || i.Mode()&os.ModeSetuid == 0 {
		t.Errorf("the accepted fork has %v, %v", i, err)
	}
}

func adoptConflict(t *testing.T, b *bench) {
	b.write("a", "one\n")
	b.init()
	dir := filepath.Join(filepath.Dir(b.root), "trial")
	res, err := b.s.Fork(b.ctx(), retake.ForkRequest{Workspace: b.ws.ID, Ref: "1", Dir: dir})
	b.must(err)
	b.must(os.WriteFile(filepath.Join(dir, "a"), []byte("theirs\n"), 0o644))
	b.write("a", "mine\n")
	b.save("mine")
	p := b.plan(retake.PlanRequest{Course: retake.CourseAdopt, Fork: res.Workspace.ID})
	if len(p.Keeps) != 1 || p.Keeps[0].Why != retake.KeepConflict {
		t.Fatalf("keeps %+v", p.Keeps)
	}
	b.apply(retake.PlanRequest{Course: retake.CourseAdopt, Fork: res.Workspace.ID})
	if b.read("a") != "mine\n" || b.read(p.Keeps[0].Side) != "theirs\n" {
		t.Error("a conflict was not left with the other version beside it")
	}
}
