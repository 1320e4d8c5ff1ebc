package retake_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
)

func TestJSONKeepsBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }), rapid.Just("raw:x"))
		e := retake.Entry{Name: name.Draw(t, "name"), Kind: retake.KindFile, Extra: &retake.Extra{
			Group:  "g",
			Xattrs: map[string][]byte{"user." + name.Draw(t, "xattr"): rapid.SliceOf(rapid.Byte()).Draw(t, "value"), name.Draw(t, "odd"): {1}},
			Holes:  []retake.Hole{{Offset: 1, Length: 2}},
		}}
		same(t, e)
		same(t, retake.Gap{Path: e.Name, Reason: retake.ReasonTorn, Detail: "d"})
		ws := retake.Workspace{ID: "ws_1", Root: name.Draw(t, "root"), Name: e.Name, Dev: 1, Ino: 1 << 63}
		same(t, ws)
		same(t, retake.WorkspaceState{Workspace: ws, Latest: &retake.Checkpoint{ID: "cp_1"}, Count: 3, Gone: true})
		same(t, retake.Estimate{Root: ws.Root, Heaviest: e.Name, Files: 1, Share: 0.5})
		same(t, retake.Change{Path: e.Name, What: retake.Edited, Before: &e, After: &e})
	})
}

func TestJSONKeepsPlans(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 3, 10, 27, 0, 5, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		path := func(of string) string { return bytes.Draw(t, of) }
		paths := func(of string) []string { return rapid.SliceOfN(bytes, 1, 3).Draw(t, of) }
		e := retake.Entry{Name: path("name"), Kind: retake.KindFile, Size: 1}
		cut := retake.Interruption{ID: "r1", Course: retake.CourseUndo, Target: 3, Safety: 14, Done: 7, Total: 9, Since: at}
		same(t, cut)
		cp := retake.Checkpoint{ID: "cp_1", Trigger: retake.TriggerReturn, Time: at, Return: &retake.Return{
			Course: retake.CourseRestore, Target: "cp_2", Before: "cp_3", Paths: paths("returned"), Failed: []retake.Failure{{Path: "\xff", Why: "why"}},
		}}
		same(t, cp)
		ws := retake.Workspace{
			ID: "ws_1", Root: path("root"), Created: at, Interrupted: &cut,
			Origin: &retake.Origin{Workspace: "ws_2", Checkpoint: "cp_4", Number: 4},
		}
		same(t, ws)
		same(t, retake.WorkspaceState{Workspace: ws, Latest: &cp, Count: 2})
		step := retake.Step{
			Path: path("step"), What: retake.Edited, Now: &e, Then: &e, Unit: path("unit"),
			Merge: &retake.Merge{Digest: "d", Theirs: 1, Yours: 2, First: 3},
		}
		plan := retake.Plan{
			Digest: "7f3a91c0", Course: retake.CourseAdopt, Workspace: "ws_1", Target: &cp, Fork: &ws, Paths: paths("planned"),
			Writes: []retake.Step{step}, Deletes: []retake.Step{{Path: path("deleted"), What: retake.Deleted}}, Merges: []retake.Step{step},
			Keeps:     []retake.Keep{{Path: path("kept"), Why: retake.KeepConflict, Detail: "d", Side: path("side"), Then: &e}},
			Obstacles: []retake.Obstacle{{Class: retake.ObstacleHeld, Text: "t", Paths: paths("held")}, {Class: retake.ObstacleSpace, Text: "t"}},
			Effects:   []retake.Effect{{ID: "e1", Time: at, Text: "t"}},
			Bytes:     1, Files: 2, Safety: retake.Safety{Number: 14, There: true},
		}
		same(t, plan)
		same(t, retake.Plan{Course: retake.CourseUndo, Writes: []retake.Step{}})
		same(t, retake.RestoreResult{
			Checkpoint: cp, Safety: cp, Target: cp, Written: 1, Deleted: 2, Merged: 3, Kept: 4,
			Failed:   []retake.Failure{{Path: path("failed"), Why: "w"}},
			Holders:  []retake.Holder{{PID: 5, Command: path("command"), Path: path("open")}},
			Warnings: []retake.Warning{{Code: "c", Text: "t"}},
		})
		same(t, retake.ForkResult{Workspace: ws, Checkpoint: cp, Origin: cp, Cloned: 1, Copied: 2, Warnings: []retake.Warning{}})
	})
}

// Only what JSON cannot hold gets a twin, and a list and its twin have the same
// places.
func TestJSONTwinsOfLists(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		paths []string
		want  string
	}{
		{nil, `{"class":"c","text":"t"}`},
		{[]string{"a", "é"}, `{"class":"c","text":"t","paths":["a","é"]}`},
		{[]string{"a", "", "n\xff"}, `{"class":"c","text":"t","paths":["a","","n\ufffd"],"paths_raw":["YQ==","","bv8="]}`},
	} {
		got, err := json.Marshal(retake.Obstacle{Class: "c", Text: "t", Paths: x.paths})
		if err != nil || string(got) != x.want {
			t.Errorf("%q: %s %v", x.paths, got, err)
		}
	}
}

func same[T any](t *rapid.T, v T) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var got T
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(v, got); d != "" {
		t.Fatalf("-want +got:\n%s\n%s", d, b)
	}
}
