package retake

import "context"

// Purger removes what must not be in the history for good: a path, or bytes wherever
// they are stored. Checkpoints keep their numbers and ids, and name what was purged as
// a gap.
type Purger interface {
	// PlanPurge finds what a purge would remove, and changes nothing.
	PlanPurge(ctx context.Context, req PurgeRequest) (PurgePlan, error)
	// Purge removes it from every checkpoint of the workspace, of its forks and of what
	// it was forked from, rewrites the stored bytes, then reads everything that is
	// kept and reports every copy that is left.
	Purge(ctx context.Context, req PurgeRequest) (PurgeReport, error)
	// Erase ends a workspace and removes its whole history.
	Erase(ctx context.Context, ws WorkspaceID) (PurgeReport, error)
}

// PurgeRequest says what goes: paths below the root, with everything below them, or
// every stored file that holds one of the contents. Exactly one of the two is given.
type PurgeRequest struct {
	Workspace WorkspaceID
	Paths     []string
	Contents  [][]byte
	Progress  func(Progress) // Files are stored files that were read
}

// PurgePlan is what a purge would remove.
type PurgePlan struct {
	Workspaces  []PurgeScope `json:"workspaces"`
	Checkpoints int64        `json:"checkpoints"` // that hold some of it
	Versions    int64        `json:"versions"`    // different stored files that go
	Bytes       int64        `json:"bytes"`       // of these
	Gaps        []Gap        `json:"gaps"`        // where they are, as coverage will name it, at most fifty
	More        int64        `json:"more"`        // paths that are not among them
	Records     int64        `json:"records"`     // stored words in which it is masked: messages, prompts, conversations, check output
	Live        []string     `json:"live"`        // paths that hold it in the workspace now: the next save records them again
	Beyond      []string     `json:"beyond"`      // copies that a purge does not reach, in words
}

// PurgeScope is one workspace that a purge goes through.
type PurgeScope struct {
	Workspace   WorkspaceID `json:"workspace"`
	Name        string      `json:"name"`
	Checkpoints int64       `json:"checkpoints"` // that are changed
}

// PurgeReport is what a purge did, and what a search through everything found after it.
type PurgeReport struct {
	Plan     PurgePlan   `json:"plan"`
	Searched int64       `json:"searched"` // stored pieces and files that were read after it
	Bytes    int64       `json:"bytes"`
	Left     []string    `json:"left"` // copies that are still readable, in words; none: it is gone
	Sweep    SweepReport `json:"sweep"`
}

// MinPurgeContent is the shortest content that can be purged: shorter bytes are in
// files that have nothing to do with it.
const MinPurgeContent = 6
