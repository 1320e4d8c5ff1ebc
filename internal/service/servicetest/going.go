package servicetest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// goings are what every assembly must do when people go back, sideways or forward.
var goings = map[string]func(*testing.T, *bench){
	"RestoreAll":                     restoreAll,
	"RestorePaths":                   restorePaths,
	"RestoreNothing":                 restoreNothing,
	"PlanTouchesNone":                planTouchesNone,
	"PlanMoved":                      planMoved,
	"Consent":                        consent,
	"AppliedTwice":                   appliedTwice,
	"OnlyWhatDiffers":                onlyWhatDiffers,
	"KeepsGit":                       keepsGit,
	"UndoAndRedo":                    undoAndRedo,
	"U1_UndoNeverPassesOver":         undoNeverPassesOver,
	"U1_UndoSaysWhatIsLeft":          undoSaysWhatIsLeft,
	"U2_UndoKeepsEdits":              undoKeepsEdits,
	"U2_UndoDiscardsEdits":           undoDiscardsEdits,
	"U2_OnlyEditsAreLeft":            onlyEditsAreLeft,
	"U3_UndoBesideAnotherSession":    undoBesideAnotherSession,
	"U3_UndoOfInterleavedTurns":      undoOfInterleavedTurns,
	"U11_UndoOfARange":               undoOfARange,
	"U11_UndoOfASession":             undoOfASession,
	"U11_UndoOfAHunk":                undoOfAHunk,
	"U7_UndoBelowADirectory":         undoBelowADirectory,
	"U6_UndoBringsDeletedOutputBack": undoBringsDeletedOutputBack,
	"UndoInTheMiddle":                undoInTheMiddle,
	"UndoMerges":                     undoMerges,
	"UndoConflict":                   undoConflict,
	"UndoKeepsOutputs":               undoKeepsOutputs,
	"UndoRestore":                    undoRestore,
	"ForkAndAdopt":                   forkAndAdopt,
	"AdoptConflict":                  adoptConflict,
	"ForkAsksAboutSetuid":            forkAsksAboutSetuid,
}

func (b *bench) plan(req retake.PlanRequest) retake.Plan {
	b.Helper()
	req.Workspace = b.ws.ID
	p, err := b.s.PlanRestore(b.ctx(), req)
	b.must(err)
	return p
}

// apply does a plan, with every obstacle accepted.
func (b *bench) apply(req retake.PlanRequest) retake.RestoreResult {
	b.Helper()
	p := b.plan(req)
	var accept []string
	for _, o := range p.Obstacles {
		accept = append(accept, o.Class)
	}
	req.Workspace = b.ws.ID
	res, err := b.s.ApplyRestore(b.ctx(), retake.ApplyRequest{PlanRequest: req, Digest: p.Short(), Accept: accept})
	b.must(err)
	if len(res.Failed) > 0 {
		b.Fatalf("%s left %v", req.Course, res.Failed)
	}
	return res
}

func (b *bench) restore(ref string, paths ...string) retake.RestoreResult {
	b.Helper()
	return b.apply(retake.PlanRequest{Course: retake.CourseRestore, Ref: ref, Paths: paths})
}

func (b *bench) undo() retake.RestoreResult {
	b.Helper()
	return b.apply(retake.PlanRequest{Course: retake.CourseUndo})
}

func (b *bench) redo() retake.RestoreResult {
	b.Helper()
	return b.apply(retake.PlanRequest{Course: retake.CourseRedo})
}

// tree is every path below the root with its type, mode, time and bytes.
func (b *bench) tree(root string) string {
	b.Helper()
	var out []string
	b.must(filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		i, err := d.Info()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%s %s %d", rel, i.Mode(), i.ModTime().UnixNano())
		switch {
		case i.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += " " + string(text)
		case i.Mode()&fs.ModeSymlink != 0:
			text, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += " -> " + text
		}
		out = append(out, line)
		return nil
	}))
	return strings.Join(out, "\n")
}

func (b *bench) read(name string) string {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(b.root, name))
	b.must(err)
	return string(text)
}

func (b *bench) gone(name string) {
	b.Helper()
	if _, err := os.Lstat(filepath.Join(b.root, name)); !os.IsNotExist(err) {
		b.Errorf("%s is there: %v", name, err)
	}
}

func (b *bench) wantTree(want, when string) {
	b.Helper()
	if got := b.tree(b.root); got != want {
		b.Errorf("%s:\n--- want\n%s\n--- got\n%s", when, want, got)
	}
}

func paths(steps []retake.Step) []string {
	out := []string{}
	for _, s := range steps {
		out = append(out, s.Path)
	}
	return out
}

// shop makes a workspace with a little of everything, and its first checkpoint.
func (b *bench) shop() string {
	b.Helper()
	b.write("src/app.go", "package app\n")
	b.write("src/auth.go", "package auth\n")
	b.write("docs/faq.md", "questions\n")
	b.must(os.Symlink("src/app.go", filepath.Join(b.root, "main.go")))
	b.must(os.Mkdir(filepath.Join(b.root, "empty"), 0o750))
	b.must(os.Chmod(filepath.Join(b.root, "src/auth.go"), 0o755))
	b.init()
	return b.tree(b.root)
}

// wreck changes a little of everything.
func (b *bench) wreck() {
	b.Helper()
	b.write("src/app.go", "package broken\n")
	b.remove("docs")
	b.remove("empty")
	b.remove("main.go")
	b.write("main.go", "a file now\n")
	b.write("new/deep/file", "new\n")
	b.must(os.Chmod(filepath.Join(b.root, "src/auth.go"), 0o644))
}

func restoreAll(t *testing.T, b *bench) {
	before := b.shop()
	b.wreck()
	b.save("wrecked")
	wrecked := b.tree(b.root)
	res := b.restore("1")
	b.wantTree(before, "after the restore")
	if res.Safety.Number != 2 || res.Checkpoint.Number != 3 || res.Checkpoint.Parent != res.Target.ID {
		t.Errorf("safety %d, checkpoint %d with parent %s", res.Safety.Number, res.Checkpoint.Number, res.Checkpoint.Parent)
	}
	if res.Checkpoint.Content != res.Target.Content || res.Checkpoint.Tree != res.Target.Tree {
		t.Error("the checkpoint after a restore is not what was gone to")
	}
	if res.Deleted != 1 || res.Written != 4 { // new/deep/file; app.go, auth.go, faq.md, main.go
		t.Errorf("deleted %d, written %d", res.Deleted, res.Written)
	}
	b.restore("2")
	b.wantTree(wrecked, "after the way back")
	b.write("late", "not in any checkpoint\n")
	late := b.tree(b.root)
	res = b.restore("1")
	if b.wantTree(before, "with loose edits"); res.Safety.Trigger != retake.TriggerSafety {
		t.Errorf("the safety checkpoint is %q", res.Safety.Trigger)
	}
	b.restore(string(res.Safety.ID))
	b.wantTree(late, "after going back to the safety checkpoint")
}

func restorePaths(t *testing.T, b *bench) {
	b.shop()
	b.wreck()
	b.save("wrecked")
	b.restore("1", "docs", "src/*.go")
	if b.read("src/app.go") != "package app\n" || b.read("docs/faq.md") != "questions\n" {
		t.Error("the paths did not come back")
	}
	if b.read("main.go") != "a file now\n" || b.read("new/deep/file") != "new\n" {
		t.Error("other paths were touched")
	}
	b.remove("docs")
	b.restore("1", "docs/faq.md")
	if b.read("docs/faq.md") != "questions\n" {
		t.Error("a file did not come back with its directory")
	}
	_, err := b.s.PlanRestore(b.ctx(), retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRestore, Ref: "1", Paths: []string{"nonsuch"}})
	wantKind(t, err, retake.NotFound)
}

func restoreNothing(t *testing.T, b *bench) {
	before := b.shop()
	res := b.restore("1")
	if res.Checkpoint.Number != 1 || b.log().Total != 1 {
		t.Errorf("a restore to what is there added checkpoint %d", res.Checkpoint.Number)
	}
	b.wantTree(before, "after nothing")
}

func planTouchesNone(t *testing.T, b *bench) {
	b.shop()
	b.wreck()
	before := b.tree(b.root)
	p := b.plan(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1"})
	if b.wantTree(before, "after a plan"); b.log().Total != 1 {
		t.Error("a plan added a checkpoint")
	}
	if again := b.plan(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1"}); again.Digest != p.Digest {
		t.Error("the same plan has two digests")
	}
	if want := []string{"new/deep/file", "new/deep", "new"}; !sameSet(paths(p.Deletes), want) {
		t.Errorf("deletes %v", paths(p.Deletes))
	}
	if want := []string{"docs", "docs/faq.md", "empty", "main.go", "src/app.go", "src/auth.go"}; !sameSet(paths(p.Writes), want) {
		t.Errorf("writes %v", paths(p.Writes))
	}
	if p.Safety.Number != 2 || p.Safety.There {
		t.Errorf("safety %+v", p.Safety)
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

func planMoved(t *testing.T, b *bench) {
	b.shop()
	b.wreck()
	b.save("wrecked")
	p := b.plan(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1"})
	b.write("src/app.go", "package moved\n")
	before := b.tree(b.root)
	_, err := b.s.ApplyRestore(b.ctx(), retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRestore, Ref: "1"}, Digest: p.Digest})
	wantKind(t, err, retake.Moved)
	if b.wantTree(before, "after a plan that moved"); b.log().Total != 2 {
		t.Error("a plan that moved added a checkpoint")
	}
}

func consent(t *testing.T, b *bench) {
	b.shop()
	b.write("src/app.go", "mine, in no checkpoint\n")
	req := retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRestore, Ref: "1"}}
	p := b.plan(req.PlanRequest)
	if len(p.Obstacles) != 1 || p.Obstacles[0].Class != retake.ObstacleChanged || !slices.Equal(p.Obstacles[0].Paths, []string{"src/app.go"}) {
		t.Fatalf("obstacles %+v", p.Obstacles)
	}
	req.Digest = p.Digest
	_, err := b.s.ApplyRestore(b.ctx(), req)
	wantKind(t, err, retake.Denied)
	if b.read("src/app.go") != "mine, in no checkpoint\n" || b.log().Total != 1 {
		t.Error("something was done without consent")
	}
	req.Accept = []string{retake.ObstacleChanged}
	_, err = b.s.ApplyRestore(b.ctx(), req)
	b.must(err)
	if b.read("src/app.go") != "package app\n" || b.cat("2", "src/app.go") != "mine, in no checkpoint\n" {
		t.Error("the edit is not where it should be")
	}
}

func appliedTwice(t *testing.T, b *bench) {
	b.shop()
	b.wreck()
	b.save("wrecked")
	req := retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRestore, Ref: "1"}, ID: "cp_01990000-0000-7000-8000-0123456789ab"}
	req.Digest = b.plan(req.PlanRequest).Digest
	first, err := b.s.ApplyRestore(b.ctx(), req)
	b.must(err)
	again, err := b.s.ApplyRestore(b.ctx(), req)
	b.must(err)
	if first.Checkpoint.ID != req.ID || again.Checkpoint.ID != req.ID || again.Written != first.Written || again.Deleted != first.Deleted || b.log().Total != 3 {
		t.Errorf("asking twice did it twice: %+v, %+v", first, again)
	}
}

// onlyWhatDiffers: files that are as they should be keep their inode, and those that
// come back their times.
func onlyWhatDiffers(t *testing.T, b *bench) {
	b.shop()
	same := b.stat("src/auth.go")
	root := b.stat(".")
	b.write("src/app.go", "package broken\n")
	b.save("broken")
	b.restore("1")
	if !os.SameFile(same, b.stat("src/auth.go")) || b.stat("src/auth.go").ModTime() != same.ModTime() {
		t.Error("a file that did not differ was replaced")
	}
	if !os.SameFile(root, b.stat(".")) {
		t.Error("the root is another directory")
	}
}

func (b *bench) stat(name string) os.FileInfo {
	b.Helper()
	i, err := os.Lstat(filepath.Join(b.root, name))
	b.must(err)
	return i
}

func keepsGit(t *testing.T, b *bench) {
	b.write(".git/HEAD", "ref: refs/heads/main\n")
	b.write(".git/refs/heads/main", "1111111111111111111111111111111111111111\n")
	b.write("a", "one\n")
	b.init()
	b.write(".git/refs/heads/main", "2222222222222222222222222222222222222222\n")
	b.write("a", "two\n")
	b.save("committed")
	p := b.plan(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1"})
	if len(p.Keeps) != 1 || p.Keeps[0].Path != ".git/" || p.Keeps[0].Why != retake.KeepGit || p.Keeps[0].Detail != "main at 2222222, was main at 1111111" {
		t.Fatalf("keeps %+v", p.Keeps)
	}
	b.restore("1")
	if b.read("a") != "one\n" || b.read(".git/refs/heads/main")[0] != '2' {
		t.Error("the repository was moved")
	}
	b.remove(".git")
	b.save("no repository")
	b.restore("1")
	if b.read(".git/refs/heads/main")[0] != '1' {
		t.Error("a repository that was gone did not come back")
	}
	b.apply(retake.PlanRequest{Course: retake.CourseRestore, Ref: "2", Git: true})
	if b.read(".git/refs/heads/main")[0] != '2' {
		t.Error("a repository that was asked for did not come")
	}
}
