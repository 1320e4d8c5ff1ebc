package retake

import (
	"context"
	"io"
	"time"
)

// Service is everything a face can ask for. It belongs to one tenant: no method
// takes a tenant id. Every returned error is, or wraps, an *Error.
type Service interface {
	Protector
	Recorder
	Historian
	Viewer
	Reader
	Teller
	Verifier
	Restorer
	PlanViewer
	Observer
	Keeper
	Custodian
	Purger
	Backer
	Carrier
	Attacher
	io.Closer
}

// Protector takes directories under protection and releases them.
type Protector interface {
	// Estimate looks at a directory without touching it.
	Estimate(ctx context.Context, dir string) (Estimate, error)
	// Init protects a directory and takes its first checkpoint.
	Init(ctx context.Context, req InitRequest) (SaveResult, error)
	// Locate finds the workspace that dir lies in; the nearest root wins.
	Locate(ctx context.Context, dir string) (Workspace, error)
	// Workspaces lists all, the most recently used first.
	Workspaces(ctx context.Context) ([]WorkspaceState, error)
	// Deinit ends the protection. The history stays.
	Deinit(ctx context.Context, ws WorkspaceID) (Workspace, error)
}

// InitRequest asks for protection. Accept holds the classes of danger that were
// consented to. Mark decides about a directory that carries another's mark, or in whose
// place a workspace was.
type InitRequest struct {
	Dir    string
	Name   string // empty: the directory's own
	Accept []string
	Mark   MarkChoice
	Env    []string // what verifications may see of the caller's environment
	// Automatic: nobody asked for it. Less is taken for too much, and after a second the first
	// checkpoint goes on in the background.
	Automatic bool
	Progress  func(Progress)
}

// MarkChoice says what a directory with a known mark is.
type MarkChoice string

// A copy gets an identity of its own; a moved one continues. Where a workspace was whose
// directory was deleted or replaced, its history continues or a new one begins.
const (
	MarkAsk      MarkChoice = ""
	MarkCopy     MarkChoice = "copy"
	MarkMoved    MarkChoice = "moved"
	MarkContinue MarkChoice = "continue"
	MarkNew      MarkChoice = "new"
)

// Progress tells how far a capture is. Total is 0 while it is not known.
type Progress struct {
	Files, Total int64
	Bytes        int64
}

// Recorder records checkpoints.
type Recorder interface {
	Save(ctx context.Context, req SaveRequest) (SaveResult, error)
}

// SaveRequest asks for a checkpoint. With a Budget, a capture that takes longer
// seals what it has as a partial checkpoint and then a complete one.
type SaveRequest struct {
	Workspace WorkspaceID
	ID        CheckpointID // made by the caller, so that asking again adds nothing; empty: made here
	Intent    string
	Trigger   Trigger
	Pin       string
	Budget    time.Duration
	IfChanged bool // add no checkpoint when no file changed
	Progress  func(Progress)
}

// SaveResult is the checkpoint and whether its files were new. Recorded says that
// a checkpoint was added; without one the checkpoint is the latest. Partial is the
// checkpoint that was sealed first when the budget ran out.
type SaveResult struct {
	Workspace  Workspace   `json:"workspace"`
	Checkpoint Checkpoint  `json:"checkpoint"`
	Partial    *Checkpoint `json:"partial,omitempty"`
	Created    bool        `json:"created"`
	Recorded   bool        `json:"recorded"`
	Warnings   []Warning   `json:"warnings"`
}

// Historian reads the timeline. Log never opens the store.
type Historian interface {
	Log(ctx context.Context, q LogQuery) (Timeline, error)
	// Find resolves a ref to a checkpoint.
	Find(ctx context.Context, ws WorkspaceID, ref string) (Checkpoint, error)
}

// LogQuery chooses a part of the timeline; Before is a number to continue below. Good
// wants good ones only, Path those in which it changed, Session those of one session of an
// agent, by the beginning of its id, or those of an agent, by its name.
type LogQuery struct {
	Workspace WorkspaceID
	Since     time.Time
	Before    int64
	Limit     int
	Good      bool
	Path      string
	Session   string
}

// Timeline is a part of a workspace's history, newest first.
type Timeline struct {
	Workspace   Workspace    `json:"workspace"`
	Checkpoints []Checkpoint `json:"checkpoints"`
	Pins        []Pin        `json:"pins"`
	Total       int64        `json:"total"`

	Findings map[CheckpointID]Finding `json:"findings"`       // of those that something is known of
	Good     *Checkpoint              `json:"good,omitempty"` // the newest good one, shown or not

	Upload *Upload `json:"upload,omitempty"` // nil: there is no remote

	NextCursor string `json:"next_cursor,omitempty"` // of the API: asks for the page behind this one
}

// Reader reads snapshots, and compares them with each other or with now.
type Reader interface {
	// Diff compares two checkpoints. An empty To is now; an empty From is the parent
	// of To, or the latest when To is now.
	Diff(ctx context.Context, q DiffQuery) (Comparison, error)
	List(ctx context.Context, ws WorkspaceID, ref, dir string) ([]Entry, error)
	// Open gives the bytes of a file, or the text of a link.
	Open(ctx context.Context, ws WorkspaceID, ref, path string) (io.ReadCloser, Entry, error)
	// Bytes gives stored bytes by their address, for lines of a diff.
	Bytes(ctx context.Context, id ObjectID) (io.ReadCloser, error)
	Status(ctx context.Context, ws WorkspaceID) (Status, error)
}

// DiffQuery names two checkpoints and the paths of interest; no path means all. Diff answers
// in parts when a limit is given; a story is always whole.
type DiffQuery struct {
	Workspace WorkspaceID
	From, To  string
	Paths     []string
	After     string // the Next of the part before
	Limit     int    // changes in one part; 0: all
	Machine   bool   // a story also tells what other programs did to the machine
}

// Comparison is what differs between two checkpoints. A nil To is now.
type Comparison struct {
	From    *Checkpoint `json:"from,omitempty"` // nil before the first
	To      *Checkpoint `json:"to,omitempty"`
	Changes []Change    `json:"changes"`
	Gaps    []Gap       `json:"gaps,omitempty"` // of now
	Next    string      `json:"next,omitempty"` // asks for the part behind this one; empty: there is none

	NextCursor string `json:"next_cursor,omitempty"` // of the API: Next, by the name that all lists use
}

// Status is how well a workspace is protected at this moment.
type Status struct {
	Workspace  Workspace   `json:"workspace"`
	Latest     *Checkpoint `json:"latest,omitempty"`
	Count      int64       `json:"count"`
	Now        Counts      `json:"now"`              // changed since the latest
	Saving     bool        `json:"saving,omitempty"` // a save is under way; Now is not known
	Tracking   Tracking    `json:"tracking"`
	Protection string      `json:"protection"` // same-user | separate-user | remote | remote+lock
	Store      StoreState  `json:"store"`
	Good       *Checkpoint `json:"good,omitempty"`    // the newest good one
	Drill      *Drill      `json:"drill,omitempty"`   // the last time that one was proven restorable
	Answers    []Answer    `json:"answers,omitempty"` // about the newest
	Backup     *Backup     `json:"backup,omitempty"`  // where checkpoints also go
	Remotes    []Remote    `json:"remotes,omitempty"` // that get this workspace; of others nothing is told

	Damage *DamageState `json:"damage,omitempty"` // what cannot be read back; nil: nothing that is known

	Background []BackgroundTask `json:"background,omitempty"` // tasks that nobody waits for and that failed
}

// DamageState is what cannot be read back from the store, as the last scrub found it.
type DamageState struct {
	Checkpoints []int64 `json:"checkpoints"` // their numbers, rising
	Paths       int64   `json:"paths"`       // counted once for each checkpoint
}

// BackgroundTask is work that nobody waits for: how often it ran and failed since the service
// started, and its last failure.
type BackgroundTask struct {
	Name     string    `json:"name"`
	Runs     int64     `json:"runs"`
	Failures int64     `json:"failures"`
	Failing  bool      `json:"failing"`         // its latest run failed
	Error    string    `json:"error,omitempty"` // of the last failure
	At       time.Time `json:"at,omitzero"`     // of the last failure
}

// Tracking is how changes are known: by a tracker, or by looking at every file.
type Tracking struct {
	Mode   TrackingMode `json:"mode"`
	Why    string       `json:"why,omitempty"` // why not a better one, or why the next save looks at every file
	Events int64        `json:"events"`        // changes that the tracker told of since it began
	Doubts int64        `json:"doubts"`        // times that it could not be trusted, and every file was looked at
	Unseen int64        `json:"unseen"`        // processes that may not be looked into for mapped files, and are trusted
	Check  *CrossCheck  `json:"check,omitempty"`
}

// TrackingMode names what tells us of changes.
type TrackingMode string

// The modes, the best first.
const (
	TrackingFanotify TrackingMode = "fanotify"
	TrackingInotify  TrackingMode = "inotify"
	TrackingScan     TrackingMode = "scan"
)

// CrossCheck is the last time that all files were compared with what the tracker
// had told. Missed is loud: the tracker is wrong here.
type CrossCheck struct {
	At     time.Time `json:"at"`
	Files  int64     `json:"files"`
	Missed []string  `json:"missed,omitempty"`
}

// StoreState is the room the store takes and has.
type StoreState struct {
	Bytes int64 `json:"bytes"`
	Free  int64 `json:"free"`
	Floor int64 `json:"floor"`
}

// Keeper decides what stays.
type Keeper interface {
	Pin(ctx context.Context, ws WorkspaceID, ref, name string) (Pin, error)
	Unpin(ctx context.Context, ws WorkspaceID, name string) error
	// Forget drops checkpoints from the timeline and leaves tombstones. The
	// newest one and pinned ones cannot be forgotten.
	Forget(ctx context.Context, ws WorkspaceID, refs []string) ([]Tombstone, error)
}

// Custodian looks after the bytes.
type Custodian interface {
	// Scrub reads the store back; Share is the part of all file bytes to read.
	Scrub(ctx context.Context, q ScrubQuery) (ScrubReport, error)
	// Space measures the store and its disk.
	Space(ctx context.Context) (StoreState, error)
	// Sweep gives back the bytes that no checkpoint needs.
	Sweep(ctx context.Context) (SweepReport, error)
	// SpacePlan tells what the next tidy-up would drop, and changes nothing.
	SpacePlan(ctx context.Context) (SpacePlan, error)
	// Thin does that tidy-up now: what is due goes, then what nobody needs is
	// swept. Whoever is at work keeps what he needs.
	Thin(ctx context.Context, req ThinRequest) (ThinReport, error)
	// Rebuild makes the catalog again from the store alone.
	Rebuild(ctx context.Context) (RebuildReport, error)
	// Prove computes the tree id of a directory with the stock engine's own
	// scan, to compare with ours.
	Prove(ctx context.Context, ws WorkspaceID, ref string) (Proof, error)
}

// ScrubQuery chooses how much to read: Share between 0 (structure only) and 1. A repair reads
// everything.
type ScrubQuery struct {
	Share    float64
	Repair   bool // look for what is damaged in the live workspaces, and store it again
	Progress func(Progress)
}

// ScrubReport is N tried, N failed.
type ScrubReport struct {
	Checkpoints int64    `json:"checkpoints"`
	Objects     int64    `json:"objects"`
	Bytes       int64    `json:"bytes"`
	Failed      []string `json:"failed"`

	Damaged  []DamagedPath `json:"damaged,omitempty"`  // the same, to be counted
	Repaired []DamagedPath `json:"repaired,omitempty"` // with Repair: what can be read again
}

// DamagedPath is a path of a checkpoint whose stored bytes cannot be read.
type DamagedPath struct {
	Workspace WorkspaceID `json:"workspace"`
	Number    int64       `json:"number,omitempty"` // 0: the whole history
	Path      string      `json:"path,omitempty"`   // "": the whole checkpoint
	State     bool        `json:"state,omitempty"`  // of the conversation, and not of the files
}

// SweepReport says what a sweep gave back.
type SweepReport struct {
	Before int64         `json:"before"` // bytes of the store
	After  int64         `json:"after"`
	Peak   int64         `json:"peak"` // most extra bytes while it ran
	Took   time.Duration `json:"took"`
}

// RebuildReport counts what was found in the store.
type RebuildReport struct {
	Workspaces  int64 `json:"workspaces"`
	Checkpoints int64 `json:"checkpoints"`
	Pins        int64 `json:"pins"`
	Tombstones  int64 `json:"tombstones"`
}

// Proof compares our tree id with the one that the stock engine computes from
// the same files.
type Proof struct {
	Checkpoint Checkpoint `json:"checkpoint"`
	Ours       ObjectID   `json:"ours"`
	Stock      ObjectID   `json:"stock"`
	By         string     `json:"by"`      // which program computed it
	Special    []string   `json:"special"` // entries that the stock format cannot express
	Equal      bool       `json:"equal"`
}
