package sqlcatalog_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlcatalog"
)

// What checkpoints added that an older version took is known, without keys, and goes with them.
func TestAddedByOlderVersions(t *testing.T) {
	t.Parallel()
	db := memory(t)
	wantNoError(t, sqlcatalog.MigrateTo(t.Context(), db, 3))
	for i, bytes := range []int64{100, 20, 3} {
		cp := retake.Checkpoint{ID: retake.CheckpointID("cp_" + string(rune('1'+i))), Workspace: "w", Number: int64(i + 1), NewBytes: bytes}
		raw, err := json.Marshal(cp)
		wantNoError(t, err)
		_, err = db.ExecContext(t.Context(), `INSERT INTO checkpoint (ns, id, workspace, number, parent, time_us, trigger, intent, tree, content,
			grade, files, dirs, bytes, new_bytes, added, deleted, edited, body)
			VALUES ('a', $1, 'w', $2, '', 0, '', '', '', '', '', 0, 0, 0, $3, 0, 0, 0, $4)`, string(cp.ID), cp.Number, cp.NewBytes, raw)
		wantNoError(t, err)
	}
	c := open(t, db, "a")
	wantAdded := func(want int64) {
		t.Helper()
		got, err := c.Added(t.Context())
		wantNoError(t, err)
		wantEqual(t, "added", got, []catalog.Added{{Workspace: "w", Bytes: want}})
	}
	wantAdded(123)
	wantNoError(t, c.Bury(t.Context(), "w", []retake.Tombstone{{ID: "cp_1", Number: 1, At: time.Unix(0, 0)}}))
	wantAdded(23)
}
