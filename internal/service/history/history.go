// Package history reads the timeline of a workspace: checkpoints by any name, what is known
// of them, how two of them differ, pins, and which of them a turn made.
//
// It reads the catalog and the store, and the files of a workspace to compare them. It writes
// pins and tombstones, and nothing else.
package history

import (
	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// History reads timelines.
type History struct {
	RunningChecks  func(retake.WorkspaceID) map[retake.ContentID][]string // by content: the checks that run just now
	RequestSummary func(retake.Checkpoint)                                // asks for a missing summary
	UploadOf       func(retake.WorkspaceID) *retake.Upload                // how far it is at its remotes; nil: it has none

	workspaces *workspace.Registry
	standing   func(retake.WorkspaceID) []retake.Standing // checks to run for every checkpoint; nil: none
	goodCache  goodCheckpointCache                        // newest good checkpoint of each workspace
}

// New returns the history of all workspaces. standing returns the checks that a good
// checkpoint must pass; it may be nil.
func New(w *workspace.Registry, standing func(retake.WorkspaceID) []retake.Standing) *History {
	return &History{
		workspaces: w, standing: standing, goodCache: goodCheckpointCache{byWorkspace: map[retake.WorkspaceID]cachedGood{}},
		RunningChecks:  func(retake.WorkspaceID) map[retake.ContentID][]string { return nil },
		RequestSummary: func(retake.Checkpoint) {},
		UploadOf:       func(retake.WorkspaceID) *retake.Upload { return nil },
	}
}
