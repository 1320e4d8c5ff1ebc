package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// What is wrong with a request is told as that, and not as a fault of the server.
func TestAWrongRequestIsNoInternalError(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("a.txt", "one")
	first := b.saveCheckpoint("one")
	b.writeFile("a.txt", "two")
	second := b.saveCheckpoint("two")
	hash := strings.Repeat("1c0cf630", 8)
	for _, c := range []struct {
		kind               retake.KeyKind
		method, path, body string
		want               int
	}{
		{retake.KeyMaintainer, "POST", "/v1/scrub", `{"share":1099511627776}`, http.StatusUnprocessableEntity},
		{retake.KeyAdmin, "GET", "/v1/deliveries?before=3", "", http.StatusNotFound},
		{retake.KeyOperator, "POST", "/v1/snapshots/" + string(first.ID) + "/restore", `{"id":"` + string(second.ID) + `"}`, http.StatusConflict},
		{retake.KeyReader, "GET", "/v1/objects/" + hash, "", http.StatusNotFound},
		{retake.KeyReader, "GET", "/v1/objects/" + hash[:32], "", http.StatusNotFound},
		{retake.KeyReader, "GET", "/v1/objects/I" + hash, "", http.StatusNotFound},
		{retake.KeyReader, "GET", "/v1/objects/none", "", http.StatusNotFound},
	} {
		if res, text := b.sendRequest(c.method, c.path, b.keySecret(c.kind), c.body, nil); res.StatusCode != c.want {
			t.Errorf("%s %s: %d, want %d: %s", c.method, c.path, res.StatusCode, c.want, text)
		}
	}
}
