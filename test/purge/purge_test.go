// Package purge_test captures secrets in every way that they come into a history, purges
// them, and searches for them in everything that is kept.
//
// The quick tier has 50 secrets. `make purge` runs it with 1,000 and writes the result.
package purge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
)

func TestR3_PurgedSecretsAreGone(t *testing.T) {
	t.Parallel()
	n := 50
	if v := os.Getenv("RETAKE_PURGE_SECRETS"); v != "" {
		n, _ = strconv.Atoi(v)
	}
	b := newBed(t)
	secrets := b.secrets(n)
	b.live(secrets)
	before := b.manifest(secrets)
	control := b.search(secrets)
	if control != len(secrets) {
		t.Fatalf("the control: %d of %d secrets are found before the purge", control, len(secrets))
	}
	req := retake.PurgeRequest{Workspace: b.ws, Contents: contents(secrets)}
	plan, err := b.s.PlanPurge(t.Context(), req)
	b.must(err)
	if plan.Checkpoints == 0 || len(plan.Workspaces) != 2 || len(plan.Live) == 0 || len(plan.Beyond) != 1 {
		t.Errorf("plan: %+v", plan)
	}
	began := time.Now()
	rep, err := b.s.Purge(t.Context(), req)
	b.must(err)
	if len(rep.Left) > 0 || rep.Searched == 0 {
		t.Errorf("the purge itself says that copies are left: %+v", rep)
	}
	took := time.Since(began)
	b.removeLive(secrets)
	left := b.search(secrets)
	if left != 0 {
		t.Errorf("%d of %d secrets are found after the purge", left, len(secrets))
	}
	files := b.compare(before)
	b.goesOn()
	if path := os.Getenv("RETAKE_PURGE_RESULT"); path != "" {
		text, err := json.MarshalIndent(map[string]any{
			"secrets": n, "found_before": control, "found_after": left, "checkpoints_changed": rep.Plan.Checkpoints, "stored_files_removed": rep.Plan.Versions,
			"records_masked": rep.Plan.Records, "files_compared_after": files, "pieces_searched": rep.Searched, "seconds": int(took.Seconds()),
		}, "", "  ")
		b.must(err)
		b.must(os.WriteFile(path, append(text, '\n'), 0o644))
	}
}

// By path: the path is gone from every checkpoint, its bytes too, and everything else is
// as it was. The gap is named, and numbers and ids stay.
func TestR3_PurgeByPath(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.write("keep.txt", "kept")
	b.write("conf/.env", "TOKEN=of-one-path-only-91b2")
	first := b.save("with the secret")
	b.write("keep.txt", "kept, and edited")
	b.save("an edit")
	before := b.manifest(nil)
	rep, err := b.s.Purge(t.Context(), retake.PurgeRequest{Workspace: b.ws, Paths: []string{"conf/.env"}})
	b.must(err)
	if len(rep.Left) > 0 || rep.Plan.Checkpoints != 2 || len(rep.Plan.Gaps) != 1 || rep.Plan.Gaps[0].Path != "conf/.env" || len(rep.Plan.Live) != 1 {
		t.Errorf("%+v", rep)
	}
	cp, err := b.s.Find(t.Context(), b.ws, strconv.FormatInt(first.Number, 10))
	b.must(err)
	want := []retake.Gap{{Path: "conf/.env", Reason: retake.ReasonPurged, Detail: "removed by retake purge"}}
	if cp.ID != first.ID || cp.Coverage.Grade != retake.Partial || !slices.Equal(cp.Coverage.Gaps, want) {
		t.Errorf("%+v", cp)
	}
	for cp := range before {
		delete(before[cp], "conf/.env")
	}
	if found := b.search([]string{"of-one-path-only-91b2"}); found != 0 {
		t.Error("its bytes are still there")
	}
	b.compare(before)
}

// A history that is erased leaves nothing, and others are whole.
func TestR3_EraseLeavesNothing(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.write("a", "erase-me-entirely-77aa")
	b.save("erase-me-entirely-77aa in its message")
	other := filepath.Join(t.TempDir(), "other")
	b.must(os.Mkdir(other, 0o755))
	b.must(os.WriteFile(filepath.Join(other, "b"), []byte("stays"), 0o644))
	res, err := b.s.Init(t.Context(), retake.InitRequest{Dir: other})
	b.must(err)
	if found := b.search([]string{"erase-me-entirely-77aa"}); found != 1 {
		t.Fatal("the control finds nothing")
	}
	rep, err := b.s.Erase(t.Context(), b.ws)
	b.must(err)
	if rep.Plan.Checkpoints != 2 || len(rep.Left) > 0 {
		t.Errorf("%+v", rep)
	}
	if found := b.search([]string{"erase-me-entirely-77aa"}); found != 0 {
		t.Error("something of the erased history is left")
	}
	all, err := b.s.Workspaces(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != res.Workspace.ID {
		t.Errorf("workspaces: %+v %v", all, err)
	}
	scrub, err := b.s.Scrub(t.Context(), retake.ScrubQuery{Share: 1})
	if err != nil || len(scrub.Failed) > 0 || scrub.Checkpoints != 1 {
		t.Errorf("%+v %v", scrub, err)
	}
}

// An ended workspace can be read, and what is under a legal hold cannot be purged.
func TestR3_EndedAndHeld(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.write("a", "text")
	cp := b.save("one")
	_, err := b.s.Pin(t.Context(), b.ws, "1", retake.HoldPrefix+"case-7")
	if err == nil {
		if _, err := b.s.Purge(t.Context(), retake.PurgeRequest{Workspace: b.ws, Paths: []string{"a"}}); !retake.IsKind(err, retake.Denied) {
			t.Errorf("under a hold: %v", err)
		}
		b.must(b.s.Unpin(t.Context(), b.ws, retake.HoldPrefix+"case-7"))
	}
	_, err = b.s.Deinit(t.Context(), b.ws)
	b.must(err)
	if log, err := b.s.Log(t.Context(), retake.LogQuery{Workspace: b.ws}); err != nil || len(log.Checkpoints) != 2 {
		t.Errorf("the log of an ended workspace: %+v %v", log, err)
	}
	if _, err := b.s.Diff(t.Context(), retake.DiffQuery{Workspace: b.ws, To: string(cp.ID)}); err != nil {
		t.Errorf("a diff in an ended workspace: %v", err)
	}
	if _, _, err := b.s.Open(t.Context(), b.ws, "latest", "a"); err != nil {
		t.Errorf("a file of an ended workspace: %v", err)
	}
	for _, bad := range []retake.PurgeRequest{{Workspace: b.ws}, {Workspace: b.ws, Paths: []string{"."}}, {Workspace: b.ws, Contents: [][]byte{[]byte("abc")}}} {
		if _, err := b.s.PlanPurge(context.Background(), bad); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

func contents(secrets []string) [][]byte {
	var out [][]byte
	for _, s := range secrets {
		out = append(out, []byte(s))
	}
	return out
}

func name(i int) string { return fmt.Sprintf("%04d", i) }

func holdsAny(b []byte, secrets []string) bool {
	return slices.ContainsFunc(secrets, func(s string) bool { return strings.Contains(string(b), s) })
}
