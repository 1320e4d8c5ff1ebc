// Package adminapi does what a namespace has beside its workspaces: keys, webhooks,
// schedules, the audit log, requests to delete.
//
// It writes rows of one namespace through its Book and asks its Service; it opens no
// file and sends nothing itself. Who may ask what was decided before.
//
//	O1  A secret is told once, to who asked for it, and stored as a digest or sealed.
//	O2  Nothing is deleted here: a request becomes due when its grace ends.
package adminapi

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Options are what an office stands on.
type Options struct {
	Namespace        retake.NamespaceID
	Ledger           serverdb.Ledger
	Service          retake.Service
	Sealer           secretbox.Keeper
	Clock            clock.Clock
	CurrentNamespace func() retake.Namespace // the row, at most a few seconds old

	MakeHostedDir         func(name string) (dir string, drop func(), err error) // makes an empty directory for a workspace
	PinHold               func(ctx context.Context, ws retake.WorkspaceID, ref, name string) (retake.Pin, error)
	UnpinHold             func(ctx context.Context, ws retake.WorkspaceID, name string) error // takes off a pin that is a hold
	AllowInsecureWebhooks bool                                                                // webhooks may be plain HTTP and at home, for development
	AnchorPublicKey       string                                                              // the key that anchors are signed with
	VerifyAnchor          func(serverdb.Anchor) error
	PlanSchedule          func(retake.ScheduleRequest, time.Time) (retake.Schedule, error)
	ReplayDelivery        func(ctx context.Context, ns retake.NamespaceID, id string) (retake.Delivery, error)
	WakeDelivery          func() // something became due
	MaxLimits             retake.Limits
	AvailableBytes        func() (int64, error) // bytes that may be written to the disk of the workspaces before its floor is reached
}

// Office is retake.Office.
type Office struct {
	Options
	book       serverdb.Book
	importSlot chan struct{} // one import at a time
}

var _ retake.Office = (*Office)(nil)

// New makes the office of a namespace.
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

// notFoundError puts a row that is not there into words.
func notFoundError(what string, err error) error {
	if errors.Is(err, serverdb.ErrNotFound) {
		return &retake.Error{Kind: retake.NotFound, What: "there is no such " + what, Safe: unchanged}
	}
	return err
}

func invalidError(format string, args ...any) error {
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf(format, args...), Safe: unchanged}
}

// Namespace answers the row.
func (o *Office) Namespace(ctx context.Context) (retake.Namespace, error) {
	ns, err := o.Ledger.Namespace(ctx, o.Options.Namespace)
	return ns, notFoundError("namespace", err)
}

// Usage counts what the namespace takes.
func (o *Office) Usage(ctx context.Context) (retake.Usage, error) {
	u := retake.Usage{Namespace: o.Options.Namespace, Limits: o.CurrentNamespace().Limits}
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
	st, err := o.Service.Space(ctx)
	u.Bytes = st.Bytes
	return u, err
}

// SetLimits changes the limits, up to the server's own.
func (o *Office) SetLimits(ctx context.Context, l retake.Limits) (retake.Namespace, error) {
	c := o.MaxLimits
	for _, f := range []struct {
		name      string
		want, top int64
	}{
		{"within", int64(l.Within), int64(c.Within)}, {"gone_after", int64(l.GoneAfter), 0}, {"moment", l.Checkpoint, c.Checkpoint}, {"store", l.Store, c.Store},
		{"workspaces", l.Workspaces, c.Workspaces}, {"per_second", l.PerSecond, c.PerSecond}, {"restore_hour", l.RestoreHour, c.RestoreHour},
	} {
		if f.want < 0 || f.top > 0 && (f.want == 0 || f.want > f.top) {
			return retake.Namespace{}, &retake.Error{Kind: retake.Limit, What: fmt.Sprintf("%s may be at most %d here", f.name, f.top), Safe: unchanged}
		}
	}
	if l.Grace < c.Grace {
		return retake.Namespace{}, &retake.Error{Kind: retake.Limit, What: fmt.Sprintf("the grace may not be shorter than %s here", c.Grace), Safe: unchanged}
	}
	ns, err := o.Namespace(ctx)
	if err != nil {
		return ns, err
	}
	ns.Limits = l
	return ns, o.Ledger.PutNamespace(ctx, ns)
}
