package server_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/retake-dev/retake"
)

// setting is a route that replaces what others may change meanwhile.
type setting struct {
	role       retake.KeyKind
	read, put  string
	bodies     [2]string
	tag        func(t *testing.T, r response, body string) string // from the response to read
	answersTag bool                                               // the response to put has the new one
}

func headerTag(_ *testing.T, r response, _ string) string { return r.Header.Get("ETag") }

func (b *testServer) settings() map[string]setting {
	b.t.Helper()
	tasks := "/v1/workspaces/" + string(b.initial.Namespace.Default) + "/tasks"
	_, made := b.sendRequest("POST", "/v1/webhooks", b.keySecret(retake.KeyAdmin), `{"url":"http://127.0.0.1:9/a"}`, nil)
	var hook retake.NewWebhook
	must(b.t, json.Unmarshal([]byte(made), &hook))
	return map[string]setting{
		"limits": {retake.KeyAdmin, "/v1/namespace", "/v1/namespace/limits", [2]string{`{"workspaces":7}`, `{"workspaces":8}`}, headerTag, true},
		"tasks":  {retake.KeyAgent, tasks, tasks, [2]string{`{"tasks":[{"id":"1","title":"a","status":"pending"}]}`, `{"tasks":[]}`}, headerTag, false},
		"webhook": {retake.KeyAdmin, "/v1/webhooks", "/v1/webhooks/" + string(hook.Webhook.ID), [2]string{`{"url":"http://127.0.0.1:9/b","disabled":"2026-01-01T00:00:00Z"}`, `{"url":"http://127.0.0.1:9/c"}`}, func(t *testing.T, _ response, body string) string {
			var list struct{ Data []retake.Webhook }
			must(t, json.Unmarshal([]byte(body), &list))
			return list.Data[0].ETag
		}, true},
	}
}

// What was changed since it was read is not overwritten, also by requests that come together.
func TestIfMatchKeepsChangesOfOthers(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	for name, s := range b.settings() {
		key := b.keySecret(s.role)
		read := func() string {
			r, body := b.sendRequest("GET", s.read, key, "", nil)
			return s.tag(t, r, body)
		}
		put := func(body, match string) (int, string, string) {
			r, text := b.sendRequest("PUT", s.put, key, body, map[string]string{"If-Match": match})
			return r.StatusCode, r.Header.Get("ETag"), text
		}
		first := read()
		if first == "" {
			t.Fatalf("%s: no ETag", name)
		}
		status, tag, text := put(s.bodies[0], first)
		if second := read(); status != http.StatusOK || second == first || s.answersTag != (tag == second) {
			t.Errorf("%s: %d, ETag %s before, %s told, %s after: %s", name, status, first, tag, second, text)
		}
		if status, _, text := put(s.bodies[1], first); status != http.StatusPreconditionFailed {
			t.Errorf("%s with an old ETag: %d %s", name, status, text)
		}
		if status, _, text := put(s.bodies[1], `"x", `+read()); status != http.StatusOK {
			t.Errorf("%s with a list: %d %s", name, status, text)
		}
		if status, _, text := put(s.bodies[0], "*"); status != http.StatusOK {
			t.Errorf("%s with a star: %d %s", name, status, text)
		}
		b.replaceTogether(t, name, s, key, read())
	}
}

// replaceTogether lets several replace the same version; one may.
func (b *testServer) replaceTogether(t *testing.T, name string, s setting, key, tag string) {
	t.Helper()
	var all sync.WaitGroup
	got := make([]int, 6)
	for i := range got {
		all.Go(func() {
			r, _ := b.sendRequest("PUT", s.put, key, s.bodies[1], map[string]string{"If-Match": tag})
			got[i] = r.StatusCode
		})
	}
	all.Wait()
	done := 0
	for _, status := range got {
		switch status {
		case http.StatusOK:
			done++
		case http.StatusPreconditionFailed:
		default:
			t.Errorf("%s: %d", name, status)
		}
	}
	if done != 1 {
		t.Errorf("%s: %d of them were done: %v", name, done, got)
	}
}
