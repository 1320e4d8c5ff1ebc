package retake

import (
	"context"
	"io"
	"time"
)

// Office is what a namespace of a server has beside its workspaces: keys, webhooks,
// schedules, the audit log. Like a Service it belongs to one namespace.
type Office interface {
	Tenant
	FileWriter
	Provisioner
	KeyRing
	Notifier
	Scheduler
	CadenceViewer
	Auditor
	Eraser
}

// Tenant tells of the namespace itself.
type Tenant interface {
	Namespace(ctx context.Context) (Namespace, error)
	Usage(ctx context.Context) (Usage, error)
	// SetLimits sets the limits, none above what the server allows. Moved if they have another version
	// than the one that the request names.
	SetLimits(ctx context.Context, q LimitsRequest) (Namespace, error)
	// Import makes a workspace of an archive, and takes its first checkpoint. An archive
	// that would write anywhere else is refused whole.
	Import(ctx context.Context, req ImportRequest, archive io.Reader) (SaveResult, error)
}

// ImportRequest says what an archive becomes.
type ImportRequest struct {
	Name   string
	Intent string
}

// FileWriter changes single files of a workspace, for those who cannot reach the server's disk.
// Like any program there, it asks nobody: what was not in a checkpoint is gone.
type FileWriter interface {
	// WriteFile replaces a file, or creates it with its directories.
	WriteFile(ctx context.Context, req FileRequest, content io.Reader) (FileWritten, error)
	// RemoveFile removes a file, a link or an empty directory.
	RemoveFile(ctx context.Context, req FileRequest) error
}

// FileRequest names a file of a workspace. Mode is for writes; 0: as it is, or 0644.
type FileRequest struct {
	Workspace WorkspaceID
	Path      string
	Mode      uint32
}

// FileWritten is a file after a write.
type FileWritten struct {
	Size    int64  `json:"size"`
	Mode    uint32 `json:"mode"`
	Created bool   `json:"created"` // there was none
}

// Provisioner creates namespaces for others, and sees those that its own namespace created.
type Provisioner interface {
	CreateNamespace(ctx context.Context, req NamespaceRequest) (NewNamespace, error)
	// Provisioned lists the namespaces that this one created, by ID.
	Provisioned(ctx context.Context) ([]Namespace, error)
	// ProvisionedNamespace returns one of them.
	ProvisionedNamespace(ctx context.Context, ns NamespaceID) (Namespace, error)
	// SetNamespaceLimits sets the limits of one of them, also above what it may set itself.
	SetNamespaceLimits(ctx context.Context, ns NamespaceID, q LimitsRequest) (Namespace, error)
	CreateNamespaceKey(ctx context.Context, ns NamespaceID, req KeyRequest) (NewKey, error)
}

// NamespaceRequest asks for a namespace. Without Limits it has the defaults.
type NamespaceRequest struct {
	ID      NamespaceID
	Limits  *Limits
	Webhook string // a URL; empty: none
}

// NewNamespace is a namespace that was just created, with one key of each role, and its webhook.
// Their secrets are never told again.
type NewNamespace struct {
	Namespace Namespace   `json:"namespace"`
	Keys      []NewKey    `json:"keys"`
	Webhook   *NewWebhook `json:"webhook,omitempty"`
}

// KeyRing holds the keys.
type KeyRing interface {
	MakeKey(ctx context.Context, req KeyRequest) (NewKey, error)
	Keys(ctx context.Context) ([]Key, error)
	RevokeKey(ctx context.Context, id KeyID) (Key, error)
}

// Notifier tells others what happens.
type Notifier interface {
	MakeWebhook(ctx context.Context, req WebhookRequest) (NewWebhook, error)
	Webhooks(ctx context.Context) ([]Webhook, error)
	// ChangeWebhook replaces address and types, and enables or disables.
	ChangeWebhook(ctx context.Context, w Webhook) (Webhook, error)
	DropWebhook(ctx context.Context, id WebhookID) error
	// RotateWebhook makes a new secret. For a day messages carry both signatures.
	RotateWebhook(ctx context.Context, id WebhookID) (NewWebhook, error)
	// Deliveries lists messages, newest first.
	Deliveries(ctx context.Context, q DeliveryQuery) ([]Delivery, error)
	Delivery(ctx context.Context, id string) (Delivery, error)
	// Replay sends a message again, under its own id.
	Replay(ctx context.Context, id string) (Delivery, error)
	// Events lists events after one, oldest first. It waits for the first of them as long
	// as q says.
	Events(ctx context.Context, q EventQuery) ([]Event, error)
}

// DeliveryQuery chooses messages; what is empty is any. Before is the id to go on below.
type DeliveryQuery struct {
	Webhook WebhookID
	State   DeliveryState
	Before  string
	Limit   int
}

// EventQuery chooses events. Newest wants the newest alone, and does not wait: to begin
// behind it.
type EventQuery struct {
	After  int64
	Limit  int
	Wait   time.Duration
	Newest bool
}

// Scheduler does things on a cadence.
type Scheduler interface {
	MakeSchedule(ctx context.Context, req ScheduleRequest) (Schedule, error)
	Schedules(ctx context.Context) ([]Schedule, error)
	DropSchedule(ctx context.Context, id string) error
}

// ScheduleWork is what a schedule does.
type ScheduleWork string

// The works.
const (
	WorkSave   ScheduleWork = "save"   // a checkpoint, when files changed
	WorkRetain ScheduleWork = "retain" // what is too old goes
	WorkDrill  ScheduleWork = "drill"  // a share of the stored bytes is read back
)

// ScheduleRequest asks for a schedule. Cron is five fields, in UTC.
type ScheduleRequest struct {
	Work      ScheduleWork
	Workspace WorkspaceID // for checkpoints; empty: the default one
	Cron      string
	Jitter    time.Duration // each run begins up to so much later
}

// Schedule is one, with how it went.
type Schedule struct {
	ID        string        `json:"id"`
	Work      ScheduleWork  `json:"work"`
	Workspace WorkspaceID   `json:"workspace,omitempty"`
	Cron      string        `json:"cron"`
	Jitter    time.Duration `json:"jitter"`
	Created   time.Time     `json:"created"`
	Next      time.Time     `json:"next"`
	Last      *Run          `json:"last,omitempty"`
	Missed    int64         `json:"missed"` // runs that nobody was there for
}

// Run is one time that a schedule was due.
type Run struct {
	At   time.Time     `json:"at"`
	Took time.Duration `json:"took"`
	What string        `json:"what"` // what came of it, in words
	Err  string        `json:"err,omitempty"`
}

// Auditor keeps the log that cannot be changed unseen.
type Auditor interface {
	// Audit lists entries, newest first or as the query says.
	Audit(ctx context.Context, q AuditQuery) ([]AuditEntry, error)
	// CheckAudit reads the whole chain, and every anchor.
	CheckAudit(ctx context.Context) (AuditProof, error)
}

// AuditQuery chooses entries; Before is the number to go on below. OldestFirst turns the order
// round, and After is the number to go on behind.
type AuditQuery struct {
	Before      int64
	Limit       int
	OldestFirst bool
	After       int64
}

// AuditEntry is one act. Hash is over the entry before it and this one.
type AuditEntry struct {
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Actor   Actor     `json:"actor"`
	Verb    string    `json:"verb"`
	Subject string    `json:"subject"`
	Address string    `json:"address,omitempty"` // where the client was
	Request string    `json:"request,omitempty"` // the ID of its request
	Prev    string    `json:"prev"`
	Hash    string    `json:"hash"`
}

// AuditProof is N tried, N failed.
type AuditProof struct {
	Entries int64  `json:"entries"`
	Anchors int64  `json:"anchors"`
	Outside int64  `json:"outside"` // the newest anchors that are kept outside of the database: in a file, in the bucket
	Head    string `json:"head"`
	Broken  int64  `json:"broken"` // the first entry that does not fit; 0: all do
	Why     string `json:"why,omitempty"`
	Public  string `json:"public"` // the key that anchors are signed with
}

// Eraser takes requests to delete. Nothing is deleted at once: a request waits for its
// grace to end, and can be taken back until then.
type Eraser interface {
	RequestDeletion(ctx context.Context, req DeletionRequest) (Deletion, error)
	Deletions(ctx context.Context) ([]Deletion, error)
	CancelDeletion(ctx context.Context, id string) (Deletion, error)
	// Hold keeps a checkpoint by law: no deletion and no tidy-up takes it.
	Hold(ctx context.Context, ws WorkspaceID, ref, name string) (Pin, error)
	Release(ctx context.Context, ws WorkspaceID, name string) error
}

// HoldPrefix begins the names of pins that are holds.
const HoldPrefix = "hold:"

// DeletionRequest names what is to go: checkpoints of a workspace.
type DeletionRequest struct {
	Workspace WorkspaceID
	Refs      []string
	Why       string
}

// DeletionState is how far a deletion is.
type DeletionState string

// The states.
const (
	DeletionWaiting  DeletionState = "waiting"
	DeletionCanceled DeletionState = "canceled"
	DeletionDone     DeletionState = "done"
	DeletionRefused  DeletionState = "refused" // something is pinned, held, or the newest
)

// Deletion is a request, with when it will be done.
type Deletion struct {
	ID          string         `json:"id"`
	Workspace   WorkspaceID    `json:"workspace"`
	Checkpoints []CheckpointID `json:"checkpoints"`
	Why         string         `json:"why,omitempty"`
	State       DeletionState  `json:"state"`
	Asked       time.Time      `json:"asked"`
	Due         time.Time      `json:"due"`
	Done        *time.Time     `json:"done,omitempty"`
	Note        string         `json:"note,omitempty"`
}
