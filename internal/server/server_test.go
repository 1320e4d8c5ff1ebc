package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/webhook"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server"
)

func readerOf(s string) io.Reader { return strings.NewReader(s) }

// From an empty directory to the first signed message: one server, one request.
func TestFirstMessage(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	b := newTestServer(t, r.URL, nil)
	b.writeFile("a.txt", "one")
	cp := b.saveCheckpoint("first light")
	for {
		m := r.nextMessage(t)
		must(t, webhook.Verify(b.initial.Webhook.Secret, m.header, m.body, clock.Wall.Now()))
		e := decodeEvent(t, m.body)
		if e.Type == retake.EventCreated && e.Data.Checkpoint == cp.ID {
			if e.Data.Intent != "first light" {
				t.Errorf("the message says %q", e.Data.Intent)
			}
			return
		}
	}
}

type webhookEvent struct {
	Type retake.EventType `json:"type"`
	Data retake.EventData `json:"data"`
}

func decodeEvent(t testing.TB, body []byte) webhookEvent {
	t.Helper()
	var e webhookEvent
	must(t, json.Unmarshal(body, &e))
	return e
}

// A save and a restore through the snapshot API.
func TestSnapshots(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	agent := b.clientAs(retake.KeyAgent)
	b.writeFile("a.txt", "one")
	first, err := agent.MakeSnapshot(t.Context(), "", "one")
	must(t, err)
	b.writeFile("a.txt", "two")
	_, err = agent.RestoreSnapshot(t.Context(), first.ID, nil, []string{"changed"})
	must(t, err)
	got, err := os.ReadFile(filepath.Join(b.data, "ns", "main", "files", "default", "a.txt"))
	must(t, err)
	if string(got) != "one" {
		t.Errorf("after the restore the file says %q", got)
	}
}

// A restore in one request works after the agent changed, added and deleted files: all that it
// overwrites is in the safety snapshot and can be restored from there.
func TestS1_RollbackInOneRequest(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	agent, home := b.clientAs(retake.KeyAgent), filepath.Join(b.data, "ns", "main", "files", "default")
	b.writeFile("a.txt", "one")
	b.writeFile("b.txt", "kept")
	first, err := agent.MakeSnapshot(t.Context(), "", "before")
	must(t, err)
	b.writeFile("a.txt", "two")
	must(t, os.Remove(filepath.Join(home, "b.txt")))
	for i := range 40 { // more than are there: a mass deletion
		b.writeFile(fmt.Sprintf("junk%d", i), "junk")
	}
	res, body := b.sendRequest(http.MethodPost, "/v1/snapshots/"+string(first.ID)+"/restore", b.keySecret(retake.KeyAgent), "", nil)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", res.StatusCode, body)
	}
	if got, err := os.ReadFile(filepath.Join(home, "a.txt")); err != nil || string(got) != "one" {
		t.Errorf("a.txt says %q, %v", got, err)
	}
	if all, err := os.ReadDir(home); err != nil || len(all) != 2 {
		t.Errorf("there are %d files, %v", len(all), err)
	}
	var done struct {
		Restored int                 `json:"files_restored"`
		Deleted  int                 `json:"files_deleted"`
		Safety   retake.CheckpointID `json:"safety_snapshot_id"`
	}
	must(t, json.Unmarshal([]byte(body), &done))
	if done.Restored != 2 || done.Deleted != 40 {
		t.Errorf("it says %+v", done)
	}
	_, err = agent.RestoreSnapshot(t.Context(), done.Safety, nil, nil)
	must(t, err)
	if got, err := os.ReadFile(filepath.Join(home, "a.txt")); err != nil || string(got) != "two" {
		t.Errorf("back again, a.txt says %q, %v", got, err)
	}
}

// Obstacles that the safety snapshot cannot undo still need a confirmation, and nothing is changed.
func TestS1_WhatCannotBeTakenBackIsAsked(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("tool", "x")
	at := filepath.Join(b.data, "ns", "main", "files", "default", "tool")
	must(t, os.Chmod(at, 0o755|os.ModeSetuid))
	first, err := b.clientAs(retake.KeyAgent).MakeSnapshot(t.Context(), "", "with a setuid file")
	must(t, err)
	must(t, os.Remove(at))
	res, body := b.sendRequest(http.MethodPost, "/v1/snapshots/"+string(first.ID)+"/restore", b.keySecret(retake.KeyAgent), "", nil)
	if res.StatusCode != http.StatusConflict || !strings.Contains(body, "setuid") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	if _, err := os.Stat(at); err == nil {
		t.Error("it was restored all the same")
	}
}

func TestWithoutAKey(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	good := b.keySecret(retake.KeyReader)
	for name, secret := range map[string]string{"none": "", "nonsense": "rtk_agent_x", "another end": good[:len(good)-1] + "x"} {
		res, body := b.sendRequest(http.MethodGet, "/v1/usage", secret, "", nil)
		if res.StatusCode != http.StatusUnauthorized || strings.Contains(body, "namespace") {
			t.Errorf("%s: %d %s", name, res.StatusCode, body)
		}
	}
	if res, _ := b.sendRequest(http.MethodGet, "/v1/usage", good, "", nil); res.StatusCode != http.StatusOK {
		t.Errorf("a good key: %d", res.StatusCode)
	}
}

func TestRevokedKey(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", func(o *server.Options) { o.Clock = clock.Wall })
	admin := b.clientAs(retake.KeyAdmin)
	k, err := admin.MakeKey(t.Context(), retake.KeyRequest{Kind: retake.KeyReader, Name: "for a while"})
	must(t, err)
	if _, err := b.clientWithKey(k.Secret).Usage(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = admin.RevokeKey(t.Context(), k.Key.ID)
	must(t, err)
	for range 200 { // a key is cached for two seconds
		if _, err = b.clientWithKey(k.Secret).Usage(t.Context()); err != nil {
			break
		}
		select {
		case <-t.Context().Done():
		case <-afterMillis(50):
		}
	}
	if !retake.IsKind(err, retake.Denied) {
		t.Errorf("a revoked key: %v", err)
	}
	all, err := admin.Keys(t.Context())
	must(t, err)
	for _, k := range all {
		if k.Kind == retake.KeyAdmin {
			if _, err := admin.RevokeKey(t.Context(), k.ID); !retake.IsKind(err, retake.Denied) {
				t.Errorf("the last admin key: %v", err)
			}
		}
	}
}

// A request that is repeated with the same idempotency key is executed once.
func TestOnce(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	secret := b.keySecret(retake.KeyAgent)
	once := map[string]string{"Idempotency-Key": "k1"}
	res, first := b.sendRequest(http.MethodPost, "/v1/snapshots", secret, `{"label":"a"}`, once)
	if res.StatusCode != http.StatusCreated {
		t.Fatal(res.StatusCode, first)
	}
	res, again := b.sendRequest(http.MethodPost, "/v1/snapshots", secret, `{"label":"a"}`, once)
	if res.StatusCode != http.StatusCreated || again != first || res.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("again: %d %s", res.StatusCode, again)
	}
	if res, _ = b.sendRequest(http.MethodPost, "/v1/snapshots", secret, `{"label":"b"}`, once); res.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("another request with the same key: %d", res.StatusCode)
	}
	if res, _ = b.sendRequest(http.MethodPost, "/v1/snapshots", secret, `{"label":"a"}`, map[string]string{"Idempotency-Key": "k2"}); res.StatusCode != http.StatusCreated {
		t.Errorf("another key: %d", res.StatusCode)
	}
	log, err := b.clientAs(retake.KeyReader).Log(t.Context(), retake.LogQuery{Workspace: b.initial.Namespace.Default})
	must(t, err)
	if log.Total != 3 { // the initial one, a, and a with another key
		t.Errorf("%d checkpoints", log.Total)
	}
}

func TestTooOften(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	_, err := b.srv.SetLimits(t.Context(), server.FirstNamespace, func(l *retake.Limits) { l.PerSecond = 1 })
	must(t, err)
	refused := 0
	for range 200 {
		res, _ := b.sendRequest(http.MethodGet, "/v1/namespace", b.keySecret(retake.KeyReader), "", nil)
		if left := res.Header.Get("RateLimit"); res.Header.Get("RateLimit-Policy") == "" || strings.HasPrefix(left, `"requests";r=0;`) != (res.StatusCode == http.StatusTooManyRequests) && !strings.HasPrefix(left, `"requests";r=0;`) {
			t.Fatalf("%d with RateLimit %q of %q", res.StatusCode, left, res.Header.Get("RateLimit-Policy"))
		}
		if res.StatusCode == http.StatusTooManyRequests {
			if refused++; res.Header.Get("Retry-After") == "" {
				t.Fatal("nobody says when to come back")
			}
			break
		}
		select {
		case <-t.Context().Done():
		case <-afterMillis(20):
		}
	}
	if refused == 0 {
		t.Error("two hundred requests in a few seconds are let in at one a second")
	}
}

func TestScopedKey(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	res, err := b.clientAs(retake.KeyOperator).Init(t.Context(), retake.InitRequest{Name: "second"})
	must(t, err)
	k, err := b.clientAs(retake.KeyAdmin).MakeKey(t.Context(), retake.KeyRequest{Kind: retake.KeyAgent, Workspaces: []string{string(res.Workspace.ID)}})
	must(t, err)
	mine := b.clientWithKey(k.Secret)
	_, err = mine.Save(t.Context(), retake.SaveRequest{Workspace: res.Workspace.ID, Trigger: retake.TriggerManual})
	must(t, err)
	if _, err := mine.Log(t.Context(), retake.LogQuery{Workspace: b.initial.Namespace.Default}); !retake.IsKind(err, retake.Denied) {
		t.Errorf("another workspace: %v", err)
	}
	if _, err := mine.Workspaces(t.Context()); !retake.IsKind(err, retake.Denied) {
		t.Errorf("the list of all: %v", err)
	}
}

// The wrong key-encryption key opens no store, and the error says so.
func TestAnotherKEK(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.saveCheckpoint("one")
	b.stop()
	b.start("", func(o *server.Options) { o.EncryptionKeys = [][]byte{secretbox.NewKey()} })
	_, err := b.clientAs(retake.KeyAgent).Save(t.Context(), retake.SaveRequest{Workspace: b.initial.Namespace.Default, Trigger: retake.TriggerManual})
	if !retake.IsKind(err, retake.Away) || !strings.Contains(err.Error(), "cannot be unlocked") {
		t.Errorf("saved with another key: %v", err)
	}
}
