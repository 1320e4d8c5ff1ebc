package server_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/retake-dev/retake"
)

// The audit log has what was refused and read, with the address and the request, after the server
// has stopped.
func TestAuditedReadsAndRefusals(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("a", "secret")
	b.saveCheckpoint("one")
	ws := string(b.initial.Namespace.Default)
	reader := b.keySecret(retake.KeyReader)
	for path, want := range map[string]int{
		"/v1/workspaces/" + ws + "/file?ref=latest&path=a":     http.StatusOK,
		"/v1/workspaces/" + ws + "/checkpoints/latest/archive": http.StatusOK,
		"/v1/keys": http.StatusForbidden,
	} {
		if res, text := b.sendRequest(http.MethodGet, path, reader, "", map[string]string{"X-Request-Id": "mine-1"}); res.StatusCode != want {
			t.Fatalf("%s: %d %s", path, res.StatusCode, text)
		}
	}
	b.stop()
	b.start("", nil)
	all, err := b.clientAs(retake.KeyAdmin).Audit(t.Context(), retake.AuditQuery{Limit: 100})
	must(t, err)
	for _, want := range [][2]string{{"read content", "file of " + ws}, {"export", "archive of " + ws}, {"refused: no permission", "list-keys"}} {
		if !slices.ContainsFunc(all, func(e retake.AuditEntry) bool {
			return e.Verb == want[0] && e.Subject == want[1] && e.Address == "127.0.0.1" && e.Request != "" && e.Actor.Kind == retake.KeyReader
		}) {
			t.Errorf("%v is not in %+v", want, all)
		}
	}
	saved := slices.IndexFunc(all, func(e retake.AuditEntry) bool {
		return e.Verb == "append checkpoint" && e.Actor.Kind == retake.KeyAgent
	})
	if saved < 0 || all[saved].Address == "" || all[saved].Request == "" {
		t.Errorf("the save has no address or request: %+v", all)
	}
	p, err := b.clientAs(retake.KeyAdmin).CheckAudit(t.Context())
	if err != nil || p.Broken != 0 {
		t.Errorf("%+v %v", p, err)
	}
}
