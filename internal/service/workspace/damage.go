package workspace

import (
	"context"
	"encoding/json"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// damageMark is the catalog mark with the damaged paths of a workspace.
const damageMark = "damage:"

// DamagedPaths returns the damaged paths of a workspace, as the last scrub found them.
func DamagedPaths(ctx context.Context, marks catalog.Marks, id retake.WorkspaceID) []retake.DamagedPath {
	text, err := marks.Mark(ctx, damageMark+string(id))
	var out []retake.DamagedPath
	if err != nil || text == "" || json.Unmarshal([]byte(text), &out) != nil {
		return nil
	}
	return out
}

// SetDamagedPaths remembers the damaged paths of a workspace.
func SetDamagedPaths(ctx context.Context, marks catalog.Marks, id retake.WorkspaceID, list []retake.DamagedPath) error {
	was, err := marks.Mark(ctx, damageMark+string(id))
	if err != nil {
		return err
	}
	now := ""
	if len(list) > 0 {
		b, err := json.Marshal(list)
		if err != nil {
			return err
		}
		now = string(b)
	}
	if now == was {
		return nil
	}
	return marks.SetMark(ctx, damageMark+string(id), now)
}
