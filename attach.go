package retake

import "context"

// Attacher brings a history from a remote to a machine that has none.
type Attacher interface {
	// Attach makes the timeline of a remote that of this machine, puts the files of a workspace into a directory,
	// and the conversation where its agent looks for it. The remote is only read.
	Attach(ctx context.Context, req AttachRequest) (Receipt, error)
}

// AttachRequest asks for a workspace of a remote. Without a Dir its files go where they were. With
// Browse no files are written.
type AttachRequest struct {
	URL       string
	Access    RemoteAccess
	Key       string // the recovery key
	Workspace string // its name or ID; empty: the only one
	Dir       string
	Browse    bool
}

// Receipt says what arrived, and what did not.
type Receipt struct {
	Workspace    Workspace    `json:"workspace"`
	URL          string       `json:"url"`
	Machine      string       `json:"machine"` // where it was uploaded
	Newest       Checkpoint   `json:"newest"`  // that arrived
	Checkpoints  int64        `json:"checkpoints"`
	Files        int64        `json:"files"` // that were written, each byte checked
	Bytes        int64        `json:"bytes"`
	Conversation *Resumption  `json:"conversation,omitempty"` // nil: no agent worked there, or it can't go on
	Tasks        []Task       `json:"tasks,omitempty"`
	Missing      []NotArrived `json:"missing"`
	Later        bool         `json:"later,omitempty"` // older checkpoints are still at the remote, and come in the background
}

// NotArrived is something that a workspace had elsewhere and that does not work here.
type NotArrived struct {
	What string `json:"what"` // a path, or the name of a program
	Why  string `json:"why"`
	Hint string `json:"hint,omitempty"`
	Want bool   `json:"want,omitempty"` // it was left out on purpose
}
