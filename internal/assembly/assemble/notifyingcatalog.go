package assemble

import (
	"context"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/storage/catalog"
)

// EventSink receives what happened.
type EventSink func(t retake.EventType, at time.Time, d retake.EventData)

// notifyingCatalog is a catalog that reports rows as they are written, for live listeners.
// Rows that are filled again from the store are not news and are not reported.
type notifyingCatalog struct {
	catalog.Catalog
	clock   clock.Clock
	onEvent EventSink
}

// Append adds a checkpoint and sets marks.
func (h notifyingCatalog) Append(ctx context.Context, cp retake.Checkpoint, marks ...catalog.Mark) error {
	err := h.Catalog.Append(ctx, cp, marks...)
	if err == nil && !isRefill(ctx) {
		for _, t := range cp.Tidings() {
			h.onEvent(t, cp.Time, cp.EventData(t))
		}
	}
	return err
}

// Bury puts tombstones. It is always asked for in the name of the maintainer, so their age
// tells which are news.
func (h notifyingCatalog) Bury(ctx context.Context, ws retake.WorkspaceID, stones []retake.Tombstone) error {
	err := h.Catalog.Bury(ctx, ws, stones)
	if err != nil {
		return err
	}
	for _, s := range stones {
		if h.clock.Now().Sub(s.At) < maxNewsAge {
			h.onEvent(retake.EventExpired, s.At, retake.EventData{Workspace: ws, Checkpoint: s.ID, Number: s.Number, Parent: s.Parent})
		}
	}
	return nil
}

// maxNewsAge is far more than the time between making a tombstone and its row.
const maxNewsAge = time.Minute

// PutVerification adds an answer.
func (h notifyingCatalog) PutVerification(ctx context.Context, v retake.Verification) error {
	err := h.Catalog.PutVerification(ctx, v)
	if err == nil && v.Verdict != retake.Running && !isRefill(ctx) {
		h.onEvent(retake.EventVerified, v.Started.Add(v.Took), retake.EventData{
			Workspace: v.Workspace, Checkpoint: v.Checkpoint, Number: v.Number, Name: v.Name, Answer: string(v.Verdict), Why: v.Why, Claim: v.Claim, By: v.By,
		})
	}
	return err
}

// isRefill reports whether the service is filling the catalog again. It does so as the
// maintainer, and on a machine without keys nobody else does.
func isRefill(ctx context.Context) bool {
	a, ok := retake.ActorOf(ctx)
	return ok && a.Kind == retake.KeyMaintainer
}
