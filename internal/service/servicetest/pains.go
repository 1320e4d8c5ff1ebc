package servicetest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
)

// pains are harms that going back is known to do elsewhere. Each is built again, and
// must be absent. They are named after the harm.
var pains = map[string]func(*testing.T, *bench){
	"OutputsDeleted":        outputsDeleted,
	"LaterEditsGone":        laterEditsGone,
	"IgnoreFileDeletes":     ignoreFileDeletes,
	"CommitsGone":           commitsGone,
	"NearlyAllDeleted":      nearlyAllDeleted,
	"FarBackUnseen":         farBackUnseen,
	"UndoDeletesTheNew":     undoDeletesTheNew,
	"UndoTouchesOthers":     undoTouchesOthers,
	"WrongDirectory":        wrongDirectory,
	"T3_StashIsSeen":        stashIsSeen,
	"AllRewritten":          allRewritten,
	"NothingToDoDoesHarm":   nothingToDoDoesHarm,
	"RootReplaced":          rootReplaced,
	"RecreatedStays":        recreatedStays,
	"NestedRepositoryMoved": nestedRepositoryMoved,
	"OddNamesLost":          oddNamesLost,
	"OnlyBytesComeBack":     onlyBytesComeBack,
	"RepositoryStaysGone":   repositoryStaysGone,
	"SecondUndoDoesNothing": secondUndoDoesNothing,
	"UndoTakesBothEdits":    undoTakesBothEdits,
}

// marks are the inodes and change times of everything below a directory: equal ones
// mean that nothing was written, not even the same bytes again.
func (b *bench) marks(below string) map[string]string {
	b.Helper()
	out := map[string]string{}
	b.must(filepath.Walk(b.at(below), func(path string, i os.FileInfo, err error) error {
		if err == nil {
			out[path] = fmt.Sprintf("%+v", i.Sys())
		}
		return err
	}))
	return out
}

// unmarked fails when anything of before is not as it was.
func (b *bench) unmarked(before map[string]string, below, when string) {
	b.Helper()
	after := b.marks(below)
	for path, was := range before {
		if withoutAccess(after[path]) != withoutAccess(was) {
			b.Errorf("%s: %s was touched", when, path)
		}
	}
	if len(after) != len(before) {
		b.Errorf("%s: %d paths below %s, before %d", when, len(after), below, len(before))
	}
}

// withoutAccess drops the time of the last reading, which our own looking moves.
func withoutAccess(stat string) string {
	from := strings.Index(stat, "Atim")
	if from < 0 {
		return stat
	}
	to := strings.Index(stat[from:], "}")
	return stat[:from] + stat[from+to:]
}

// Harm: cleaning up for a restore deletes outputs that it was never about.
func outputsDeleted(t *testing.T, b *bench) {
	b.write(".gitignore", "outputs/\nnode_modules/\n")
	b.write("src/a", "1\n")
	for i := range 30 {
		b.write(fmt.Sprintf("outputs/run-%d/weights.bin", i), strings.Repeat("w", 4096))
	}
	b.write("node_modules/x/index.js", "x")
	b.init()
	b.write("src/a", "2\n")
	b.save("turn")
	outputs, modules := b.marks("outputs"), b.marks("node_modules")
	b.restore("1")
	if b.read("src/a") != "1\n" {
		t.Error("nothing was restored")
	}
	b.unmarked(outputs, "outputs", "after a restore")
	b.unmarked(modules, "node_modules", "after a restore")
	b.undo()
	b.unmarked(outputs, "outputs", "after an undo")
	b.write("outputs/new/weights.bin", "made later")
	b.save("outputs")
	b.restore("1", "src")
	if b.read("outputs/new/weights.bin") != "made later" {
		t.Error("a restore of one path took outputs with it")
	}
}

// Harm: who goes back once loses everything that came later.
func laterEditsGone(t *testing.T, b *bench) {
	before := b.shop()
	b.wreck()
	b.save("later")
	b.write("src/auth.go", "package later, in no checkpoint\n")
	b.write("late", "late\n")
	later := b.tree(b.root)
	b.restore("1")
	b.wantTree(before, "after the restore")
	b.undo()
	b.wantTree(later, "after the restore was undone")
	b.redo()
	b.wantTree(before, "after it was brought again")
}

// Harm: an old ignore file comes back and decides what is deleted.
func ignoreFileDeletes(t *testing.T, b *bench) {
	b.write(".gitignore", "*.log\n")
	b.write("a", "1\n")
	b.write("data/keep.csv", "1\n")
	b.write("x.log", "1\n")
	b.init()
	b.write(".gitignore", "*.log\ndata/\n")
	b.write("a", "2\n")
	b.write("data/keep.csv", "2\n")
	b.save("turn")
	data, logs := b.marks("data"), b.marks("x.log")
	b.restore("1", "a", ".gitignore")
	if b.read(".gitignore") != "*.log\n" || b.read("a") != "1\n" {
		t.Error("the paths did not come back")
	}
	b.unmarked(data, "data", "after its line went")
	b.unmarked(logs, "x.log", "after a restore")
	b.save("after")
	b.undo()
	b.unmarked(data, "data", "after an undo")
}

// Harm: a restore moves branches and HEAD, and commits made since are lost.
func commitsGone(t *testing.T, b *bench) {
	b.write(".git/HEAD", "ref: refs/heads/main\n")
	b.write(".git/refs/heads/main", strings.Repeat("1", 40)+"\n")
	b.write(".git/objects/11/11", "first commit")
	b.write("a", "one\n")
	b.init()
	b.write(".git/HEAD", "ref: refs/heads/feature\n")
	b.write(".git/refs/heads/main", strings.Repeat("2", 40)+"\n")
	b.write(".git/refs/heads/feature", strings.Repeat("3", 40)+"\n")
	b.write(".git/objects/22/22", "second commit")
	b.write(".git/objects/33/33", "third commit")
	b.write("a", "two\n")
	b.save("committed")
	repository := b.marks(".git")
	b.restore("1")
	if b.read("a") != "one\n" {
		t.Error("nothing was restored")
	}
	b.unmarked(repository, ".git", "after a restore")
	b.undo()
	b.unmarked(repository, ".git", "after an undo")
	b.redo()
	b.unmarked(repository, ".git", "after a redo")
}

// Harm: a restore to a nearly empty checkpoint deletes everything without a word.
func nearlyAllDeleted(t *testing.T, b *bench) {
	b.write("readme", "hello\n")
	b.init()
	for i := range 40 {
		b.write(fmt.Sprintf("src/f%d", i), "work\n")
	}
	b.save("a day of work")
	before := b.tree(b.root)
	req := retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: b.ws.ID, Course: retake.CourseRestore, Ref: "1"}}
	p := b.plan(req.PlanRequest)
	if !slices.ContainsFunc(p.Obstacles, func(o retake.Obstacle) bool { return o.Class == retake.ObstacleMassDelete }) {
		t.Fatalf("40 deletions of 41 files are no obstacle: %+v", p.Obstacles)
	}
	for _, accept := range [][]string{nil, {retake.ObstacleChanged, retake.ObstacleHeld}} {
		req.Digest, req.Accept = p.Digest, accept
		_, err := b.s.ApplyRestore(b.ctx(), req)
		wantKind(t, err, retake.Denied)
	}
	if b.wantTree(before, "without consent"); b.log().Total != 2 {
		t.Error("something was recorded without consent")
	}
	b.restore("1")
	b.gone("src")
	b.undo()
	b.wantTree(before, "after it was undone")
}

// Harm: a restore goes days back, and nobody is told how far and over how much.
func farBackUnseen(t *testing.T, b *bench) {
	old := time.Unix(1_600_000_000, 0)
	b.write("a", "old\n")
	b.must(os.Chtimes(b.at("a"), old, old))
	first := b.init().Checkpoint
	for i := range 5 {
		b.write("a", fmt.Sprintf("day %d\n", i))
		b.write(fmt.Sprintf("done-%d", i), "finished work\n")
		b.save(fmt.Sprintf("day %d", i))
	}
	p := b.plan(retake.PlanRequest{Course: retake.CourseRestore, Ref: "1"})
	if p.Target == nil || !p.Target.Time.Equal(first.Time) || p.Target.Number != 1 || p.Target.Files != 1 {
		t.Fatalf("the plan does not say where it leads: %+v", p.Target)
	}
	if len(p.Deletes) != 5 || len(p.Writes) != 1 || p.Files != 6 || p.Safety.Number != 6 || !p.Safety.There {
		t.Errorf("%d deletes, %d writes of %d files, safety %+v", len(p.Deletes), len(p.Writes), p.Files, p.Safety)
	}
	res := b.restore("1")
	for i := range 5 {
		if got := b.cat(string(res.Safety.ID), fmt.Sprintf("done-%d", i)); got != "finished work\n" {
			t.Errorf("the safety checkpoint holds %q", got)
		}
	}
	if i := b.stat("a"); !i.ModTime().Equal(old) {
		t.Errorf("the file looks as if it were of %s", i.ModTime())
	}
}
