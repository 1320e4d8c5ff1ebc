package client_test

import (
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
)

// One call can't take back hunks: it must not take back the whole change instead.
func TestRestoreRefusesHunks(t *testing.T) {
	t.Parallel()
	c := client.New(client.Options{URL: "http://127.0.0.1:0", Retries: -1})
	_, err := c.Restore(t.Context(), retake.ApplyRequest{PlanRequest: retake.PlanRequest{Workspace: "ws_1", Hunks: []retake.Hunk{{}}}})
	if !retake.IsKind(err, retake.Invalid) {
		t.Errorf("got %v", err)
	}
}
