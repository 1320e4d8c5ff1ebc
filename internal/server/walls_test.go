package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/server"
)

func afterMillis(ms int) <-chan time.Time { return time.After(time.Duration(ms) * time.Millisecond) }

// No path that a tenant names leads out of the directories of its namespace.
func TestPathsStayInside(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	outside := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outside, "secret"), []byte("s"), 0o600))
	files := filepath.Join(b.data, "ns", "main", "files")
	must(t, os.Symlink(outside, filepath.Join(files, "out")))
	operator := b.clientAs(retake.KeyOperator)
	for _, dir := range []string{outside, filepath.Join(files, "out"), files + "/../../..", filepath.Join(b.data, "ns", "main", "own"), "/", "/etc"} {
		if _, err := operator.Init(t.Context(), retake.InitRequest{Dir: dir, Name: "x"}); !retake.IsKind(err, retake.NotFound) {
			t.Errorf("protect %s: %v", dir, err)
		}
		if _, err := operator.Estimate(t.Context(), dir); !retake.IsKind(err, retake.NotFound) {
			t.Errorf("estimate %s: %v", dir, err)
		}
		if _, err := operator.Locate(t.Context(), dir); !retake.IsKind(err, retake.NotFound) {
			t.Errorf("locate %s: %v", dir, err)
		}
		if _, err := operator.Fork(t.Context(), retake.ForkRequest{Workspace: b.initial.Namespace.Default, Ref: "latest", Dir: filepath.Join(dir, "fork")}); !retake.IsKind(err, retake.NotFound) {
			t.Errorf("fork to %s: %v", dir, err)
		}
	}
	for _, name := range []string{"../x", "a/b", "", ".", "..", ".hidden"} {
		if _, err := operator.Init(t.Context(), retake.InitRequest{Name: name}); !retake.IsKind(err, retake.Invalid) {
			t.Errorf("a workspace called %q: %v", name, err)
		}
	}
	_, err := b.srv.SetRoots(t.Context(), server.FirstNamespace, []string{outside})
	must(t, err)
	b.stop()
	b.start("", nil)
	_, err = b.clientAs(retake.KeyOperator).Init(t.Context(), retake.InitRequest{Dir: outside, Name: "granted"})
	must(t, err)
}

// No role may delete checkpoints at once.
func TestNothingIsDeletedAtOnce(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("a", "1")
	cp := b.saveCheckpoint("one")
	b.writeFile("a", "2")
	b.saveCheckpoint("two")
	ws := b.initial.Namespace.Default
	for _, kind := range retake.KeyKinds {
		if _, err := b.clientAs(kind).Forget(t.Context(), ws, []string{string(cp.ID)}); !retake.IsKind(err, retake.Denied) {
			t.Errorf("forget with an API key with the role %s: %v", kind, err)
		}
	}
	admin := b.clientAs(retake.KeyAdmin)
	d, err := admin.RequestDeletion(t.Context(), retake.DeletionRequest{Workspace: ws, Refs: []string{string(cp.ID)}, Why: "asked for"})
	must(t, err)
	if d.State != retake.DeletionWaiting || d.Due.Sub(d.Asked) < 6*24*time.Hour {
		t.Errorf("the request: %+v", d)
	}
	if _, err := b.clientAs(retake.KeyReader).Find(t.Context(), ws, string(cp.ID)); err != nil {
		t.Errorf("while the request waits: %v", err)
	}
	d, err = admin.CancelDeletion(t.Context(), d.ID)
	must(t, err)
	if d.State != retake.DeletionCanceled {
		t.Errorf("taken back: %+v", d)
	}
}

// A hold cannot be removed like a pin.
func TestHold(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	cp := b.saveCheckpoint("evidence")
	ws := b.initial.Namespace.Default
	operator := b.clientAs(retake.KeyOperator)
	p, err := operator.Hold(t.Context(), ws, string(cp.ID), "case-7")
	must(t, err)
	if err := operator.Unpin(t.Context(), ws, p.Name); !retake.IsKind(err, retake.Denied) {
		t.Errorf("unpin a hold: %v", err)
	}
	must(t, operator.Release(t.Context(), ws, "case-7"))
}

// Two servers with one data directory act as one: the second forwards requests for a namespace
// that the first has open, and opens it when the first stops.
func TestHandOver(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("a", "1")
	b.saveCheckpoint("by the first")
	firstStop := b.stop
	b.start("", nil)
	b.writeFile("a", "2")
	if cp := b.saveCheckpoint("through the second"); cp.Number != 3 {
		t.Errorf("number %d", cp.Number)
	}
	firstStop()
	b.writeFile("a", "3")
	if cp := b.saveCheckpoint("by the second"); cp.Number != 4 {
		t.Errorf("number %d", cp.Number)
	}
	proof, err := b.clientAs(retake.KeyAdmin).CheckAudit(t.Context())
	must(t, err)
	if proof.Broken != 0 || proof.Entries < 4 {
		t.Errorf("the audit log: %+v", proof)
	}
}

// More namespaces than may be open at once are all served.
func TestManyNamespaces(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", func(o *server.Options) { o.MaxOpen = 1 })
	names := []retake.NamespaceID{"one", "two", "three"}
	keys := map[retake.NamespaceID]retake.NewNamespace{}
	for _, ns := range names {
		begun, err := b.srv.AddNamespace(t.Context(), retake.Namespace{ID: ns, Limits: retake.DefaultLimits()}, "")
		must(t, err)
		keys[ns] = begun
	}
	for range 2 {
		for _, ns := range names {
			begun := keys[ns]
			_, err := b.clientWithKey(begun.Keys[0].Secret).Save(t.Context(), retake.SaveRequest{Workspace: begun.Namespace.Default, Trigger: retake.TriggerManual, Intent: string(ns)})
			must(t, err)
		}
	}
	for _, ns := range names { // and none sees the files of another
		begun := keys[ns]
		u, err := b.clientWithKey(begun.Keys[1].Secret).Usage(t.Context())
		must(t, err)
		if u.Namespace != ns || u.Checkpoints != 3 {
			t.Errorf("%s: %+v", ns, u)
		}
		if _, err := b.clientWithKey(begun.Keys[1].Secret).Log(t.Context(), retake.LogQuery{Workspace: b.initial.Namespace.Default}); !retake.IsKind(err, retake.NotFound) {
			t.Errorf("%s reads another namespace: %v", ns, err)
		}
	}
}

// A key for one workspace has no access to another, whichever field of a request names it. The
// fields come from the description of the API, so that new ones are tested, too.
func TestT1_FieldsNameNoOtherWorkspace(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("mine.txt", "mine")
	b.saveCheckpoint("mine")
	home := b.initial.Namespace.Default
	fork, err := b.clientAs(retake.KeyOperator).Fork(t.Context(), retake.ForkRequest{Workspace: home, Ref: "latest", Name: "hidden-fork"})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(fork.Workspace.Root, "only-there.txt"), []byte("HIDDEN"), 0o600))
	saved, err := b.clientAs(retake.KeyOperator).Save(t.Context(), retake.SaveRequest{Workspace: fork.Workspace.ID, Trigger: retake.TriggerManual, Intent: "hidden intent"})
	must(t, err)
	hidden := []string{"hidden-fork", "only-there", "HIDDEN", "hidden intent"}
	ids := []string{string(fork.Workspace.ID), string(saved.Checkpoint.ID)}
	tried := 0
	for _, kind := range []retake.KeyKind{retake.KeyAgent, retake.KeyOperator} {
		k, err := b.clientAs(retake.KeyAdmin).MakeKey(t.Context(), retake.KeyRequest{Kind: kind, Workspaces: []string{string(home)}})
		must(t, err)
		for _, q := range b.requestsNaming(string(home), ids) {
			res, body := b.sendRequest(q.method, q.path, k.Secret, q.body, nil)
			for _, word := range hidden {
				if strings.Contains(body, word) && !strings.Contains(q.path, word) { // it is not only an echo of the request
					t.Errorf("%s %s %s with an API key with the role %s: %d tells %q", q.method, q.path, q.body, kind, res.StatusCode, word)
				}
			}
			tried++
		}
	}
	if tried < 100 {
		t.Errorf("only %d requests were made of the description", tried)
	}
	files, err := os.ReadDir(filepath.Join(b.data, "ns", "main", "files", "default"))
	must(t, err)
	for _, f := range files {
		if f.Name() == "only-there.txt" {
			t.Error("a file of another workspace was brought")
		}
	}
}

// With access to the fork the same key adopts it: the refusals above are due to the key's scope.
func TestT1_GrantedForkIsAdopted(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.saveCheckpoint("mine")
	home := b.initial.Namespace.Default
	fork, err := b.clientAs(retake.KeyOperator).Fork(t.Context(), retake.ForkRequest{Workspace: home, Ref: "latest", Name: "granted"})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(fork.Workspace.Root, "new.txt"), []byte("new"), 0o600))
	k, err := b.clientAs(retake.KeyAdmin).MakeKey(t.Context(), retake.KeyRequest{Kind: retake.KeyAgent, Workspaces: []string{string(home), string(fork.Workspace.ID)}})
	must(t, err)
	plan, err := b.clientWithKey(k.Secret).PlanRestore(t.Context(), retake.PlanRequest{Workspace: home, Course: retake.CourseAdopt, Fork: fork.Workspace.ID})
	must(t, err)
	if len(plan.Writes) != 1 {
		t.Errorf("the plan: %+v", plan.Writes)
	}
	forks, err := b.clientWithKey(k.Secret).Forks(t.Context(), home)
	must(t, err)
	if len(forks) != 1 {
		t.Errorf("forks: %+v", forks)
	}
}

// The rows of a timeline name only forks that the key may access.
func TestT1_TimelineShowsNoOtherFork(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.saveCheckpoint("mine")
	home := b.initial.Namespace.Default
	_, err := b.clientAs(retake.KeyOperator).Fork(t.Context(), retake.ForkRequest{Workspace: home, Ref: "latest", Name: "hidden"})
	must(t, err)
	k, err := b.clientAs(retake.KeyAdmin).MakeKey(t.Context(), retake.KeyRequest{Kind: retake.KeyAgent, Workspaces: []string{string(home)}})
	must(t, err)
	countForks := func(c retake.Viewer) (n int) {
		v, err := c.ViewTimeline(t.Context(), retake.TimelineQuery{LogQuery: retake.LogQuery{Workspace: home}})
		must(t, err)
		for _, r := range v.Rows {
			if r.Kind == retake.RowFork {
				n++
			}
		}
		return n
	}
	if n := countForks(b.clientWithKey(k.Secret)); n != 0 {
		t.Errorf("a key for one workspace sees %d forks", n)
	}
	if n := countForks(b.clientAs(retake.KeyOperator)); n != 1 { // the control
		t.Errorf("an operator sees %d forks", n)
	}
}

// A key for a fork has no access to the workspace that it was forked from, although the fork's
// first checkpoint has its parent there.
func TestT1_ForkTellsNothingOfItsOrigin(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("mine.txt", "mine")
	cp := b.saveCheckpoint("hidden intent")
	home := b.initial.Namespace.Default
	fork, err := b.clientAs(retake.KeyOperator).Fork(t.Context(), retake.ForkRequest{Workspace: home, Ref: "latest", Name: "given"})
	must(t, err)
	id := string(fork.Workspace.ID)
	k, err := b.clientAs(retake.KeyAdmin).MakeKey(t.Context(), retake.KeyRequest{Kind: retake.KeyAgent, Workspaces: []string{id}})
	must(t, err)
	d, err := b.clientWithKey(k.Secret).Diff(t.Context(), retake.DiffQuery{Workspace: fork.Workspace.ID, To: "1"})
	must(t, err)
	if d.From != nil {
		t.Errorf("the first checkpoint of the fork is compared with %d of its origin, %q", d.From.Number, d.From.Intent)
	}
	for _, q := range b.requestsNaming(id, []string{string(home), string(cp.ID)}) {
		if res, body := b.sendRequest(q.method, q.path, k.Secret, q.body, nil); strings.Contains(body, "hidden intent") {
			t.Errorf("%s %s %s: %d tells what was said in the origin", q.method, q.path, q.body, res.StatusCode)
		}
	}
}
