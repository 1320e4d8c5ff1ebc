package retake_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
)

func TestJSONKeepsBytes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }), rapid.Just("raw:x"))
		e := retake.Entry{Name: name.Draw(t, "name"), Kind: retake.KindFile, Extra: &retake.Extra{
			Group:  "g",
			Xattrs: map[string][]byte{"user." + name.Draw(t, "xattr"): rapid.SliceOf(rapid.Byte()).Draw(t, "value"), name.Draw(t, "odd"): {1}},
			Holes:  []retake.Hole{{Offset: 1, Length: 2}},
		}}
		same(t, e)
		same(t, retake.Gap{Path: e.Name, Reason: retake.ReasonTorn, Detail: "d"})
		ws := retake.Workspace{ID: "ws_1", Root: name.Draw(t, "root"), Name: e.Name, Dev: 1, Ino: 1 << 63}
		same(t, ws)
		same(t, retake.WorkspaceState{Workspace: ws, Latest: &retake.Checkpoint{ID: "cp_1"}, Count: 3, Gone: true})
		same(t, retake.Estimate{Root: ws.Root, Heaviest: e.Name, Files: 1, Share: 0.5})
		same(t, retake.Change{Path: e.Name, What: retake.Edited, Before: &e, After: &e})
	})
}

func same[T any](t *rapid.T, v T) {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var got T
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(v, got); d != "" {
		t.Fatalf("-want +got:\n%s\n%s", d, b)
	}
}
