// Package adminapi implements what a namespace has besides its workspaces: keys, webhooks,
// schedules, the audit log and deletion requests.
//
// It writes rows of one namespace through its Book, calls its Service, and writes files only below
// the directories of its workspaces and where uploads are received. It reaches other namespaces
// only to provision them, and only those that its own one created. It sends nothing itself.
// Permissions are checked before.
//
//	O1  A secret is returned once, to the caller who asked for it, and is stored as a digest
//	    or sealed.
//	O2  Nothing is deleted here: a request becomes due when its grace period ends.
package adminapi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Options configure an office.
type Options struct {
	Namespace        retake.NamespaceID
	Ledger           serverdb.Ledger
	Service          retake.Service
	Sealer           secretbox.Keeper
	Clock            clock.Clock
	CurrentNamespace func() retake.Namespace // at most a few seconds old

	MakeHostedDir   func(name string) (dir string, drop func(), err error) // creates an empty directory for a workspace; drop removes it
	PinHold         func(ctx context.Context, ws retake.WorkspaceID, ref, name string) (retake.Pin, error)
	UnpinHold       func(ctx context.Context, ws retake.WorkspaceID, name string) error // removes the pin of a legal hold
	CheckWebhookURL func(url string) error                                              // returns why no webhook may have a URL
	AnchorPublicKey string                                                              // the key that anchors are verified with
	VerifyAnchor    func(serverdb.Anchor) error
	KeptAnchors     func(context.Context) ([]serverdb.Anchor, error) // the newest ones outside of the database
	PlanSchedule    func(retake.ScheduleRequest, time.Time) (retake.Schedule, error)
	ReplayDelivery  func(ctx context.Context, ns retake.NamespaceID, id string) (retake.Delivery, error)
	WakeDelivery    func() // called when a delivery became due
	MaxLimits       retake.Limits
	UploadDir       string                                                            // where files are received; tenants cannot reach it
	OpenRoot        func(ctx context.Context, ws retake.WorkspaceID) (fsx.Dir, error) // opens the directory of a live workspace
	Provision       func(ctx context.Context, row retake.Namespace, webhook string) (retake.NewNamespace, error)
	ProvisionKey    func(ctx context.Context, ns retake.NamespaceID, req retake.KeyRequest) (retake.NewKey, error)
	Measure         func(ctx context.Context) (retake.Usage, error) // what the store takes, and who added most
	AvailableBytes  func() (int64, error)                           // bytes that may be written before the disk of the workspaces reaches its floor
	CheckMayAdd     func(ctx context.Context, bytes int64) error    // returns why so much may not be added to the history
}

// Office implements retake.Office for one namespace.
type Office struct {
	Options
	book       serverdb.Book
	importSlot chan struct{} // one import at a time
}

var _ retake.Office = (*Office)(nil)

// New creates the office of a namespace.
func New(o Options) *Office {
	return &Office{Options: o, book: o.Ledger.Book(o.Namespace), importSlot: make(chan struct{}, 1)}
}

const unchanged = "Nothing was changed."

func newID(prefix string) (string, error) {
	u, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	return prefix + u.String(), nil
}

// notFoundError turns a missing row into an error for the user.
func notFoundError(what string, err error) error {
	if errors.Is(err, serverdb.ErrNotFound) {
		return &retake.Error{Kind: retake.NotFound, What: "there is no such " + what, Safe: unchanged}
	}
	return err
}

func invalidError(format string, args ...any) error {
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf(format, args...), Safe: unchanged}
}

// Namespace returns the namespace.
func (o *Office) Namespace(ctx context.Context) (retake.Namespace, error) {
	ns, err := o.Ledger.Namespace(ctx, o.Options.Namespace)
	return ns, notFoundError("namespace", err)
}

// Usage returns what the namespace uses of its limits.
func (o *Office) Usage(ctx context.Context) (retake.Usage, error) {
	u, err := o.Measure(ctx)
	if err != nil {
		return u, err
	}
	all, err := o.Service.Workspaces(ctx)
	if err != nil {
		return u, err
	}
	for i := range all {
		u.Checkpoints += all[i].Count
		if all[i].Ended == nil {
			u.Workspaces++
		}
	}
	return u, o.limitUsage(ctx, &u)
}

// usageShown is how many workspaces and keys a usage lists.
const usageShown = 10

// limitUsage leaves what the caller may see: its workspaces, and other keys only for an admin. It
// adds the names of keys.
func (o *Office) limitUsage(ctx context.Context, u *retake.Usage) error {
	who, known := retake.ActorOf(ctx)
	maySeeKey := func(id retake.KeyID) bool { return !known || id == who.Key || who.Kind.Has(retake.PowerAdminister) }
	u.Largest = slices.DeleteFunc(u.Largest, func(w retake.WorkspaceUsage) bool { return !retake.MayLoad(ctx, w.Workspace) })
	u.Keys = slices.DeleteFunc(u.Keys, func(k retake.KeyUsage) bool { return !maySeeKey(k.Key) })
	u.NearlyFull = slices.DeleteFunc(u.NearlyFull, func(f retake.Fullness) bool {
		return f.Workspace != "" && !retake.MayLoad(ctx, f.Workspace) || f.Key != "" && !maySeeKey(f.Key)
	})
	u.Largest, u.Keys = u.Largest[:min(len(u.Largest), usageShown)], u.Keys[:min(len(u.Keys), usageShown)]
	all, err := o.book.Keys(ctx)
	if err != nil {
		return err
	}
	for i := range u.Keys {
		if at := slices.IndexFunc(all, func(k retake.Key) bool { return k.ID == u.Keys[i].Key }); at >= 0 {
			u.Keys[i].Name, u.Keys[i].Role = all[at].Name, all[at].Kind
		}
	}
	return nil
}

// SetLimits changes the limits, up to those of the server.
func (o *Office) SetLimits(ctx context.Context, q retake.LimitsRequest) (retake.Namespace, error) {
	l, c := q.Limits, o.MaxLimits
	for _, f := range []struct {
		name      string
		want, top int64
	}{
		{"within", int64(l.Within), int64(c.Within)}, {"gone_after", int64(l.GoneAfter), 0}, {"moment", l.Checkpoint, c.Checkpoint}, {"store", l.Store, c.Store},
		{"workspace_share", l.WorkspaceShare, 0}, {"key_share", l.KeyShare, 0},
		{"workspaces", l.Workspaces, c.Workspaces}, {"per_second", l.PerSecond, c.PerSecond}, {"restore_hour", l.RestoreHour, c.RestoreHour},
	} {
		if f.want < 0 || f.top > 0 && (f.want == 0 || f.want > f.top) {
			return retake.Namespace{}, &retake.Error{Kind: retake.Limit, What: fmt.Sprintf("%s may be at most %d here", f.name, f.top), Safe: unchanged}
		}
	}
	if l.Grace < c.Grace {
		return retake.Namespace{}, &retake.Error{Kind: retake.Limit, What: fmt.Sprintf("the grace may not be shorter than %s here", c.Grace), Safe: unchanged}
	}
	ns, err := o.Ledger.ChangeNamespace(ctx, o.Options.Namespace, func(ns *retake.Namespace) error {
		if q.IfVersion != "" {
			ctx = retake.IfVersion(ctx, q.IfVersion)
		}
		if err := retake.CheckVersion(ctx, "the limits", ns.Limits.Version()); err != nil {
			return err
		}
		ns.Limits = l
		return nil
	})
	return ns, notFoundError("namespace", err)
}
