package retake

import "context"

// Restorer takes people back, sideways or forward.
type Restorer interface {
	// PlanRestore says what would be done. It touches nothing.
	PlanRestore(ctx context.Context, req PlanRequest) (Plan, error)
	// ApplyRestore does exactly the plan with this digest, or answers Moved. A
	// result with failures is done in part.
	ApplyRestore(ctx context.Context, req ApplyRequest) (RestoreResult, error)
	// Fork grows a new workspace from a checkpoint.
	Fork(ctx context.Context, req ForkRequest) (ForkResult, error)
	// Forks lists the forks that grew from a workspace.
	Forks(ctx context.Context, ws WorkspaceID) ([]WorkspaceState, error)
}

// PlanRequest asks for a plan. Ref is the checkpoint gone to, or the item that undo
// takes back; empty: the newest one. Fork is the one to adopt. Edits asks undo to
// discard the unsaved edits instead, and to take no item back. Undo takes several
// items back at once when Ref is a range such as "3..5", or when Session names one
// by the beginning of its id, by its agent, or as "last".
type PlanRequest struct {
	Workspace WorkspaceID
	Course    Course
	Ref       string
	Paths     []string // none: everything; absolute ones are files outside of the workspace that the checkpoint saved
	To        string   // the directory that such files are written to; empty: where they were
	Git       bool     // also replace repositories that are there
	Fork      WorkspaceID
	Edits     bool
	Session   string
	Hunks     []Hunk // of one path, between From and Ref, that undo takes back; none: all of it
	From      string // the checkpoint that Hunks were compared with
	Spread    bool   // undo and redo also in the other workspaces that the same turn worked in
	Asker     int    // the process that asks on this machine; a turn that it runs in is no reason to ask
}

// ApplyRequest asks for a plan to be done. Accept holds the classes of obstacles
// that were consented to.
type ApplyRequest struct {
	PlanRequest
	Digest   string // of the plan, or its first eight characters with or without a dash
	Accept   []string
	ID       CheckpointID // of the checkpoint of the restore; empty: made here
	Progress func(Progress)
}

// RestoreResult is what was done. Checkpoint is the state now, Safety the one
// before.
type RestoreResult struct {
	Checkpoint Checkpoint      `json:"checkpoint"`
	Safety     Checkpoint      `json:"safety"`
	Target     Checkpoint      `json:"target"`
	Written    int             `json:"written"`
	Deleted    int             `json:"deleted"`
	Merged     int             `json:"merged"`
	Kept       int             `json:"kept"`
	Failed     []Failure       `json:"failed"`
	Holders    []Holder        `json:"holders,omitempty"` // processes that still hold what was replaced
	Warnings   []Warning       `json:"warnings"`
	Git        []GitLeft       `json:"git,omitempty"`    // repositories that stay where they were
	Others     []RestoreResult `json:"others,omitempty"` // in other workspaces, in the order of the plan
	ReadBack   bool            `json:"read_back"`        // every written file was read again and is as the plan wanted it
}

// Failure is one path that was left, because it moved on or would not be moved.
type Failure struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Holder is a process that holds a file open.
type Holder struct {
	PID     int    `json:"pid"`
	Command string `json:"command"`
	Path    string `json:"path"`
}

// ForkRequest asks for a fork. Dir is where it goes; it must not exist or be
// empty.
type ForkRequest struct {
	Workspace WorkspaceID
	Ref       string
	Dir       string
	Name      string   // empty: the directory's own
	Throwaway bool     // protects nothing: it is removed by who asked for it
	Accept    []string // ObstacleSetuid: files may run with the rights of their owner, as they do in the checkpoint
	Progress  func(Progress)
}

// ForkResult is the new workspace and its first checkpoint, whose parent is the
// checkpoint it grew from.
type ForkResult struct {
	Workspace  Workspace  `json:"workspace"`
	Checkpoint Checkpoint `json:"checkpoint"`
	Origin     Checkpoint `json:"origin"`
	Cloned     int64      `json:"cloned"` // files that share their blocks
	Copied     int64      `json:"copied"` // files that were written
	Warnings   []Warning  `json:"warnings"`
}
