// Package serverdb is the port to the rows of a server: namespaces, keys, webhooks, events,
// schedules, the audit log, and what is due.
//
// Every method is one transaction, and ids are made by the caller. Unlike a catalog it
// cannot be made again from the store. It knows no secret: keys come as digests,
// passwords and webhook secrets come sealed.
//
//	J1  A Book sees one namespace only; what crosses namespaces holds ids and times alone.
//	J2  The audit log and the events only grow. An act and its entry are one transaction.
//	J3  What is due is claimed by one at a time; a claim that nobody ends comes back.
package serverdb

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/retake-dev/retake"
)

// Errors that callers branch on.
var (
	ErrNotFound = errors.New("no such row")
	ErrExists   = errors.New("there is another row with this key")
	ErrChanged  = errors.New("the row was changed meanwhile")
)

// Ledger holds the rows of all namespaces. Its methods may be called from several goroutines.
type Ledger interface {
	Registry
	Queue
	Leases
	// Book returns the rows of one namespace.
	Book(ns retake.NamespaceID) Book
	io.Closer
}

// Registry holds the namespaces.
type Registry interface {
	// AddNamespace adds a namespace with its sealed password. ErrExists.
	AddNamespace(ctx context.Context, ns retake.Namespace, password []byte) error
	// ChangeNamespace changes limits, roots, default and end, in one transaction, and returns the
	// result. ErrNotFound. An error of change, which may be called again, changes nothing.
	ChangeNamespace(ctx context.Context, ns retake.NamespaceID, change func(*retake.Namespace) error) (retake.Namespace, error)
	Namespace(ctx context.Context, ns retake.NamespaceID) (retake.Namespace, error)
	Namespaces(ctx context.Context) ([]retake.Namespace, error)
	// Password returns the sealed password of a namespace's store; PutPassword replaces the one
	// that was, when the sealing key changes. ErrNotFound, ErrChanged.
	Password(ctx context.Context, ns retake.NamespaceID) ([]byte, error)
	PutPassword(ctx context.Context, ns retake.NamespaceID, was, sealed []byte) error
	// KeyByDigest returns a key by the digest of its secret, and its namespace. ErrNotFound.
	KeyByDigest(ctx context.Context, digest [32]byte) (retake.NamespaceID, retake.Key, error)
}

// Queue holds due items: work that outlives the process that asked for it.
type Queue interface {
	// Put makes an item due at a time. An existing item becomes due at the earlier of both
	// times, and a claim on it ends.
	Put(ctx context.Context, d Due) error
	// PutNew makes an item due at a time if it is not in the queue. One that is there stays as it is,
	// with its claim and its tries.
	PutNew(ctx context.Context, d Due) error
	// Claim takes due items, oldest first, and hides them until the lease ends.
	Claim(ctx context.Context, queue string, now time.Time, lease time.Duration, limit int) ([]Due, error)
	// NextDue returns, for each queue that has items, when the first of them can be claimed.
	NextDue(ctx context.Context) (map[string]time.Time, error)
	// Extend hides a claimed item until a later time, unless it was put again since.
	Extend(ctx context.Context, d Due, until time.Time) error
	// Finish removes a claimed item, unless it was put again since.
	Finish(ctx context.Context, d Due) error
	// Postpone ends a claim and makes the item due later, unless it was put again since. Tries and
	// Reason become those of d.
	Postpone(ctx context.Context, d Due, at time.Time) error
	// Failing lists the items whose last try failed, of all queues, by queue, namespace and ID.
	Failing(ctx context.Context) ([]Due, error)
	// Depth returns the number of items that are due or claimed, and the time of the oldest.
	Depth(ctx context.Context, queue string) (n int64, oldest time.Time, err error)
}

// Due is one item of a queue. Stamp distinguishes claims; only the ledger sets it.
type Due struct {
	Queue     string
	Namespace retake.NamespaceID
	ID        string
	At        time.Time
	Stamp     int64
	Tries     int64  // that failed since the last one that did not
	Reason    string // the kind of the last error: no text of a tenant is in a table that all share
}

// MaxTries is how often work may fail, for about a day, until it is parked.
const MaxTries = 30

// IsParked reports whether the work failed so often that it is tried once a day only.
func (d Due) IsParked() bool { return d.Tries >= MaxTries }

// Queues of today.
const (
	QueueOutbox    = "outbox"    // a namespace whose catalog has notices; ID is empty
	QueueDelivery  = "delivery"  // a message to a webhook
	QueueSchedule  = "schedule"  // a schedule
	QueueDeletion  = "deletion"  // a request whose grace ends
	QueueRetention = "retention" // a namespace whose checkpoints may be too old; ID is empty
	QueueAnchor    = "anchor"    // a namespace whose audit log grew; ID is empty
)

// Leases decide which process does what only one may do.
type Leases interface {
	// Lease takes or renews a name. It returns false if another holder has it.
	Lease(ctx context.Context, name, holder string, now time.Time, ttl time.Duration) (bool, error)
}

// Book holds the rows of one namespace.
type Book interface {
	Keys
	Hooks
	Events
	Schedules
	Deletions
	Audits
	Replies
}

// Keys are the API keys, stored by the digest of their secrets.
type Keys interface {
	AddKey(ctx context.Context, k retake.Key, digest [32]byte) error
	Keys(ctx context.Context) ([]retake.Key, error)
	// RevokeKey ends a key. A revoked key keeps its time.
	RevokeKey(ctx context.Context, id retake.KeyID, at time.Time) (retake.Key, error)
	// UsedKey records that a key was used. It is not audited.
	UsedKey(ctx context.Context, id retake.KeyID, at time.Time) error
	// EndSession ends a session of the console, which would last until a time.
	EndSession(ctx context.Context, id string, until time.Time) error
	// HasSessionEnded reports whether a session was ended and its time has not come.
	HasSessionEnded(ctx context.Context, id string) (bool, error)
}

// Hook is a webhook with its sealed secrets: the current one, and the previous one while both
// sign.
type Hook struct {
	retake.Webhook
	Secret, Old []byte
}

// Hooks are the webhooks.
type Hooks interface {
	PutHook(ctx context.Context, h Hook) error
	// ChangeHook changes a webhook in one transaction, and returns the result. ErrNotFound. An
	// error of change, which may be called again, changes nothing.
	ChangeHook(ctx context.Context, id retake.WebhookID, change func(*Hook) error) (Hook, error)
	Hook(ctx context.Context, id retake.WebhookID) (Hook, error)
	Hooks(ctx context.Context) ([]Hook, error)
	DropHook(ctx context.Context, id retake.WebhookID) error
}

// Events are append-only.
type Events interface {
	// Publish adds events, numbers them, and adds a message for every webhook that subscribes
	// to them, due at once; all in one transaction. An event with a known id changes nothing.
	Publish(ctx context.Context, events []retake.Event, message func(retake.Event, Hook, retake.EventType) (id string, body []byte)) error
	// Events lists the events after a number, oldest first.
	Events(ctx context.Context, after int64, limit int) ([]retake.Event, error)
	// NewestEvent returns the event with the highest number. ErrNotFound.
	NewestEvent(ctx context.Context) (retake.Event, error)
	Delivery(ctx context.Context, id string) (retake.Delivery, error)
	// PutDelivery replaces state, tries and next.
	PutDelivery(ctx context.Context, d retake.Delivery) error
	// Deliveries lists messages without their bodies, newest first.
	Deliveries(ctx context.Context, q retake.DeliveryQuery) ([]retake.Delivery, error)
}

// Schedules run periodically.
type Schedules interface {
	PutSchedule(ctx context.Context, s retake.Schedule) error
	Schedule(ctx context.Context, id string) (retake.Schedule, error)
	Schedules(ctx context.Context) ([]retake.Schedule, error)
	DropSchedule(ctx context.Context, id string) error
}

// Deletions are requests to delete.
type Deletions interface {
	PutDeletion(ctx context.Context, d retake.Deletion) error
	Deletion(ctx context.Context, id string) (retake.Deletion, error)
	Deletions(ctx context.Context) ([]retake.Deletion, error)
}

// Audits is the hash chain of audit entries.
type Audits interface {
	// Note adds an entry about an action that has no row of its own. Methods of a Book that
	// change something add theirs themselves.
	Note(ctx context.Context, verb, subject string) error
	// Audit lists entries, newest first or as the query says.
	Audit(ctx context.Context, q retake.AuditQuery) ([]retake.AuditEntry, error)
	// Walk calls f for every entry, oldest first.
	Walk(ctx context.Context, f func(retake.AuditEntry) error) error
	// PutAnchor stores a signed head; Anchors lists them, oldest first.
	PutAnchor(ctx context.Context, a Anchor) error
	Anchors(ctx context.Context) ([]Anchor, error)
}

// Anchor is the signed head of a chain at a point in time.
type Anchor struct {
	Seq       int64     `json:"seq"`
	Hash      string    `json:"hash"`
	Time      time.Time `json:"time"`
	Signature []byte    `json:"signature"`
}

// Replies remember the responses to requests with an idempotency key.
type Replies interface {
	// BeginReply claims a key for a request with this digest until the lease ends. ReplyKnown
	// returns the stored reply; ReplyHeld means that another request with this key is in
	// progress; ReplyOther means that the key was used for a different request.
	BeginReply(ctx context.Context, key string, digest [32]byte, now time.Time, lease time.Duration) (Reply, ReplyState, error)
	EndReply(ctx context.Context, key string, r Reply, keep time.Time) error
	// DropReply releases a key after a request that failed.
	DropReply(ctx context.Context, key string) error
	// OtherReplies lists the stored replies after a key whose bodies don't begin with head, a
	// sealing key's 9 bytes, by key. Expired ones are left out.
	OtherReplies(ctx context.Context, head []byte, after string, now time.Time, limit int) ([]SealedReply, error)
	// PutReplyBody replaces the body that was, when the sealing key changes. ErrChanged.
	PutReplyBody(ctx context.Context, key string, was, body []byte) error
}

// SealedReply is the body of a stored reply.
type SealedReply struct {
	Key  string
	Body []byte
}

// Reply is a response as it was sent. Stamp is set by the ledger: it comes with a new claim
// and is passed back when the claim ends, so that a claim that was lost meanwhile does not end
// that of its new holder.
type Reply struct {
	Status int
	Type   string
	Body   []byte
	Stamp  int64
}

// ReplyState is the state of a key.
type ReplyState int

// The states.
const (
	ReplyFresh ReplyState = iota // it is ours now
	ReplyKnown                   // the reply is there
	ReplyHeld                    // somebody else is at it
	ReplyOther                   // it was for another request
)

// Origin is where a request came from, for the audit log.
type Origin struct {
	Address string // of the client
	Request string // the ID of the request
}

type originKey struct{}

// WithOrigin sets where a request came from.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf returns where a request came from, if it is known.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}
