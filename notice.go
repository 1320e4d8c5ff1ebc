package retake

import (
	"encoding/json"
	"slices"
	"time"
)

// EventType is what happened. Types are added, never changed.
type EventType string

// The types of today. The last two are other names for two of the others: who asks for
// them by these names gets them under these names.
const (
	EventCreated   EventType = "checkpoint.created"
	EventVerified  EventType = "checkpoint.verified"
	EventExpired   EventType = "checkpoint.expired"
	EventRestored  EventType = "workspace.restored"
	EventForked    EventType = "workspace.forked"
	EventEffect    EventType = "effect.recorded"
	EventRetention EventType = "retention.ran"
	EventBackup    EventType = "backup.failed"
	EventMissed    EventType = "schedule.missed"
	EventFull      EventType = "namespace.nearly_full"

	EventSnapshotCreated  EventType = "snapshot.created"
	EventSnapshotRestored EventType = "snapshot.restored"
)

// EventTypes are all, in the order in which they are told.
var EventTypes = []EventType{
	EventCreated, EventVerified, EventExpired, EventRestored, EventForked, EventEffect, EventRetention, EventBackup, EventMissed, EventFull,
	EventSnapshotCreated, EventSnapshotRestored,
}

var eventAliases = map[EventType]EventType{EventCreated: EventSnapshotCreated, EventRestored: EventSnapshotRestored}

// Alias answers the other name of a type; "" when it has none.
func (t EventType) Alias() EventType { return eventAliases[t] }

// Event is something that happened in a namespace. Seq rises without end; a gap means
// nothing.
type Event struct {
	Seq  int64           `json:"seq"`
	ID   string          `json:"id"`
	Type EventType       `json:"type"`
	Time time.Time       `json:"time"`
	Data json.RawMessage `json:"data"` // an EventData
}

// outside counts the effects that were done, or may have been.
func (cp *Checkpoint) outside() (n int64) {
	for _, e := range cp.Effects {
		if !e.Failed() {
			n++
		}
	}
	return n
}

// EventData is what an event tells: ids to ask with, and the words that a person wants
// at once. Nothing of the files.
type EventData struct {
	Namespace  NamespaceID  `json:"namespace"`
	Workspace  WorkspaceID  `json:"workspace,omitempty"`
	Checkpoint CheckpointID `json:"checkpoint,omitempty"`
	Snapshot   CheckpointID `json:"snapshot_id,omitempty"` // the same, by its name in /v1/snapshots
	Target     CheckpointID `json:"target,omitempty"`      // what was restored
	Safety     CheckpointID `json:"safety,omitempty"`      // what was there before a restore
	Agent      string       `json:"agent,omitempty"`       // whose turn it was
	Number     int64        `json:"number,omitempty"`
	Parent     CheckpointID `json:"parent,omitempty"`
	Trigger    Trigger      `json:"trigger,omitempty"`
	Intent     string       `json:"intent,omitempty"` // cut when it is long
	Tree       ObjectID     `json:"tree,omitempty"`
	Bytes      int64        `json:"bytes,omitempty"`
	Coverage   Grade        `json:"coverage,omitempty"`
	Answer     string       `json:"answer,omitempty"` // of a verification
	Claim      bool         `json:"claim,omitempty"`  // an agent reports that answer; nobody saw it
	By         string       `json:"by,omitempty"`     // whose word the answer is
	Name       string       `json:"name,omitempty"`   // of a verification, a schedule or a backup
	Count      int64        `json:"count,omitempty"`
	Why        string       `json:"why,omitempty"`
	Address    string       `json:"api_url,omitempty"` // where it can be asked for
	Head       string       `json:"audit_head,omitempty"`
	Key        KeyID        `json:"key,omitempty"`     // whose share is nearly full
	Percent    int64        `json:"percent,omitempty"` // how full it is
	Limit      int64        `json:"limit,omitempty"`   // in bytes
}

// Tidings are the types of event that a new checkpoint is.
func (cp *Checkpoint) Tidings() []EventType {
	out := []EventType{EventCreated}
	if cp.Trigger == TriggerReturn {
		out = append(out, EventRestored)
	}
	if cp.Trigger == TriggerFork {
		out = append(out, EventForked)
	}
	if cp.outside() > 0 {
		out = append(out, EventEffect)
	}
	return out
}

// EventData is what an event tells of a checkpoint, as far as the checkpoint knows.
func (cp *Checkpoint) EventData(t EventType) EventData {
	d := EventData{
		Workspace: cp.Workspace, Checkpoint: cp.ID, Number: cp.Number, Parent: cp.Parent, Trigger: cp.Trigger,
		Intent: cp.Intent, Tree: cp.Tree, Bytes: cp.Bytes, Coverage: cp.Coverage.Grade,
	}
	d.Snapshot = cp.ID
	if cp.Return != nil {
		d.Target, d.Safety = cp.Return.Target, cp.Return.Before
	}
	if t == EventRestored && d.Target != "" {
		d.Snapshot = d.Target // what was asked for by this name
	}
	if cp.Turn != nil {
		d.Agent = cp.Turn.Agent
	}
	if t == EventEffect {
		d.Count = cp.outside()
	}
	return d
}

// WebhookID names a webhook.
type WebhookID string

// Webhook is an address that is told of events.
type Webhook struct {
	ID    WebhookID   `json:"id"`
	URL   string      `json:"url"`
	Types []EventType `json:"types"` // none: all but the other names
	// Workspace is the only one whose events it is told of; empty: all, and those of the namespace.
	Workspace WorkspaceID `json:"workspace_id,omitempty"`
	Scheme    Scheme      `json:"scheme"`
	Public    string      `json:"public,omitempty"` // of scheme v1a: the key to check with
	Created   time.Time   `json:"created"`
	Disabled  *time.Time  `json:"disabled,omitempty"`
	Why       string      `json:"why,omitempty"`     // it is disabled
	Rotated   *time.Time  `json:"rotated,omitempty"` // until a day after that the old secret signs too
	ETag      string      `json:"etag,omitempty"`    // of its version, as HTTP writes it; only in responses
}

// WantsWorkspace reports whether a webhook is told of events of a workspace; "" is the namespace.
func (w *Webhook) WantsWorkspace(ws WorkspaceID) bool { return w.Workspace == "" || w.Workspace == ws }

// Wants reports under which names a webhook is told of a type.
func (w *Webhook) Wants(t EventType) []EventType {
	if len(w.Types) == 0 {
		return []EventType{t}
	}
	var out []EventType
	for _, name := range []EventType{t, t.Alias()} {
		if name != "" && slices.Contains(w.Types, name) {
			out = append(out, name)
		}
	}
	return out
}

// Scheme is how messages are signed.
type Scheme string

// The schemes of Standard Webhooks 1.0: a shared secret, or a pair of keys.
const (
	SchemeShared Scheme = "v1"
	SchemePair   Scheme = "v1a"
)

// WebhookRequest asks for a webhook.
type WebhookRequest struct {
	URL       string
	Types     []EventType
	Workspace WorkspaceID // empty: all
	Scheme    Scheme
}

// NewWebhook is a webhook with what its receiver checks signatures with: the shared
// secret, which is not told again, or the public key.
type NewWebhook struct {
	Webhook Webhook `json:"webhook"`
	Secret  string  `json:"secret"`
}

// DeliveryState is how far a message is.
type DeliveryState string

// The states.
const (
	DeliveryWaiting   DeliveryState = "waiting"
	DeliveryDelivered DeliveryState = "delivered"
	DeliveryDead      DeliveryState = "dead" // all tries are used up
)

// Delivery is one message to one webhook.
type Delivery struct {
	ID      string        `json:"id"` // the webhook-id of the message
	Webhook WebhookID     `json:"webhook"`
	Event   int64         `json:"event"`
	Type    EventType     `json:"type"`
	State   DeliveryState `json:"state"`
	Tries   []Try         `json:"tries"`
	Next    *time.Time    `json:"next,omitempty"`
	Created time.Time     `json:"created"`
	Body    []byte        `json:"body,omitempty"` // told of one, not in lists
}

// Try is one attempt to deliver.
type Try struct {
	At     time.Time     `json:"at"`
	Status int           `json:"status,omitempty"` // of the answer; 0: there was none
	Why    string        `json:"why,omitempty"`
	Took   time.Duration `json:"took"`
}
