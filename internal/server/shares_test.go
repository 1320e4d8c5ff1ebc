package server_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/server"
)

// movingClock is a clock that can be put forward.
type movingClock struct{ by atomic.Int64 }

func (c *movingClock) Now() time.Time { return clock.Wall.Now().Add(time.Duration(c.by.Load())) }

// sharesBed is a server whose namespace may take 8 MB, and has a second workspace.
type sharesBed struct {
	*testServer
	clock       *movingClock
	first       retake.WorkspaceID
	other       retake.WorkspaceID
	agent       *client.Client
	secondAgent *client.Client
	files       int
}

func newSharesBed(t *testing.T, webhook string, change func(*retake.Limits)) *sharesBed {
	t.Helper()
	s := &sharesBed{clock: &movingClock{}}
	s.testServer = newTestServer(t, webhook, s.options)
	s.first, s.agent = s.initial.Namespace.Default, s.clientAs(retake.KeyAgent)
	res, err := s.clientAs(retake.KeyOperator).Init(t.Context(), retake.InitRequest{Name: "other"})
	must(t, err)
	s.other = res.Workspace.ID
	k, err := s.clientAs(retake.KeyAdmin).MakeKey(t.Context(), retake.KeyRequest{Kind: retake.KeyAgent, Name: "second agent"})
	must(t, err)
	s.secondAgent = s.clientWithKey(k.Secret)
	s.limit(func(l *retake.Limits) {
		l.Store, l.WorkspaceShare, l.KeyShare = 8e6, 0, 0
		change(l)
	})
	return s
}

func (s *sharesBed) options(o *server.Options) { o.Clock = s.clock }

// limit changes the limits, and lets so much time pass that they are read again.
func (s *sharesBed) limit(change func(*retake.Limits)) {
	s.t.Helper()
	_, err := s.srv.SetLimits(s.t.Context(), server.FirstNamespace, change)
	must(s.t, err)
	s.clock.by.Add(int64(2 * time.Minute))
}

// save adds a file of 1 MB that nothing makes smaller to a workspace.
func (s *sharesBed) save(c *client.Client, ws retake.WorkspaceID, pin string) error {
	s.t.Helper()
	b := make([]byte, 1e6)
	_, _ = rand.Read(b) // never fails
	s.files++
	dir := map[retake.WorkspaceID]string{s.first: "default", s.other: "other"}[ws]
	at := filepath.Join(s.data, "ns", "main", "files", dir, fmt.Sprint(s.files))
	must(s.t, os.WriteFile(at, b, 0o644))
	_, err := c.Save(s.t.Context(), retake.SaveRequest{Workspace: ws, Trigger: retake.TriggerManual, Pin: pin})
	if err != nil {
		must(s.t, os.Remove(at)) // the next save shall add 1 MB again
	}
	return err
}

// fill saves until a save is refused, and returns how many were not.
func (s *sharesBed) fill(c *client.Client, ws retake.WorkspaceID) (int, error) {
	s.t.Helper()
	for n := range 20 {
		if err := s.save(c, ws, ""); err != nil {
			return n, err
		}
	}
	s.t.Fatal("20 MB were saved where 8 MB is the limit")
	return 0, nil
}

// removeOld makes retention delete all but the newest checkpoints.
func (s *sharesBed) removeOld() {
	s.t.Helper()
	s.limit(func(l *retake.Limits) { l.Within, l.GoneAfter = time.Hour, time.Hour })
	s.clock.by.Add(int64(12 * time.Hour)) // retention does not believe a clock that jumps by more than a day
	_, err := s.clientAs(retake.KeyMaintainer).Thin(s.t.Context(), retake.ThinRequest{})
	must(s.t, err)
	s.limit(func(l *retake.Limits) { l.GoneAfter = 0 })
}

func wantLimited(t *testing.T, err error, words ...string) {
	t.Helper()
	if !retake.IsKind(err, retake.Limit) {
		t.Fatalf("not refused by a limit: %v", err)
	}
	e := retake.AsError(err)
	for _, w := range words {
		if !strings.Contains(e.What+" "+e.Hint, w) {
			t.Errorf("%q is not in %q, %q", w, e.What, e.Hint)
		}
	}
}

// One workspace that an agent fills up to its share does not stop the saves of another. Restores,
// and saves that an operator pins, are not stopped in it either.
func TestAFullWorkspaceDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	s := newSharesBed(t, "", func(l *retake.Limits) { l.WorkspaceShare = 50 })
	n, err := s.fill(s.agent, s.first)
	wantLimited(t, err, "default", "50 %", "4.0 MB", "POST /v1/deletions", "workspace_share")
	if n != 4 {
		t.Errorf("%d saves of 1 MB fit into 4 MB", n)
	}
	must(t, s.save(s.agent, s.other, ""))

	err = s.save(s.clientAs(retake.KeyOperator), s.first, "")
	wantLimited(t, err)
	must(t, s.save(s.clientAs(retake.KeyOperator), s.first, "keep")) // the operator decided it
	_, err = s.clientAs(retake.KeyOperator).Pin(t.Context(), s.first, "2", "also")
	must(t, err)
	s.writeFile("unsaved", "must be in the safety checkpoint")
	for _, kind := range []retake.KeyKind{retake.KeyAgent, retake.KeyOperator} {
		s.writeFile("unsaved", "only on disk, by "+string(kind))
		res, err := s.clientAs(kind).Restore(t.Context(), retake.ApplyRequest{
			PlanRequest: retake.PlanRequest{Workspace: s.first, Course: retake.CourseRestore, Ref: "2"}, Accept: []string{"changed"},
		})
		must(t, err)
		if res.Safety.ID == "" || res.Safety.Number < res.Target.Number {
			t.Errorf("%s: no safety checkpoint: %+v", kind, res)
		}
	}
}

// An agent that fills its share in all workspaces does not stop another agent.
func TestAFullKeyDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	s := newSharesBed(t, "", func(l *retake.Limits) { l.KeyShare = 50 })
	must(t, s.save(s.agent, s.other, ""))
	n, err := s.fill(s.agent, s.first)
	wantLimited(t, err, "first agent", "50 %", "key_share")
	if n != 3 {
		t.Errorf("after 1 MB, %d saves of 1 MB fit into 4 MB", n)
	}
	wantLimited(t, s.save(s.agent, s.other, ""))
	must(t, s.save(s.secondAgent, s.other, ""))
	must(t, s.save(s.clientAs(retake.KeyOperator), s.first, ""))
}

// What agents report takes checkpoints, too, and those count and stop.
func TestSharesCountSignals(t *testing.T) {
	t.Parallel()
	s := newSharesBed(t, "", func(l *retake.Limits) { l.KeyShare = 50 })
	_, err := s.fill(s.agent, s.first)
	wantLimited(t, err)
	observe := func(c *client.Client, session string) error {
		_, err := c.Observe(t.Context(), retake.Signal{
			ID: queue.NewID(), Kind: retake.SignalPrompt, Time: s.clock.Now(), Agent: "claude-code", Session: session,
			Dir: filepath.Join(s.data, "ns", "main", "files", "default"), Prompt: "fix it",
		})
		return err
	}
	before := s.total(s.first)
	s.writeFile("edited", "before the prompt")
	wantLimited(t, observe(s.agent, "s1"), "key_share")
	if n := s.total(s.first); n != before {
		t.Errorf("%d checkpoints, and %d before", n, before)
	}
	must(t, observe(s.secondAgent, "s2"))
	if n := s.total(s.first); n != before+1 {
		t.Errorf("%d checkpoints, and %d before", n, before)
	}
}

func (s *sharesBed) total(ws retake.WorkspaceID) int64 {
	s.t.Helper()
	log, err := s.clientAs(retake.KeyReader).Log(s.t.Context(), retake.LogQuery{Workspace: ws})
	must(s.t, err)
	return log.Total
}

// A workspace and a key that are alone may take all.
func TestSharesAreForSeveral(t *testing.T) {
	t.Parallel()
	s := newSharesBed(t, "", func(l *retake.Limits) { l.WorkspaceShare, l.KeyShare = 50, 50 })
	_, err := s.clientAs(retake.KeyOperator).Deinit(t.Context(), s.other)
	must(t, err)
	keys, err := s.clientAs(retake.KeyAdmin).Keys(t.Context())
	must(t, err)
	for _, k := range keys {
		if k.Name == "second agent" {
			_, err := s.clientAs(retake.KeyAdmin).RevokeKey(t.Context(), k.ID)
			must(t, err)
		}
	}
	s.clock.by.Add(int64(2 * time.Minute))
	if n, err := s.fill(s.agent, s.first); n < 7 {
		t.Errorf("%d MB of 8, and then: %v", n, err)
	}
}

// The counters outlive a server, are the same at two, and go down when checkpoints go.
func TestSharesAtTwoServersAndAfterCleanup(t *testing.T) {
	t.Parallel()
	s := newSharesBed(t, "", func(l *retake.Limits) { l.WorkspaceShare = 50 })
	must(t, s.save(s.agent, s.first, ""))
	stopFirst := s.stop
	s.start("", s.options) // beside the first, which has the namespace open
	beside := s.clientAs(retake.KeyAgent)
	must(t, s.save(beside, s.first, ""))
	must(t, s.save(s.agent, s.first, ""))
	must(t, s.save(beside, s.first, ""))
	wantLimited(t, s.save(beside, s.first, ""))
	wantLimited(t, s.save(s.agent, s.first, ""))
	stopFirst()
	wantLimited(t, s.save(beside, s.first, "")) // it has the namespace now
	must(t, s.save(beside, s.other, ""))

	s.removeOld()
	must(t, s.save(beside, s.first, ""))
	u := s.usage(retake.KeyAdmin)
	if len(u.Largest) != 2 || u.Largest[0].Bytes != 2e6 {
		t.Errorf("after the cleanup: %+v", u.Largest)
	}
}

func (s *sharesBed) usage(kind retake.KeyKind) retake.Usage {
	s.t.Helper()
	u, err := s.clientAs(kind).Usage(s.t.Context())
	must(s.t, err)
	return u
}

// The usage names who added most; others than an admin see no other keys.
func TestUsageNamesTheLargest(t *testing.T) {
	t.Parallel()
	s := newSharesBed(t, "", func(l *retake.Limits) { l.WorkspaceShare, l.KeyShare = 50, 75 })
	_, err := s.fill(s.agent, s.first)
	wantLimited(t, err)
	must(t, s.save(s.secondAgent, s.other, ""))
	u := s.usage(retake.KeyAdmin)
	if len(u.Largest) != 2 || u.Largest[0].Name != "default" || u.Largest[0].Bytes != 4e6 || u.Largest[1].Workspace != s.other || u.Largest[1].Bytes != 1e6 {
		t.Errorf("workspaces: %+v", u.Largest)
	}
	if len(u.Keys) != 2 || u.Keys[0].Name != "first agent" || u.Keys[0].Role != retake.KeyAgent || u.Keys[0].Bytes != 4e6 || u.Keys[1].Name != "second agent" {
		t.Errorf("keys: %+v", u.Keys)
	}
	if len(u.NearlyFull) != 1 || u.NearlyFull[0].Workspace != s.first || u.NearlyFull[0].Percent != 100 || u.NearlyFull[0].Limit != 4e6 {
		t.Errorf("nearly full: %+v", u.NearlyFull)
	}
	if u := s.usage(retake.KeyAgent); len(u.Keys) != 1 || u.Keys[0].Name != "first agent" {
		t.Errorf("an agent sees the keys %+v", u.Keys)
	}
	if u := s.usage(retake.KeyReader); len(u.Keys) != 0 {
		t.Errorf("a reader sees the keys %+v", u.Keys)
	}
}

// full lists the events about the store and its shares: what, and the percentage.
func (s *sharesBed) full() []string {
	s.t.Helper()
	all, err := s.clientAs(retake.KeyReader).Events(s.t.Context(), retake.EventQuery{Limit: 1000})
	must(s.t, err)
	names := map[retake.WorkspaceID]string{s.first: "default", s.other: "other"}
	out := []string{}
	for _, e := range all {
		if e.Type != retake.EventFull {
			continue
		}
		var d retake.EventData
		must(s.t, json.Unmarshal(e.Data, &d))
		what := "store"
		if d.Workspace != "" {
			what = names[d.Workspace]
		} else if d.Key != "" {
			what = "key"
		}
		if d.Limit == 0 || d.Bytes == 0 || d.Namespace != server.FirstNamespace {
			s.t.Errorf("the event says %+v", d)
		}
		out = append(out, fmt.Sprintf("%s %d", what, d.Percent))
	}
	return out
}

// An event comes once when 80 % and once when 95 % of a share is passed, over a restart, and again
// only after it fell below. Webhooks get it.
func TestNearlyFullOnce(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	s := newSharesBed(t, r.URL, func(l *retake.Limits) { l.Store, l.WorkspaceShare = 40e6, 25 })
	saves := func(n int) {
		t.Helper()
		for range n {
			must(t, s.save(s.agent, s.first, ""))
		}
	}
	want := func(when string, want ...string) {
		t.Helper()
		if got := s.full(); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	saves(7)
	want("at 70 %")
	saves(2)
	want("at 90 %", "default 80")
	s.stop()
	s.start("", s.options)
	s.agent = s.clientAs(retake.KeyAgent)
	s.usage(retake.KeyAdmin)
	want("after a restart", "default 80")
	saves(1)
	s.clock.by.Add(int64(2 * time.Minute))
	s.usage(retake.KeyAdmin)
	want("at 100 %", "default 80", "default 100")
	s.removeOld()
	s.usage(retake.KeyAdmin)
	want("after a cleanup", "default 80", "default 100")
	saves(8)
	want("again", "default 80", "default 100", "default 80")
	for {
		if e := decodeEvent(t, r.nextMessage(t).body); e.Type == retake.EventFull {
			if e.Data.Workspace != s.first || e.Data.Percent != 80 || e.Data.Limit != 10e6 {
				t.Errorf("the message says %+v", e.Data)
			}
			return
		}
	}
}

// A share is a percentage.
func TestShareIsAPercentage(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	for body, want := range map[string]int{
		`{"workspace_share":0,"key_share":100}`: http.StatusOK, `{"workspace_share":101}`: http.StatusUnprocessableEntity, `{"key_share":-1}`: http.StatusUnprocessableEntity,
	} {
		if res, text := b.sendRequest(http.MethodPut, "/v1/namespace/limits", b.keySecret(retake.KeyAdmin), body, nil); res.StatusCode != want {
			t.Errorf("%s: %d %s", body, res.StatusCode, text)
		}
	}
}
