// Package checkpoint takes checkpoints: it protects directories, captures their files, seals
// what it captured and records it.
//
// It reads the files of a workspace and writes the store, the catalog and the stat index.
// Others hear of a save through Hooks, and none of them can fail or delay it.
//
//	U1  Bytes first, then the row: once a seal returned nil the checkpoint exists,
//	    and no later failure may undo it.
package checkpoint

import (
	"github.com/retake-dev/retake/internal/service/history"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// Checkpoints takes checkpoints.
type Checkpoints struct {
	Hooks Hooks

	workspaces *workspace.Registry
	history    *history.History
}

// New returns a Checkpoints without hooks.
func New(w *workspace.Registry, h *history.History) *Checkpoints {
	return &Checkpoints{workspaces: w, history: h}
}
