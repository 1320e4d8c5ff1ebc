package client_test

import (
	"context"
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

// An idempotent request is sent again after its response was lost. Any other request is sent once,
// and the error does not say that nothing was changed.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		again bool
		call  func(context.Context, *client.Client) error
	}{
		"about": {true, func(ctx context.Context, c *client.Client) error { _, err := c.About(ctx); return err }},
		"log": {true, func(ctx context.Context, c *client.Client) error {
			_, err := c.Log(ctx, retake.LogQuery{Workspace: ws})
			return err
		}},
		"save": {true, func(ctx context.Context, c *client.Client) error {
			_, err := c.Save(ctx, retake.SaveRequest{Workspace: ws})
			return err
		}},
		"save with progress": {true, func(ctx context.Context, c *client.Client) error {
			_, err := c.Save(ctx, retake.SaveRequest{Workspace: ws, Progress: func(retake.Progress) {}})
			return err
		}},
		"pin":   {true, func(ctx context.Context, c *client.Client) error { _, err := c.Pin(ctx, ws, "1", "a"); return err }},
		"unpin": {true, func(ctx context.Context, c *client.Client) error { return c.Unpin(ctx, ws, "a") }},
		"scrub": {true, func(ctx context.Context, c *client.Client) error {
			_, err := c.Scrub(ctx, retake.ScrubQuery{})
			return err
		}},
		"plan": {true, func(ctx context.Context, c *client.Client) error {
			_, err := c.PlanRestore(ctx, retake.PlanRequest{Workspace: ws, Course: retake.CourseUndo})
			return err
		}},
		"restore": {true, func(ctx context.Context, c *client.Client) error {
			_, err := c.ApplyRestore(ctx, retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: ws}})
			return err
		}},
		"restore with progress": {true, func(ctx context.Context, c *client.Client) error {
			_, err := c.ApplyRestore(ctx, retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: ws}, Progress: func(retake.Progress) {}})
			return err
		}},
		"forks": {true, func(ctx context.Context, c *client.Client) error { _, err := c.Forks(ctx, ws); return err }},
		"fork": {false, func(ctx context.Context, c *client.Client) error {
			_, err := c.Fork(ctx, retake.ForkRequest{Workspace: ws, Dir: "/x"})
			return err
		}},
		"init": {false, func(ctx context.Context, c *client.Client) error {
			_, err := c.Init(ctx, retake.InitRequest{Dir: "/x"})
			return err
		}},
		"forget": {false, func(ctx context.Context, c *client.Client) error {
			_, err := c.Forget(ctx, ws, []string{"1"})
			return err
		}},
		"sweep":   {false, func(ctx context.Context, c *client.Client) error { _, err := c.Sweep(ctx); return err }},
		"rebuild": {false, func(ctx context.Context, c *client.Client) error { _, err := c.Rebuild(ctx); return err }},
		"deinit":  {false, func(ctx context.Context, c *client.Client) error { _, err := c.Deinit(ctx, ws); return err }},
	} {
		for how, lost := range map[string]http.HandlerFunc{
			"before":    abortConnection,
			"in JSON":   respondPartly("application/json", `{"version":`),
			"in events": respondPartly("text/event-stream", ":\n\nevent: progress\ndata: {\"files\":1}\n\nevent: result\ndata: {}\n"),
		} {
			f := newFakeDaemon(t)
			f.start(lost)
			err := x.call(t.Context(), f.newClient(lost, respondJSON(map[string]any{})))
			seen := f.requestLog()
			switch {
			case name == "unpin" && how != "before": // has no body to lose
			case x.again && (err != nil || len(seen) != 3 || seen[0] != seen[2]):
				t.Errorf("%s, lost %s: %v after %q", name, how, err, seen)
			case !x.again && (!retake.IsKind(err, retake.Away) || len(seen) != 1 || strings.Contains(retake.AsError(err).Safe, "Nothing")):
				t.Errorf("%s, lost %s: %+v after %q", name, how, retake.AsError(err), seen)
			}
		}
	}
}

// A save and a restore get an ID before they are sent; that of the caller is kept.
func TestCheckpointsHaveAnID(t *testing.T) {
	t.Parallel()
	const ours = retake.CheckpointID("cp_0197a1de-0000-7000-8000-000000000002")
	for name, call := range map[string]func(*client.Client, retake.CheckpointID) error{
		"save": func(c *client.Client, id retake.CheckpointID) error {
			_, err := c.Save(t.Context(), retake.SaveRequest{Workspace: ws, ID: id})
			return err
		},
		"restore": func(c *client.Client, id retake.CheckpointID) error {
			_, err := c.ApplyRestore(t.Context(), retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: ws}, ID: id})
			return err
		},
	} {
		f := newFakeDaemon(t)
		f.start(respondJSON(map[string]any{}))
		c := f.newClient()
		for _, id := range []retake.CheckpointID{"", "", ours} {
			if err := call(c, id); err != nil {
				t.Fatal(err)
			}
		}
		var ids []retake.CheckpointID
		for _, r := range f.requestLog() {
			var b struct{ ID retake.CheckpointID }
			if err := json.Unmarshal([]byte(r[strings.Index(r, "{"):]), &b); err != nil {
				t.Fatal(err)
			}
			if _, err := retake.ParseCheckpointID(string(b.ID)); err != nil {
				t.Error(err)
			}
			ids = append(ids, b.ID)
		}
		if ids[0] == ids[1] || ids[2] != ours {
			t.Errorf("%s: ids: %v", name, ids)
		}
	}
}

// A read-only request has changed nothing, even if its response is lost for good.
func TestLookingChangesNothing(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		looks bool
		call  func(*client.Client) error
	}{
		"log": {true, func(c *client.Client) error {
			_, err := c.Log(t.Context(), retake.LogQuery{Workspace: ws})
			return err
		}},
		"scrub": {true, func(c *client.Client) error { _, err := c.Scrub(t.Context(), retake.ScrubQuery{}); return err }},
		"plan": {true, func(c *client.Client) error {
			_, err := c.PlanRestore(t.Context(), retake.PlanRequest{Workspace: ws})
			return err
		}},
		"restore": {false, func(c *client.Client) error {
			_, err := c.ApplyRestore(t.Context(), retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: ws}})
			return err
		}},
		"fork": {false, func(c *client.Client) error {
			_, err := c.Fork(t.Context(), retake.ForkRequest{Workspace: ws, Dir: "/x"})
			return err
		}},
	} {
		f := newFakeDaemon(t)
		f.start(abortConnection)
		e := retake.AsError(x.call(client.New(client.Options{Socket: f.socket})))
		if e.Kind != retake.Away || strings.Contains(e.Safe, "Nothing was changed") != x.looks {
			t.Errorf("%s: %+v", name, e)
		}
	}
}

// The daemon has another working directory.
func TestForkGoesFromTheRoot(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs("there")
	if err != nil {
		t.Fatal(err)
	}
	f := newFakeDaemon(t)
	f.start(respondJSON(map[string]any{}))
	if _, err := f.newClient().Fork(t.Context(), retake.ForkRequest{Workspace: ws, Dir: "there"}); err != nil {
		t.Fatal(err)
	}
	if want := "POST /v1/workspaces/" + string(ws) + `/forks {"dir":"` + dir + `"}`; f.requestLog()[0] != want {
		t.Errorf("%s, not %s", f.requestLog()[0], want)
	}
}

// The first response was lost, and the second says that it is done already.
func TestPinsThatWereLost(t *testing.T) {
	t.Parallel()
	pins := func(pinned retake.CheckpointID) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodPut:
				respondProblem(retake.Exists)(w, r)
			case strings.HasSuffix(r.URL.Path, "/find"):
				respondJSON(retake.Checkpoint{ID: "cp_1"})(w, r)
			default:
				respondJSON(retake.Timeline{Pins: []retake.Pin{{Name: "b", Checkpoint: "cp_1"}, {Name: "a", Checkpoint: pinned, Number: 7}}})(w, r)
			}
		}
	}
	f := newFakeDaemon(t)
	f.start(abortConnection)
	if pin, err := f.newClient(pins("cp_1")).Pin(t.Context(), ws, "7", "a"); err != nil || pin.Number != 7 {
		t.Errorf("ours: %+v %v", pin, err)
	}
	f = newFakeDaemon(t)
	f.start(abortConnection)
	if _, err := f.newClient(pins("cp_2")).Pin(t.Context(), ws, "7", "a"); !retake.IsKind(err, retake.Exists) {
		t.Errorf("another's: %v", err)
	}
	f = newFakeDaemon(t)
	f.start(pins("cp_1"))
	if _, err := f.newClient().Pin(t.Context(), ws, "7", "a"); !retake.IsKind(err, retake.Exists) {
		t.Errorf("nothing was lost: %v", err)
	}
	f = newFakeDaemon(t)
	f.start(abortConnection)
	if err := f.newClient(respondProblem(retake.NotFound)).Unpin(t.Context(), ws, "a"); err != nil {
		t.Errorf("off already: %v", err)
	}
	f = newFakeDaemon(t)
	f.start(respondProblem(retake.NotFound))
	if err := f.newClient().Unpin(t.Context(), ws, "a"); !retake.IsKind(err, retake.NotFound) {
		t.Errorf("nothing was lost: %v", err)
	}
}
