package rewind

import (
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
)

// trashAge is how long files that a restore replaced are kept in the trash: a process that
// had one open may still write to it.
const trashAge = 24 * time.Hour

// clearOldTrash removes old trash of a workspace. What cannot be removed is tried again the
// next time.
func (s *Rewinder) clearOldTrash(places ...func() (fsx.Dir, error)) {
	for _, open := range places {
		at, err := open()
		if err != nil {
			continue
		}
		names, _ := at.Names() // nothing to clear where nothing can be listed
		for _, name := range names {
			if !strings.HasPrefix(name, retake.CheckpointPrefix) {
				continue
			}
			i, err := at.Lstat(name)
			if err == nil && s.workspaces.Clock.Now().UnixNano()-i.Mtime > int64(trashAge) {
				_ = restore.EmptyTrash(at, name)
			}
		}
		_ = at.Close() // a directory handle
	}
}

// openMarkerDir opens our directory in the workspace, if there is one.
func (a *restoreRun) openMarkerDir() (fsx.Dir, error) { return a.root.OpenDir(marker.Dir) }
