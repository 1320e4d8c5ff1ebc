package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// runRetention runs the daily retention of a namespace. The next run is more than a day later,
// because the date identifies the event of a run.
func (t *Scheduler) runRetention(ctx context.Context, d serverdb.Due) (time.Time, error) {
	row, err := t.opts.Ledger.Namespace(ctx, d.Namespace)
	if errors.Is(err, serverdb.ErrNotFound) || err == nil && row.Ended != nil {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("find namespace: %w", err)
	}
	svc, release, err := t.opts.OpenService(ctx, d.Namespace)
	if err != nil {
		return time.Time{}, fmt.Errorf("open namespace: %w", err)
	}
	defer release()
	n, what, err := thinHistory(withActor(ctx, retake.KeyMaintainer, "retention"), svc)
	if err != nil {
		return time.Time{}, err
	}
	now := t.opts.Clock.Now()
	if err := t.publishRetention(ctx, d.Namespace, n, what, now.UTC().Format(time.DateOnly)); err != nil {
		return time.Time{}, err
	}
	return now.Add(day + t.randomPart(time.Hour)), nil
}

// thinHistory deletes what the retention policy no longer keeps. It returns how many
// checkpoints were deleted and a summary. A namespace without a history is not an error.
func thinHistory(ctx context.Context, svc retake.Service) (int64, string, error) {
	rep, err := svc.Thin(ctx, retake.ThinRequest{})
	if retake.IsKind(err, retake.NotFound) {
		return 0, "there is no history yet", nil
	}
	if err != nil {
		return 0, "", err
	}
	what := fmt.Sprintf("%d checkpoints went, %d bytes were given back", rep.Forgotten, max(0, rep.Sweep.Before-rep.Sweep.After))
	if rep.Over > 0 {
		what += fmt.Sprintf(", %d bytes above the budget are kept on purpose", rep.Over)
	}
	return rep.Forgotten, what, nil
}

func (t *Scheduler) publishRetention(ctx context.Context, ns retake.NamespaceID, n int64, what string, key ...string) error {
	e, err := webhooks.NewEvent(retake.EventRetention, t.opts.Clock.Now(), retake.EventData{Namespace: ns, Count: n, Why: what}, key...)
	if err != nil {
		return err
	}
	return t.opts.Publish(ctx, ns, e)
}
