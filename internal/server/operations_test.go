package server_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// A save that is asked for as an operation is there afterwards, once, though it is asked for twice
// with one idempotency key.
func TestASaveAsAnOperation(t *testing.T) {
	t.Parallel()
	b := newTestServer(t, "", nil)
	b.writeFile("a.txt", "one")
	key, ws := b.keySecret(retake.KeyAgent), b.initial.Namespace.Default
	header := map[string]string{"Prefer": "respond-async", "Idempotency-Key": "once"}
	var first, second wire.Operation
	for _, op := range []*wire.Operation{&first, &second} {
		res, text := b.sendRequest("POST", "/v1/workspaces/"+string(ws)+"/checkpoints", key, `{"intent":"later"}`, header)
		if err := json.Unmarshal([]byte(text), op); err != nil || res.StatusCode != http.StatusAccepted {
			t.Fatalf("%d %v: %s", res.StatusCode, err, text)
		}
	}
	if first.ID != second.ID {
		t.Errorf("two operations: %s and %s", first.ID, second.ID)
	}
	res, text := b.sendRequest("GET", "/v1/operations/"+first.ID+"?wait=60s", key, "", nil)
	var ended struct {
		Status wire.OperationStatus `json:"status"`
		Result retake.SaveResult    `json:"result"`
	}
	if err := json.Unmarshal([]byte(text), &ended); err != nil || ended.Status != wire.OperationSucceeded {
		t.Fatalf("%d %v: %s", res.StatusCode, err, text)
	}
	log, err := b.clientAs(retake.KeyAgent).Log(t.Context(), retake.LogQuery{Workspace: ws})
	must(t, err)
	if len(log.Checkpoints) == 0 || log.Checkpoints[0].ID != ended.Result.Checkpoint.ID || log.Checkpoints[0].Intent != "later" {
		t.Errorf("%+v", log.Checkpoints)
	}
	if res, _ := b.sendRequest("GET", "/v1/operations/"+first.ID, b.keySecret(retake.KeyOperator), "", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("another key sees it: %d", res.StatusCode)
	}
}
