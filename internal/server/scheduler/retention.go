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

// retention tidies a namespace up, once a day. Its next turn is more than a day away: the
// day is the key of its event.
func (t *Timetable) retention(ctx context.Context, d serverdb.Due) (time.Time, error) {
	row, err := t.o.Ledger.Namespace(ctx, d.Namespace)
	if errors.Is(err, serverdb.ErrNotFound) || err == nil && row.Ended != nil {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("find namespace: %w", err)
	}
	svc, release, err := t.o.Open(ctx, d.Namespace)
	if err != nil {
		return time.Time{}, fmt.Errorf("open namespace: %w", err)
	}
	defer release()
	n, what, err := thin(as(ctx, retake.KeyMaintainer, "retention"), svc)
	if err != nil {
		return time.Time{}, err
	}
	now := t.o.Clock.Now()
	if err := t.tellRetention(ctx, d.Namespace, n, what, now.UTC().Format(time.DateOnly)); err != nil {
		return time.Time{}, err
	}
	return now.Add(day + t.some(time.Hour)), nil
}

// thin does the tidy-up that is due. Where nothing was ever kept nothing goes.
func thin(ctx context.Context, svc retake.Service) (int64, string, error) {
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

func (t *Timetable) tellRetention(ctx context.Context, ns retake.NamespaceID, n int64, what string, key ...string) error {
	e, err := webhooks.Compose(retake.EventRetention, t.o.Clock.Now(), retake.EventData{Namespace: ns, Count: n, Why: what}, key...)
	if err != nil {
		return err
	}
	return t.o.Publish(ctx, ns, e)
}
