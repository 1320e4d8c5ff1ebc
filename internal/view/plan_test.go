package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/view"
)

func file(size int64) *retake.Entry { return &retake.Entry{Kind: retake.KindFile, Size: size} }

func dir() *retake.Entry { return &retake.Entry{Kind: retake.KindDir} }

func gone(path string) retake.Step {
	return retake.Step{Path: path, What: retake.Deleted, Now: file(10)}
}

func TestPlanWords(t *testing.T) {
	t.Parallel()
	edit := retake.Step{Path: "c", What: retake.Edited, Now: file(1), Then: file(2)}
	side := retake.Keep{Path: "k", Why: retake.KeepConflict, Side: "d/k.theirs"}
	target := &retake.Checkpoint{ID: "cp_14", Parent: "cp_13", Number: 14}
	for name, x := range map[string]struct {
		plan retake.Plan
		want []string // headline, question, apply, safety, beside
	}{
		"restore": {
			retake.Plan{Course: retake.CourseRestore, Target: target, Deletes: []retake.Step{gone("a"), gone("b")}, Writes: []retake.Step{edit}, Safety: retake.Safety{Number: 18}},
			[]string{"3 files would change", "Restore 14 now: delete 2, change 1?", "Restore 14 and delete 2 files", "First your files are saved as checkpoint 18 undo brings them back", ""},
		},
		"undo of unsaved edits": {
			retake.Plan{Course: retake.CourseUndo, Writes: []retake.Step{edit}, Safety: retake.Safety{Number: 18, There: true}},
			[]string{"1 file would change", "Undo the edits since 17 now: change back 1?", "Undo the edits since 17", "Checkpoint 18 has everything you have now redo brings it back", ""},
		},
		"only other versions": {
			retake.Plan{Course: retake.CourseAdopt, Fork: &retake.Workspace{Name: "idea"}, Keeps: []retake.Keep{side}, Safety: retake.Safety{Number: 2}},
			[]string{
				"No file would change", "Adopt idea now: put 1 beside?", "Put 1 version of idea beside yours", "First your files are saved as checkpoint 2 undo brings them back",
				"No file that you have is changed: 1 file was changed on both sides. The fork's version is put beside yours as a new file.",
			},
		},
		"idle": {
			retake.Plan{Course: retake.CourseRestore, Target: target},
			[]string{"The files are already as in 14. Nothing to do.", "Restore 14 now?", "Restore 14", "No checkpoint is added  ", ""},
		},
		"interrupted": {
			retake.Plan{Course: retake.CourseUnwind, Target: target, Safety: retake.Safety{Number: 3, There: true}},
			[]string{"No file would change", "Take back the restore of 14 now?", "Take back the restore of 14", "Checkpoint 3 has everything you have now  ", ""},
		},
	} {
		v := view.OfPlan(&x.plan)
		got := []string{v.Headline, v.Question, v.Apply, fmt.Sprintf("%s %s %s", v.Safety.Text, v.Safety.Course, v.Safety.Brings), v.Beside}
		if d := cmp.Diff(x.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if v.Idle != (name == "idle") || v.Idle != (v.Untouched == "") {
			t.Errorf("%s: idle %v, %q", name, v.Idle, v.Untouched)
		}
	}
}

func TestPlanSections(t *testing.T) {
	t.Parallel()
	p := retake.Plan{
		Course: retake.CourseUndo, Target: &retake.Checkpoint{Number: 2},
		Deletes: []retake.Step{gone("z"), {Path: "web", What: retake.Deleted, Now: dir()}, gone("web/a"), gone("web/b"), gone("one/deep/file"), {Path: "void", What: retake.Deleted, Now: dir()}},
		Writes: []retake.Step{
			{Path: "db", What: retake.Edited, Now: file(1), Then: file(1), Unit: "db", Means: "users 2 → 5 rows"}, {Path: "db-wal", What: retake.Edited, Now: file(1), Then: file(2), Unit: "db"},
			{Path: "x", What: retake.Moded, Now: &retake.Entry{Mode: 0o644}, Then: &retake.Entry{Mode: 0o755}}, {Path: "new", What: retake.Added, Then: file(5)},
		},
		Merges: []retake.Step{{Path: "m", What: retake.Edited, Merge: &retake.Merge{Theirs: 1, Yours: 2, First: 7}}},
		Keeps:  []retake.Keep{{Path: "k", Why: retake.KeepConflict}, {Path: ".git/", Why: retake.KeepGit, Detail: "main"}, {Path: "q", Why: "brand-new"}},
	}
	var got []string
	for _, s := range view.OfPlan(&p).Sections {
		got = append(got, fmt.Sprintf("%s %d of %d: %s", s.Title, s.Count, s.Paths, s.About))
		for _, r := range s.Rows {
			got = append(got, strings.TrimRight(fmt.Sprintf("%s%s %d %d %s %s", strings.Repeat(" ", r.Depth+1), r.Path, r.Count, r.Bytes, r.Note, r.Detail), " "))
		}
	}
	want := []string{
		"Delete 4 of 6: 4 files",
		" web/ 2 20", "  web/a 1 10", "  web/b 1 10", " one/deep/file 1 10", " void/ 0 0 empty directory", " z 1 10",
		"Bring back 1 of 1: 1 file", " new 1 5",
		"Change back 3 of 3: 3 files", " db 1 1 users 2 → 5 rows", " db-wal 1 2 goes with db", " x 1 0 0644 → 0755",
		"Merge 1 of 1: 1 file changed on both sides, your lines stay", " m 1 0 its place goes, your 2 from line 7 on stay",
		"Conflict 1 of 1: 1 place that stays as it is", " k 1 0 stays yours",
		"Leave as is 2 of 2: 2 places that stay as they are", " .git/ 1 0 a repository of its own main", " q 1 0 brand-new",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"deleted 3", "brought back 1", "changed back 3", "merged 1", "left as is 3"}, view.DoneNumbers(&p, []retake.Failure{{Path: "z"}})); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestPlanAsksOncePerClass(t *testing.T) {
	t.Parallel()
	p := retake.Plan{
		Deletes: []retake.Step{gone("b")}, Safety: retake.Safety{Number: 18},
		Obstacles: []retake.Obstacle{
			{Class: retake.ObstacleChanged, Text: "a changed", Paths: []string{"a"}}, {Class: "new", Text: "été."},
			{Class: retake.ObstacleChanged, Text: "b changed", Paths: []string{"b"}},
		},
	}
	want := []retake.PlanAsk{
		{Class: retake.ObstacleChanged, Deed: "delete or overwrite your edits of 2 paths", Text: "a changed, and b changed. What is there now will be in checkpoint 18."},
		{Class: "new", Deed: "continue although été", Text: "Été."},
	}
	if d := cmp.Diff(want, view.PlanAsks(&p)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if got := view.Unaccepted(&p, []string{retake.ObstacleChanged}); len(got) != 1 || got[0].Class != "new" {
		t.Errorf("left to ask: %v", got)
	}
}

func TestPlanCompare(t *testing.T) {
	t.Parallel()
	item := &retake.Checkpoint{ID: "cp_2", Parent: "cp_1", Number: 2}
	for course, want := range map[retake.Course]*retake.PlanCompare{
		retake.CourseRestore: {Workspace: "w", From: "2", Back: true},
		retake.CourseUndo:    {Workspace: "w", From: "cp_1", To: "cp_2", Back: true},
		retake.CourseRedo:    {Workspace: "w", From: "cp_1", To: "cp_2"},
		retake.CourseAdopt:   {Workspace: "f", From: "start", To: "cp_2"},
		retake.CourseFinish:  nil,
	} {
		p := retake.Plan{Course: course, Workspace: "w", Target: item, Fork: &retake.Workspace{ID: "f"}}
		if d := cmp.Diff(want, view.OfPlan(&p).Compare); d != "" {
			t.Errorf("%s (-want +got):\n%s", course, d)
		}
	}
}
