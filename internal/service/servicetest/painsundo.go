package servicetest

import (
	"path/filepath"
	"testing"

	"github.com/retake-dev/retake"
)

// Harm: undo deletes a file that the user made meanwhile.
func undoDeletesTheNew(t *testing.T, b *bench) {
	b.write("src/a", "1\n")
	b.init()
	b.write("src/a", "2\n")
	b.write("gen/made", "by the turn\n")
	b.save("turn")
	b.write("src/saved", "mine\n")
	b.write("gen/mine", "mine, in a directory of the turn\n")
	b.save("mine")
	b.write("src/loose", "mine, in no checkpoint\n")
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"})
	if b.gone("gen/made"); b.read("src/a") != "1\n" {
		t.Error("the turn was not taken back")
	}
	if b.read("src/saved") != "mine\n" || b.read("src/loose") != "mine, in no checkpoint\n" || b.read("gen/mine") != "mine, in a directory of the turn\n" {
		t.Error("a file of the user is another")
	}
}

// Harm: undo rewrites files that the turn never touched.
func undoTouchesOthers(t *testing.T, b *bench) {
	b.write("src/a", "1\n")
	b.write("other/b", "1\n")
	b.write("other/deep/c", "1\n")
	b.write("later", "1\n")
	b.init()
	b.write("src/a", "2\n")
	b.save("turn")
	b.write("later", "2\n")
	b.save("somebody else")
	other, later := b.marks("other"), b.marks("later")
	p := b.plan(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"})
	if !sameSet(paths(p.Writes), []string{"src/a"}) || p.Total() != 1 {
		t.Fatalf("undo of one file is a plan for %v", paths(p.Writes))
	}
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"})
	if b.read("src/a") != "1\n" || b.read("later") != "2\n" {
		t.Error("the turn was not taken back alone")
	}
	b.unmarked(other, "other", "after an undo")
	b.unmarked(later, "later", "after an undo")
}

// Harm: two undos take the same turn back twice, or the second does nothing.
func secondUndoDoesNothing(t *testing.T, b *bench) {
	b.write("a", "0\n")
	b.init()
	for _, text := range []string{"1\n", "2\n", "3\n"} {
		b.write("a", text)
		b.save("turn")
	}
	for _, want := range []string{"2\n", "1\n", "0\n"} {
		if b.undo(); b.read("a") != want {
			t.Fatalf("a is %q, want %q", b.read("a"), want)
		}
	}
	for _, want := range []string{"1\n", "2\n", "3\n"} {
		if b.redo(); b.read("a") != want {
			t.Fatalf("a is %q, want %q", b.read("a"), want)
		}
	}
}

// Harm: undo of the agent's edit takes a typo fix in the same file with it, or the
// other way round.
func undoTakesBothEdits(t *testing.T, b *bench) {
	const middle = "two\nthree\nfour\nfive\nsix\nseven\neight\n"
	const agent, both, typo = "ONE\n" + middle + "nine\n", "ONE\n" + middle + "NINE\n", "one\n" + middle + "NINE\n"
	b.write("poem", poem)
	b.init()
	b.write("poem", agent)
	b.save("the agent's edit")
	b.write("poem", both)
	b.save("a typo fix")
	for ref, want := range map[string]string{"2": typo, "3": agent} {
		b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: ref})
		if got := b.read("poem"); got != want {
			t.Errorf("undo %s: %q", ref, got)
		}
		if b.redo(); b.read("poem") != both {
			t.Errorf("redo %s: %q", ref, b.read("poem"))
		}
	}
	if left, _ := filepath.Glob(b.at("poem.*")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// Harm: a restore or undo with nothing to do still resets what another session works on.
func nothingToDoDoesHarm(t *testing.T, b *bench) {
	b.write("mine/a", "1\n")
	b.write("theirs/b", "1\n")
	b.init()
	b.write("mine/a", "2\n")
	b.save("turn")
	b.apply(retake.PlanRequest{Course: retake.CourseUndo, Ref: "2"})
	b.write("theirs/b", "not recorded yet\n")
	b.write("theirs/new", "not recorded yet\n")
	all, checkpoints := b.marks("."), b.log().Total
	if res := b.restore("1", "mine"); res.Written+res.Deleted != 0 {
		t.Errorf("a restore to what is there: %+v", res)
	}
	_, err := b.s.PlanRestore(b.ctx(), retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseUndo, Ref: "2"})
	wantKind(t, err, retake.Exists)
	b.unmarked(all, ".", "after nothing")
	if b.log().Total != checkpoints {
		t.Error("nothing became a checkpoint")
	}
	b.redo()
	if b.read("mine/a") != "2\n" || b.read("theirs/b") != "not recorded yet\n" || b.read("theirs/new") != "not recorded yet\n" {
		t.Error("a redo of one session took the work of another")
	}
}
