package servicetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// losings are what every assembly must do for a workspace whose own directory was deleted
// or replaced.
var losings = map[string]func(*testing.T, *bench){
	"U5_RestoreRecreatesALostRoot":       restoreLostRoot,
	"U5_RestoreRecreatesParents":         restoreLostParents,
	"U5_RestoreFillsAnEmptyDirectory":    restoreEmptyRoot,
	"U5_RestoreTakesOverAnotherDir":      restoreReplacedRoot,
	"U5_RestoreLeavesAnotherWorkspace":   restoreOverNeighbour,
	"U5_ARootIsLostTwice":                lostTwice,
	"U5_InitDoesNotStartAnewInSilence":   initWhereOneWas,
	"U5_InitContinuesTheHistory":         initContinues,
	"U5_InitStartsAnewWhenAsked":         initAnew,
	"U5_OtherCommandsTellTheWayBack":     lostRootTellsTheWay,
	"U5_SaveAfterALostRootSeesEveryFile": saveAfterLostRoot,
}

// lose deletes the whole workspace directory.
func (b *bench) lose() {
	b.Helper()
	b.must(os.RemoveAll(b.root))
}

func (b *bench) wantSaid(err error, texts ...string) {
	b.Helper()
	if err == nil {
		b.Fatal("no error")
	}
	e := retake.AsError(err)
	all := e.What + "\n" + e.Safe + "\n" + e.Hint
	for _, text := range texts {
		if !strings.Contains(all, text) {
			b.Errorf("%q is not in:\n%s", text, all)
		}
	}
}

func restoreLostRoot(t *testing.T, b *bench) {
	b.shop()
	b.must(os.Chmod(b.root, 0o750))
	b.write("src/more.go", "package more\n")
	b.save("more")
	before := b.tree(b.root)
	b.lose()
	req := retake.PlanRequest{Course: retake.CourseRestore, Ref: "latest"}
	p := b.plan(req)
	if p.Lost == nil || p.Lost.Root != b.root || p.Lost.There || p.Safety.Number != 2 || !p.Safety.There || len(p.Obstacles) > 0 || p.Files != 0 {
		t.Errorf("plan: lost %+v, safety %+v, asks %v, %d files", p.Lost, p.Safety, p.Obstacles, p.Files)
	}
	b.gone(".")
	res := b.apply(req)
	b.wantTree(before, "after the restore")
	if res.Safety.Number != 2 || res.Checkpoint.Number != 3 || res.Checkpoint.Content != res.Target.Content {
		t.Errorf("before %d, now %d", res.Safety.Number, res.Checkpoint.Number)
	}
	ws, err := b.s.Locate(b.ctx(), b.root)
	b.must(err)
	if ws.ID != b.ws.ID {
		t.Errorf("it is %s now, it was %s", ws.ID, b.ws.ID)
	}
	// undo must not delete everything again: the restore brought the last known state
	if p := b.plan(retake.PlanRequest{Course: retake.CourseUndo}); len(p.Deletes) != 1 || p.Deletes[0].Path != "src/more.go" {
		t.Errorf("undo would delete %v", paths(p.Deletes))
	}
	b.restore("1")
	b.gone("src/more.go")
}

func restoreLostParents(_ *testing.T, b *bench) {
	b.root = filepath.Join(b.root, "deep", "down")
	b.must(os.MkdirAll(b.root, 0o755))
	before := b.shop()
	b.must(os.RemoveAll(filepath.Dir(filepath.Dir(b.root))))
	b.restore("1")
	b.wantTree(before, "after the restore")
}

func restoreEmptyRoot(t *testing.T, b *bench) {
	before := b.shop()
	b.lose()
	b.must(os.Mkdir(b.root, 0o755))
	res := b.restore("latest")
	if res.Safety.Number != 1 || res.Checkpoint.Number != 2 {
		t.Errorf("before %d, now %d", res.Safety.Number, res.Checkpoint.Number)
	}
	b.wantTree(before, "after the restore")
}

func restoreReplacedRoot(t *testing.T, b *bench) {
	before := b.shop()
	b.lose()
	b.must(os.Mkdir(b.root, 0o755))
	b.write("src/app.go", "package cloned\n")
	b.write("notes", "mine\n")
	req := retake.PlanRequest{Course: retake.CourseRestore, Ref: "latest"}
	p := b.plan(req)
	if p.Lost == nil || !p.Lost.There || p.Safety.There || len(p.Obstacles) == 0 {
		t.Fatalf("plan: lost %+v, safety %+v, asks %v", p.Lost, p.Safety, p.Obstacles)
	}
	res := b.apply(req)
	if got := b.cat("2", "notes"); got != "mine\n" || b.cat("2", "src/app.go") != "package cloned\n" || res.Safety.Number != 2 {
		t.Errorf("the safety checkpoint %d holds %q", res.Safety.Number, got)
	}
	if p := b.plan(req); p.Total() > 0 || p.Lost != nil {
		t.Errorf("after the restore: %d paths differ, lost %v", p.Total(), p.Lost)
	}
	b.undo()
	if b.read("notes") != "mine\n" || b.read("src/app.go") != "package cloned\n" {
		t.Error("undo does not bring back what was there")
	}
	b.restore("1")
	b.wantTree(before, "after the second restore")
}

func restoreOverNeighbour(t *testing.T, b *bench) {
	b.shop()
	b.lose()
	b.must(os.Mkdir(b.root, 0o755))
	b.write("a", "1\n")
	_, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: b.root, Mark: retake.MarkNew})
	b.must(err)
	_, err = b.s.PlanRestore(b.ctx(), retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRestore, Ref: "1"})
	wantKind(t, err, retake.Moved)
	b.wantSaid(err, "belongs to the workspace shop now", "retake fork latest "+b.root+"-restored --workspace "+string(b.ws.ID))
	if b.read("a") != "1\n" {
		t.Error("another workspace was touched")
	}
}

func lostTwice(_ *testing.T, b *bench) {
	before := b.shop()
	b.lose()
	b.restore("1")
	b.lose()
	b.restore("latest")
	b.wantTree(before, "after the second loss")
}

func initWhereOneWas(t *testing.T, b *bench) {
	b.shop()
	b.lose()
	b.must(os.Mkdir(b.root, 0o755))
	_, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: b.root})
	wantKind(t, err, retake.Exists)
	b.wantSaid(err, "the workspace shop was here", "Nothing was changed. Its checkpoint is kept.",
		"retake restore latest --workspace shop\n", "retake init --continue "+b.root+"\n", "retake init --new "+b.root)
	if all, err := b.s.Workspaces(b.ctx()); err != nil || len(all) != 1 {
		t.Errorf("%d workspaces, %v", len(all), err)
	}
}

func initContinues(t *testing.T, b *bench) {
	b.shop()
	b.lose()
	_, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: filepath.Dir(b.root), Mark: retake.MarkContinue})
	wantKind(t, err, retake.NotFound)
	b.must(os.Mkdir(b.root, 0o755))
	b.write("other", "cloned\n")
	res, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: b.root, Mark: retake.MarkContinue})
	b.must(err)
	if res.Workspace.ID != b.ws.ID || res.Checkpoint.Number != 2 {
		t.Errorf("%s has checkpoint %d", res.Workspace.ID, res.Checkpoint.Number)
	}
	b.restore("1")
	b.gone("other")
	if b.read("docs/faq.md") != "questions\n" {
		t.Error("the first checkpoint did not come back")
	}
}

func initAnew(t *testing.T, b *bench) {
	b.shop()
	b.lose()
	b.must(os.Mkdir(b.root, 0o755))
	res, err := b.s.Init(b.ctx(), retake.InitRequest{Dir: b.root, Mark: retake.MarkNew})
	b.must(err)
	if res.Workspace.ID == b.ws.ID || res.Checkpoint.Number != 1 {
		t.Errorf("%s has checkpoint %d", res.Workspace.ID, res.Checkpoint.Number)
	}
	if b.cat("1", "docs/faq.md") != "questions\n" {
		t.Error("the old history is not kept")
	}
}

func lostRootTellsTheWay(t *testing.T, b *bench) {
	b.shop()
	b.lose()
	back := "retake restore latest --workspace shop"
	_, err := b.s.Save(b.ctx(), retake.SaveRequest{Workspace: b.ws.ID})
	wantKind(t, err, retake.NotFound)
	b.wantSaid(err, "the directory of shop is gone", back)
	_, err = b.s.Locate(b.ctx(), filepath.Join(b.root, "src"))
	b.wantSaid(err, "The workspace shop was here, and its checkpoint is kept.", back)
	_, err = b.s.PlanRestore(b.ctx(), retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo})
	b.wantSaid(err, back)
	b.must(os.Mkdir(b.root, 0o755))
	_, err = b.s.PlanRestore(b.ctx(), retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo})
	wantKind(t, err, retake.Moved)
	b.wantSaid(err, "another directory is at", back, "retake init --continue "+b.root)
}

// What watched the lost directory must not be asked about the new one.
func saveAfterLostRoot(t *testing.T, b *bench) {
	b.shop()
	b.save("watched")
	b.lose()
	b.restore("latest")
	b.write("docs/faq.md", "more questions\n")
	b.write("src/new.go", "package new\n")
	b.save("after")
	if b.cat("latest", "docs/faq.md") != "more questions\n" || b.cat("latest", "src/new.go") != "package new\n" {
		t.Error("a save after the restore misses changes")
	}
}
