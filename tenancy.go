package retake

import (
	"context"
	"slices"
	"time"
)

// NamespaceID names a tenant: lowercase letters, digits and dashes, chosen by a person.
type NamespaceID string

// Namespace is the wall between customers. Nothing in it can be seen from another.
type Namespace struct {
	ID      NamespaceID `json:"id"`
	Created time.Time   `json:"created"`
	Default WorkspaceID `json:"default"` // the workspace of who names none
	Limits  Limits      `json:"limits"`
	ETag    string      `json:"etag,omitempty"`    // of the limits, as HTTP writes it; only in responses
	Roots   []string    `json:"roots"`             // directories of the server's machine that its workspaces may lie in, beside its own
	Ended   *time.Time  `json:"ended,omitempty"`   // nobody gets in any more
	Creator NamespaceID `json:"creator,omitempty"` // whose provisioner made it; empty: the server's owner
}

// Limits bound what a namespace may take. 0 is no bound.
type Limits struct {
	Within      time.Duration `json:"within"`       // how long checkpoints are kept at least
	GoneAfter   time.Duration `json:"gone_after"`   // after how long none is kept but pins, holds, the newest and fork bases; 0: never
	Checkpoint  int64         `json:"moment"`       // bytes of the tree of one checkpoint
	Store       int64         `json:"store"`        // bytes of all history
	Workspaces  int64         `json:"workspaces"`   // live ones
	PerSecond   int64         `json:"per_second"`   // requests of one key
	RestoreHour int64         `json:"restore_hour"` // restores of one agent key in an hour
	Grace       time.Duration `json:"grace"`        // between a request to delete and the deletion

	WorkspaceShare int64 `json:"workspace_share"` // percent of Store that one workspace may take, when there are others
	KeyShare       int64 `json:"key_share"`       // percent of Store that one agent key may add, when there are others
}

// DefaultLimits are those of a namespace for which nothing else was said.
func DefaultLimits() Limits {
	return Limits{Within: 30 * day, Checkpoint: 32 << 30, Store: 256 << 30, Workspaces: 1000, PerSecond: 50, RestoreHour: 60, Grace: 7 * day, WorkspaceShare: 50, KeyShare: 50}
}

// Usage is what a namespace takes.
type Usage struct {
	Namespace   NamespaceID `json:"namespace"`
	Workspaces  int64       `json:"workspaces"`
	Checkpoints int64       `json:"checkpoints"`
	Bytes       int64       `json:"bytes"` // of the store
	Limits      Limits      `json:"limits"`

	Largest    []WorkspaceUsage `json:"largest_workspaces"` // most bytes first; those whose protection ended, too
	Keys       []KeyUsage       `json:"largest_keys"`       // most bytes first; revoked ones, too
	NearlyFull []Fullness       `json:"nearly_full"`        // the store and the shares that are nearly full, or full
}

// WorkspaceUsage is what the checkpoints of a workspace added: the bytes of their new and changed
// files, as they are in the workspace. The store takes less, since it stores equal files once and
// compresses.
type WorkspaceUsage struct {
	Workspace WorkspaceID `json:"workspace"`
	Name      string      `json:"name"`
	Bytes     int64       `json:"bytes"`
}

// KeyUsage is what the checkpoints that an API key took added, counted in the same way.
type KeyUsage struct {
	Key   KeyID   `json:"key"`
	Name  string  `json:"name"`
	Role  KeyKind `json:"role"`
	Bytes int64   `json:"bytes"`
}

// Fullness is how full the store or a share of it is. Without a workspace and a key it is the store.
type Fullness struct {
	Workspace WorkspaceID `json:"workspace,omitempty"`
	Key       KeyID       `json:"key,omitempty"`
	Bytes     int64       `json:"bytes"`
	Limit     int64       `json:"limit"` // in bytes
	Percent   int64       `json:"percent"`
}

// KeyKind is what a key is for. Kinds are added, never changed.
type KeyKind string

// The kinds. No kind both adds to history and takes from it.
const (
	KeyAgent      KeyKind = "agent"      // adds history, reads it, goes back
	KeyReader     KeyKind = "reader"     // reads
	KeyOperator   KeyKind = "operator"   // decides what is protected, kept and gone back to
	KeyAdmin      KeyKind = "admin"      // keys, webhooks, schedules, requests to delete
	KeyMaintainer KeyKind = "maintainer" // looks after the bytes, and deletes what is due
)

// KeyProvisioner creates namespaces and their keys. Only the server's owner makes such a key.
const KeyProvisioner KeyKind = "provisioner"

// KeyKinds are those that a namespace makes for itself, in the order in which they are told.
var KeyKinds = []KeyKind{KeyAgent, KeyReader, KeyOperator, KeyAdmin, KeyMaintainer}

// Power is what a request needs.
type Power string

// The powers.
const (
	PowerNone       Power = "none"       // any key
	PowerSee        Power = "see"        // read history
	PowerRecord     Power = "record"     // add to it
	PowerReturn     Power = "return"     // plan, restore, undo, fork, adopt
	PowerDecide     Power = "decide"     // protect, release, pin, hold
	PowerAdminister Power = "administer" // keys, webhooks, schedules, limits, audit
	PowerErase      Power = "erase"      // ask for deletion
	PowerMaintain   Power = "maintain"   // sweep, scrub, rebuild
	PowerProvision  Power = "provision"  // namespaces and their keys
)

var powers = map[KeyKind][]Power{
	KeyAgent:      {PowerNone, PowerSee, PowerRecord, PowerReturn},
	KeyReader:     {PowerNone, PowerSee},
	KeyOperator:   {PowerNone, PowerSee, PowerRecord, PowerReturn, PowerDecide},
	KeyAdmin:      {PowerNone, PowerSee, PowerAdminister, PowerErase},
	KeyMaintainer: {PowerNone, PowerSee, PowerMaintain},

	KeyProvisioner: {PowerNone, PowerProvision},
}

// Has reports whether a kind of key has a power.
func (k KeyKind) Has(p Power) bool { return slices.Contains(powers[k], p) }

// Powers are all that a kind of key has.
func (k KeyKind) Powers() []Power { return slices.Clone(powers[k]) }

// KeyID names a key; it is no secret.
type KeyID string

// Key lets somebody in. Its secret was shown once and is stored nowhere.
type Key struct {
	ID         KeyID      `json:"id"`
	Kind       KeyKind    `json:"kind"`
	Name       string     `json:"name"`
	Tail       string     `json:"tail"`       // its last four characters, to be told from others
	Workspaces []string   `json:"workspaces"` // ids that it is good for; none: all
	Created    time.Time  `json:"created"`
	Expires    *time.Time `json:"expires,omitempty"`
	Used       *time.Time `json:"used,omitempty"` // about when it last let somebody in
	Revoked    *time.Time `json:"revoked,omitempty"`
}

// Live reports whether a key lets anybody in.
func (k *Key) Live(now time.Time) bool {
	return k.Revoked == nil && (k.Expires == nil || now.Before(*k.Expires))
}

// KeyRequest asks for a key.
type KeyRequest struct {
	Kind       KeyKind
	Name       string
	Workspaces []string
	Expires    *time.Time
}

// NewKey is a key with its secret, which is never told again.
type NewKey struct {
	Key    Key    `json:"key"`
	Secret string `json:"secret"`
}

// Actor is who asks. Without one it is whoever owns the process.
type Actor struct {
	Kind KeyKind `json:"kind"`
	Key  KeyID   `json:"key,omitempty"`
	Name string  `json:"name,omitempty"`

	Scope *Scope `json:"-"` // nil: all workspaces
}

// Scope is what a key is good for: the ids of workspaces. What is not among them is not
// there for who asks with it.
type Scope struct{ Workspaces []string }

// Scope is what the key is good for; nil: all workspaces.
func (k *Key) Scope() *Scope {
	if len(k.Workspaces) == 0 {
		return nil
	}
	return &Scope{k.Workspaces}
}

// MayLoad reports whether who asks may be given something of a workspace. It is asked
// where the workspace is loaded, so that no field of a request leads past it.
func MayLoad(ctx context.Context, ws WorkspaceID) bool {
	a, ok := ActorOf(ctx)
	return !ok || a.Scope == nil || slices.Contains(a.Scope.Workspaces, string(ws))
}

type actorKey struct{}

// WithActor says who asks.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf answers who asks; false: nobody said.
func ActorOf(ctx context.Context) (Actor, bool) {
	a, ok := ctx.Value(actorKey{}).(Actor)
	return a, ok
}
