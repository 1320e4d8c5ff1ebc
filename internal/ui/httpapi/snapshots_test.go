package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// snapshotOf returns a checkpoint as a snapshot.
func snapshotOf(cp retake.Checkpoint) client.Snapshot {
	return client.Snapshot{
		ID: cp.ID, Workspace: cp.Workspace, Number: cp.Number, Label: cp.Intent, Size: cp.Bytes, Files: cp.Files, Created: cp.Time,
		Complete: cp.Coverage.Grade == retake.Complete,
	}
}

// A snapshot is a checkpoint by another name, of the named workspace or of the default one.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	f := &fakeService{}
	c := serveFake(t, f)
	home := filledValue[retake.Namespace]().Default
	for _, ws := range []retake.WorkspaceID{"", wsID} {
		in := ws
		if ws == "" {
			in = home
		}
		got, err := c.MakeSnapshot(t.Context(), ws, "before é\n")
		if d := cmp.Diff(snapshotOf(filledValue[retake.SaveResult]().Checkpoint), got); d != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, d)
		}
		asked := f.takeCalls()[0].(retake.SaveRequest)
		if _, err := retake.ParseCheckpointID(string(asked.ID)); err != nil {
			t.Error(err)
		}
		asked.ID = ""
		if d := cmp.Diff(retake.SaveRequest{Workspace: in, Intent: "before é\n", Trigger: retake.TriggerManual}, asked); d != "" {
			t.Errorf("make (-want +got):\n%s", d)
		}
		list, next, err := c.Snapshots(t.Context(), ws, "", 7)
		want := []client.Snapshot{snapshotOf(filledValue[retake.Timeline]().Checkpoints[0])}
		if d := cmp.Diff(want, list); d != "" || err != nil || next != "" {
			t.Errorf("%v %q (-want +got):\n%s", err, next, d)
		}
		if d := cmp.Diff([]any{retake.LogQuery{Workspace: in, Limit: 8}}, f.takeCalls()); d != "" {
			t.Errorf("list (-want +got):\n%s", d)
		}
	}
	cp := filledValue[retake.Checkpoint]()
	got, err := c.Snapshot(t.Context(), cpID)
	if d := cmp.Diff(snapshotOf(cp), got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if d := cmp.Diff([]any{home, string(cpID)}, f.takeCalls()); d != "" {
		t.Errorf("one (-want +got):\n%s", d)
	}
	gone, err := c.DropSnapshot(t.Context(), cpID, "law")
	if d := cmp.Diff(filledValue[retake.Deletion](), gone); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if d := cmp.Diff([]any{home, string(cpID), retake.DeletionRequest{Workspace: cp.Workspace, Refs: []string{string(cp.ID)}, Why: "law"}}, f.takeCalls()); d != "" {
		t.Errorf("drop (-want +got):\n%s", d)
	}
}

// Restoring a snapshot plans and restores.
func TestRestoreOfASnapshot(t *testing.T) {
	t.Parallel()
	f := &fakeService{}
	cp, res := filledValue[retake.Checkpoint](), filledValue[retake.RestoreResult]()
	got, err := serveFake(t, f).RestoreSnapshot(t.Context(), cpID, []string{"a"}, []string{retake.ObstacleHeld})
	want := client.Restored{
		Files: res.Written + res.Merged, Deleted: res.Deleted, Left: 1, ID: cp.ID, Safety: res.Safety.ID, Now: res.Checkpoint.ID,
	}
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	asked := f.takeCalls()
	plan := retake.PlanRequest{Workspace: cp.Workspace, Course: retake.CourseRestore, Ref: string(cp.ID), Paths: []string{"a"}}
	apply, ok := asked[len(asked)-1].(retake.ApplyRequest)
	if !ok {
		t.Fatalf("%v", asked)
	}
	if _, err := retake.ParseCheckpointID(string(apply.ID)); err != nil {
		t.Error(err)
	}
	apply.ID = ""
	if d := cmp.Diff([]any{plan, retake.ApplyRequest{PlanRequest: plan, Digest: filledValue[retake.Plan]().Digest, Accept: []string{retake.ObstacleHeld}}}, []any{asked[2], apply}); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Clients rely on these JSON names.
func TestSnapshotsOnTheWire(t *testing.T) {
	t.Parallel()
	f := &fakeService{}
	h := httpapi.New(f, httpapi.Options{Office: f})
	for _, x := range []struct {
		method, target, body string
		fields               []string
	}{
		{"POST", "/v1/snapshots", `{"label":"a","workspace_id":"b"}`, []string{"snapshot_id", "label", "size_bytes", "created_at", "workspace_id"}},
		{"GET", "/v1/snapshots", ``, []string{"data", "next_cursor"}},
		{"GET", "/v1/snapshots/" + string(cpID), ``, []string{"snapshot_id", "label", "size_bytes", "created_at"}},
		{"DELETE", "/v1/snapshots/" + string(cpID), ``, []string{"id", "state", "due"}},
		{"POST", "/v1/snapshots/" + string(cpID) + "/restore", ``, []string{"files_restored", "snapshot_id", "safety_snapshot_id"}},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(x.method, x.target, strings.NewReader(x.body)))
		var got map[string]json.RawMessage
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code >= 300 {
			t.Errorf("%s %s: %d %s", x.method, x.target, w.Code, w.Body)
		}
		for _, name := range x.fields {
			if v := string(got[name]); v == "" || v == "null" {
				t.Errorf("%s %s: %s is %q", x.method, x.target, name, v)
			}
		}
	}
}

// spreadService is a service with three workspaces and one checkpoint in one of them.
type spreadService struct {
	*fakeService
	foundIn retake.WorkspaceID
}

func (p spreadService) Workspaces(context.Context) ([]retake.WorkspaceState, error) {
	return []retake.WorkspaceState{{Workspace: retake.Workspace{ID: "a"}}, {Workspace: retake.Workspace{ID: "b"}}, {Workspace: retake.Workspace{ID: "c"}}}, nil
}

func (p spreadService) Find(_ context.Context, ws retake.WorkspaceID, ref string) (retake.Checkpoint, error) {
	if ws != p.foundIn || ref != string(cpID) {
		return retake.Checkpoint{}, &retake.Error{Kind: retake.NotFound, What: "not in " + string(ws)}
	}
	return retake.Checkpoint{ID: cpID, Workspace: ws}, nil
}

// A snapshot is found by its ID alone, in any workspace, or only in the one that is named.
func TestSnapshotIsFound(t *testing.T) {
	t.Parallel()
	for _, in := range []retake.WorkspaceID{"a", "b", "c", filledValue[retake.Namespace]().Default} {
		p := spreadService{&fakeService{}, in}
		h := httpapi.New(p, httpapi.Options{Office: p})
		s, err := serve(t, h).Snapshot(t.Context(), cpID)
		if err != nil || s.Workspace != in {
			t.Errorf("in %s: %+v %v", in, s, err)
		}
		for target, status := range map[string]int{
			"/v1/snapshots/" + string(cpID) + "?workspace_id=" + strings.ReplaceAll(string(in), " ", "+"): 200,
			"/v1/snapshots/" + string(cpID) + "?workspace_id=d":                                           404,
			"/v1/snapshots/cp_0197a1de-0000-7000-8000-00000000000f":                                       404,
			"/v1/snapshots/latest": 404,
			"/v1/snapshots/14":     404,
		} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
			if w.Code != status {
				t.Errorf("in %s, %s: %d %s", in, target, w.Code, w.Body)
			}
		}
	}
}

// Every one of these routes passes on the errors of the service.
func TestSnapshotErrorsComeBack(t *testing.T) {
	t.Parallel()
	want := &retake.Error{Kind: retake.Damaged, What: "what " + oddName, Safe: "Safe.", Hint: "do: this"}
	c := serveFake(t, &fakeService{err: want})
	for name, call := range map[string]func() error{
		"make":    func() error { _, err := c.MakeSnapshot(t.Context(), wsID, ""); return err },
		"list":    func() error { _, _, err := c.Snapshots(t.Context(), wsID, "", 0); return err },
		"default": func() error { _, _, err := c.Snapshots(t.Context(), "", "", 0); return err },
		"one":     func() error { _, err := c.Snapshot(t.Context(), cpID); return err },
		"drop":    func() error { _, err := c.DropSnapshot(t.Context(), cpID, ""); return err },
		"restore": func() error { _, err := c.RestoreSnapshot(t.Context(), cpID, nil, nil); return err },
		"archive": func() error { _, err := c.Archive(t.Context(), wsID, "1"); return err },
	} {
		if d := cmp.Diff(errorTexts(want), errorTexts(call())); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}
