//go:build ssh && unix

package seeds_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/pure/wire"
	"github.com/retake-dev/retake/internal/server"
	"github.com/retake-dev/retake/test/real"
)

// This seed is the workspace snapshots of Agenhood: every completed task of an agent is a
// restore point without anybody saving, going back discards nothing, and a git remote with a
// deploy key gets each task, too. All of it is hosted: an agent and its user have HTTP only,
// and the agent works in a directory of the server.

// fleet is a hosted workspace with an agent in it, and a host for git that only the company's
// own network reaches.
type fleet struct {
	*hosted
	host *real.Sshd
	repo string // the remote, as a directory of the host
	ws   retake.WorkspaceID
	root string
	turn int
	said []string // the answers so far: "200 GET /v1/…"
}

func newFleet(t *testing.T, allowed ...netip.Prefix) *fleet {
	t.Helper()
	f := &fleet{host: real.StartSshd(t)}
	f.hosted = newHosted(t, func(o *server.Options) { o.AllowAddresses = allowed })
	f.repo = filepath.Join(f.host.Root, "agent.git")
	f.git("init", "--bare", "-q", f.repo)
	var made retake.SaveResult
	f.ask(&made, retake.KeyOperator, http.MethodPost, "/v1/workspaces", wire.InitBody{Name: "agent-7"})
	var status retake.Status
	f.ws = made.Workspace.ID
	f.ask(&status, retake.KeyAgent, http.MethodGet, f.at("status"), nil)
	f.root = status.Workspace.Root
	return f
}

func (f *fleet) at(rest string) string { return "/v1/workspaces/" + string(f.ws) + "/" + rest }

// send sends a request as any program would, and returns the answer.
func (f *fleet) send(kind retake.KeyKind, method, path string, body any) (int, []byte) {
	f.Helper()
	var sent io.Reader = http.NoBody
	if body != nil {
		b, err := json.Marshal(body)
		must(f.T, err)
		sent = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(f.Context(), method, f.url+path, sent)
	must(f.T, err)
	req.Header.Set("Authorization", "Bearer "+f.keys[kind])
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	must(f.T, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	must(f.T, err)
	f.said = append(f.said, fmt.Sprintf("%d %s %s", res.StatusCode, method, path))
	return res.StatusCode, b
}

// ask wants a success: nothing in the flow needs a second request to be confirmed.
func (f *fleet) ask(into any, kind retake.KeyKind, method, path string, body any) {
	f.Helper()
	status, b := f.send(kind, method, path, body)
	if status/100 != 2 {
		f.Fatalf("%s %s: %d %s", method, path, status, b)
	}
	must(f.T, json.Unmarshal(b, into))
}

func (f *fleet) git(args ...string) string {
	f.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = append(cmd.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		f.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// tell reports one event of the agent.
func (f *fleet) tell(kind retake.SignalKind, fill func(*retake.Signal)) retake.Reaction {
	f.Helper()
	id, err := uuid.NewV7()
	must(f.T, err)
	s := retake.Signal{
		ID: retake.SignalID(retake.SignalPrefix + id.String()), Kind: kind, Time: time.Now(), Agent: "codex", Version: "1.0",
		Session: "s1", Turn: fmt.Sprint("turn-", f.turn), Dir: f.root,
	}
	if fill != nil {
		fill(&s)
	}
	var r retake.Reaction
	f.ask(&r, retake.KeyAgent, http.MethodPost, "/v1/signals", s)
	return r
}

// task is a piece of work of the agent, with the files after it.
type task struct {
	prompt string
	cp     retake.Checkpoint
	state  map[string]string
}

// works lets the agent do a task: it writes files, or removes those without text.
func (f *fleet) works(prompt string, files map[string]string) task {
	f.Helper()
	f.turn++
	f.tell(retake.SignalPrompt, func(s *retake.Signal) { s.Prompt = prompt })
	call := &retake.Call{ID: fmt.Sprint("call-", f.turn), Tool: "apply_patch", Kind: retake.CallWrite, Paths: slices.Sorted(maps.Keys(files))}
	f.tell(retake.SignalCall, func(s *retake.Signal) { s.Call = call })
	for name, text := range files {
		path := filepath.Join(f.root, name)
		if text == "" {
			must(f.T, os.RemoveAll(path))
			continue
		}
		must(f.T, os.MkdirAll(filepath.Dir(path), 0o755))
		must(f.T, os.WriteFile(path, []byte(text), 0o644))
	}
	f.tell(retake.SignalCalled, func(s *retake.Signal) { s.Call = call })
	f.tell(retake.SignalTurnEnd, func(s *retake.Signal) { s.Message = "Done." })
	newest := f.timeline()[0]
	if newest.Trigger != retake.TriggerTurn || newest.Intent != prompt || newest.Turn == nil || newest.Turn.Agent != "codex" {
		f.Errorf("after %q the newest checkpoint is %+v", prompt, newest)
	}
	return task{prompt, newest, entries(f.T, f.root)}
}

func (f *fleet) timeline() []retake.Checkpoint {
	f.Helper()
	var log retake.Timeline
	f.ask(&log, retake.KeyReader, http.MethodGet, f.at("checkpoints"), nil)
	return log.Checkpoints
}

// browse looks at the timeline as the console does: a row for each task, and what it changed.
func (f *fleet) browse(tasks []task) {
	f.Helper()
	var view retake.TimelineView
	f.ask(&view, retake.KeyReader, http.MethodGet, f.at("view/timeline"), nil)
	for i, t := range tasks {
		if !slices.ContainsFunc(view.Rows, func(r retake.TimelineRow) bool {
			return r.Number == t.cp.Number && strings.Contains(r.Title, t.prompt)
		}) {
			f.Errorf("no row for %q in %+v", t.prompt, view.Rows)
		}
		if i == 0 {
			continue
		}
		var diff retake.Comparison
		f.ask(&diff, retake.KeyReader, http.MethodGet, f.at("diff?from="+string(tasks[i-1].cp.ID)+"&to="+string(t.cp.ID)), nil)
		if len(diff.Changes) == 0 {
			f.Errorf("%q changed nothing", t.prompt)
		}
	}
}

// keeps checks that each task can still be gone back to: its checkpoint is listed, and has the
// files as they were.
func (f *fleet) keeps(tasks []task) {
	f.Helper()
	all := f.timeline()
	for _, t := range tasks {
		if !slices.ContainsFunc(all, func(cp retake.Checkpoint) bool { return cp.ID == t.cp.ID }) {
			f.Errorf("%q is not in the timeline any more", t.prompt)
		}
		if got := f.archived(f.ws, string(t.cp.ID)); !maps.Equal(got, t.state) {
			f.Errorf("the checkpoint of %q has %v, want %v", t.prompt, keys(got), keys(t.state))
		}
	}
}

// rollBack restores a task with one request, and loses nothing.
func (f *fleet) rollBack(to task, tasks []task) {
	f.Helper()
	before := len(f.timeline())
	var res retake.RestoreResult
	f.ask(&res, retake.KeyAgent, http.MethodPost, f.at("restore"), wire.ApplyBody{Ref: string(to.cp.ID)})
	if got := entries(f.T, f.root); !maps.Equal(got, to.state) || len(res.Failed) > 0 {
		f.Errorf("rolled back to %q: %v, want %v; failed: %v", to.prompt, keys(got), keys(to.state), res.Failed)
	}
	if after := len(f.timeline()); after <= before {
		f.Errorf("the timeline had %d checkpoints, and has %d", before, after)
	}
	f.keeps(tasks)
}

// backUp sets the remote: first look at the key of the host, then agree to it.
func (f *fleet) backUp() retake.Backup {
	f.Helper()
	var offered, set retake.Backup
	f.ask(&offered, retake.KeyOperator, http.MethodPut, f.at("backup"), wire.BackupBody{URL: f.host.URL("agent.git")})
	if offered.Set || offered.Host == nil || offered.Host.Kind+" "+offered.Host.Key != f.host.Key {
		f.Fatalf("the host is %s, and the offer %+v", f.host.Key, offered)
	}
	f.ask(&set, retake.KeyOperator, http.MethodPut, f.at("backup"), wire.BackupBody{URL: offered.URL, Host: offered.Host.Print})
	if !set.Set || set.Public == "" {
		f.Fatalf("the backup is not set: %+v", set)
	}
	f.host.LetIn(set.Public)
	return set
}

// arrives waits until the remote has a checkpoint, and compares a clone with its files.
func (f *fleet) arrives(cp retake.Checkpoint, branch string, state map[string]string) {
	f.Helper()
	var b retake.Backup
	for end := time.Now().Add(2 * time.Minute); b.Pushed == nil || b.Pushed.Number < cp.Number; <-time.After(100 * time.Millisecond) {
		if f.ask(&b, retake.KeyReader, http.MethodGet, f.at("backup"), nil); time.Now().After(end) {
			f.Fatalf("checkpoint %d never arrived: %+v, %+v", cp.Number, b, b.Trouble)
		}
	}
	tip := f.git("--git-dir", f.repo, "rev-parse", branch)
	if b.Behind != 0 || b.Trouble != nil || b.Pushed.Commit != tip {
		f.Errorf("the remote has %s, and the backup is %+v", tip, b)
	}
	to := filepath.Join(f.TempDir(), "clone")
	f.git("clone", "-q", "--branch", branch, "file://"+f.repo, to)
	if got := entries(f.T, to); !maps.Equal(got, state) {
		f.Errorf("the clone has %v, want %v", keys(got), keys(state))
	}
	if text := f.git("--git-dir", f.repo, "log", "-1", "--format=%B", branch); !strings.Contains(text, string(cp.ID)) {
		f.Errorf("the commit does not name checkpoint %s:\n%s", cp.ID, text)
	}
}

func TestSeed000_HostedTimelineAndBackup(t *testing.T) {
	t.Parallel()
	f := newFleet(t, netip.MustParsePrefix("127.0.0.0/8"))
	first := f.works("write the shop", map[string]string{"shop.py": "price = 1\n", "docs/readme.md": "the shop\n"})
	second := f.works("add taxes", map[string]string{"shop.py": "price = 1\ntax = 2\n", "tax/rates.csv": "de,19\n"})
	set := f.backUp()
	third := f.works("clean up", map[string]string{"shop.py": "garbage\n", "docs": "", "tmp/1": "x", "tmp/2": "y"})
	f.arrives(third.cp, set.Branch, third.state)
	tasks := []task{first, second, third}
	f.browse(tasks)

	f.rollBack(first, tasks)
	f.rollBack(third, tasks) // forward again
	f.rollBack(second, tasks)
	f.browse(tasks)
	f.arrives(f.timeline()[0], set.Branch, second.state)
	fourth := f.works("go on from there", map[string]string{"shop.py": "price = 1\ntax = 3\n"})
	f.arrives(fourth.cp, set.Branch, fourth.state)
	tasks = append(tasks, fourth)
	f.unsaved(tasks)
	for _, done := range tasks { // the branch has all of them, and only grew
		if n := f.git("--git-dir", f.repo, "rev-list", "--count", "--grep", "Retake-Checkpoint: "+string(done.cp.ID), set.Branch); n != "1" {
			t.Errorf("%q is %s commits of the remote", done.prompt, n)
		}
	}
	if bad := slices.DeleteFunc(slices.Clone(f.said), func(s string) bool { return strings.HasPrefix(s, "2") }); len(bad) > 0 {
		t.Errorf("answers that are no success: %v", bad)
	}
}

// unsaved rolls back over edits that no checkpoint has yet. They are in the safety snapshot.
func (f *fleet) unsaved(tasks []task) {
	f.Helper()
	must(f.T, os.WriteFile(filepath.Join(f.root, "shop.py"), []byte("half done\n"), 0o644))
	edited := entries(f.T, f.root)
	var res client.Restored
	f.ask(&res, retake.KeyAgent, http.MethodPost, "/v1/snapshots/"+string(tasks[0].cp.ID)+"/restore", nil)
	if got := entries(f.T, f.root); !maps.Equal(got, tasks[0].state) {
		f.Errorf("rolled back to %v, want %v", keys(got), keys(tasks[0].state))
	}
	if got := f.archived(f.ws, string(res.Safety)); !maps.Equal(got, edited) {
		f.Errorf("the safety snapshot has %v, want %v", keys(got), keys(edited))
	}
	f.keeps(tasks)
}

// A server that does not allow the address says so. Asking again would not help, and it does
// not say that it would.
func TestSeed000_ControlPrivateAddress(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.works("write the shop", map[string]string{"shop.py": "price = 1\n"})
	f.refuses("a backup whose host is asked for its key", http.MethodPut, wire.BackupBody{URL: f.host.URL("agent.git")}, "not public")
	f.refuses("a backup whose host key is named", http.MethodPut, wire.BackupBody{URL: f.host.URL("agent.git"), Host: f.host.Key}, "not public")
	f.refuses("a push", http.MethodPost, nil, "no backup")
	if status, b := f.send(retake.KeyReader, http.MethodGet, f.at("backup"), nil); status != http.StatusNotFound {
		t.Errorf("a backup that was refused is there: %d %s", status, b)
	}
	if refs := f.git("--git-dir", f.repo, "for-each-ref"); refs != "" {
		t.Errorf("the remote has %s", refs)
	}
	f.host.Stop()
	if log := f.host.Log(); strings.Contains(log, "Accepted publickey") {
		t.Errorf("the host was spoken to: %s", log)
	}
}

// refuses checks that a request about the backup is refused for a reason, and for good.
func (f *fleet) refuses(what, method string, body any, reason string) {
	f.Helper()
	status, b := f.send(retake.KeyOperator, method, f.at("backup"), body)
	var p wire.Problem
	must(f.T, json.Unmarshal(b, &p))
	if status/100 != 4 || p.Retryable || !strings.Contains(p.Detail, reason) {
		f.Errorf("%s: %d %s", what, status, b)
	}
}
