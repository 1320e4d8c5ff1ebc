package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/cron"
	"github.com/retake-dev/retake/internal/server/webhooks"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

const (
	day              = 24 * time.Hour
	schedulePrefix   = "sch_"
	maxCountedMissed = 100_000 // more than a schedule of every minute misses in two months
	drillShare       = 0.02    // share of all file bytes that a drill reads
	unchanged        = "Nothing was changed."
)

// PlanSchedule validates a request and returns its schedule with the time of the first run.
func PlanSchedule(req retake.ScheduleRequest, now time.Time) (retake.Schedule, error) {
	switch req.Work {
	case retake.WorkSave, retake.WorkRetain, retake.WorkDrill:
	default:
		return retake.Schedule{}, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%.40q is nothing that a schedule does", req.Work), Safe: unchanged, Hint: "save, retain or drill"}
	}
	c, err := cron.Parse(req.Cron)
	if err != nil {
		return retake.Schedule{}, err
	}
	first := c.Next(now)
	if gap := c.Next(first).Sub(first); req.Jitter < 0 || req.Jitter > gap {
		return retake.Schedule{}, &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("the jitter does not fit between two runs, which are %s apart", gap), Safe: unchanged}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return retake.Schedule{}, fmt.Errorf("make id: %w", err)
	}
	s := retake.Schedule{ID: schedulePrefix + id.String(), Work: req.Work, Workspace: req.Workspace, Cron: c.String(), Jitter: req.Jitter, Created: now.UTC()}
	s.Next = nextRun(s, c, now)
	return s, nil
}

// nextRun returns the time of the first run after a given time, with its jitter.
func nextRun(s retake.Schedule, c cron.Schedule, after time.Time) time.Time {
	at := c.Next(after)
	return at.Add(cron.Jitter(s.ID, at, s.Jitter))
}

// runDueSchedule executes a run that is due and returns when the next one is.
func (t *Scheduler) runDueSchedule(ctx context.Context, d serverdb.Due) (time.Time, error) {
	book := t.opts.Ledger.Book(d.Namespace)
	s, err := book.Schedule(ctx, d.ID)
	if errors.Is(err, serverdb.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("find schedule: %w", err)
	}
	now := t.opts.Clock.Now()
	if s.Next.After(now) { // the run was recorded, but the worker was killed before it could finish the item
		return s.Next, nil
	}
	c, err := cron.Parse(s.Cron)
	if err != nil {
		return time.Time{}, fmt.Errorf("read schedule: %w", err)
	}
	missed := int64(c.CountBetween(s.Next, now, maxCountedMissed))
	if err := t.publishMissed(ctx, d.Namespace, s, now, missed); err != nil {
		return time.Time{}, err
	}
	run, err := t.runSchedule(ctx, d.Namespace, s)
	if err != nil {
		return time.Time{}, err
	}
	return t.recordRun(ctx, book, s, c, run, missed)
}

// recordRun stores the result of a run, unless the schedule was deleted meanwhile.
func (t *Scheduler) recordRun(ctx context.Context, book serverdb.Book, was retake.Schedule, c cron.Schedule, run retake.Run, missed int64) (time.Time, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimLease)
	defer cancel()
	s, err := book.Schedule(ctx, was.ID)
	if errors.Is(err, serverdb.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("find schedule: %w", err)
	}
	s.Last, s.Missed, s.Next = &run, s.Missed+missed, nextRun(s, c, t.opts.Clock.Now())
	if err := book.PutSchedule(ctx, s); err != nil {
		return time.Time{}, fmt.Errorf("write down run: %w", err)
	}
	return s.Next, nil
}

// publishMissed publishes an event if runs were missed. The planned time is part of the event's
// ID, so that a retry does not publish it twice.
func (t *Scheduler) publishMissed(ctx context.Context, ns retake.NamespaceID, s retake.Schedule, now time.Time, missed int64) error {
	if missed == 0 {
		return nil
	}
	e, err := webhooks.NewEvent(retake.EventMissed, now, retake.EventData{
		Namespace: ns, Workspace: s.Workspace, Name: s.ID, Count: missed,
		Why: "no server was there since " + s.Next.UTC().Format(time.RFC3339),
	}, s.ID, s.Next.UTC().Format(time.RFC3339Nano))
	if err != nil {
		return err
	}
	return t.opts.Publish(ctx, ns, e)
}

// runSchedule does the work of a schedule. A failure is part of the returned run. An error
// means that the work was not started, or that the server is stopping.
func (t *Scheduler) runSchedule(ctx context.Context, ns retake.NamespaceID, s retake.Schedule) (retake.Run, error) {
	run := retake.Run{At: t.opts.Clock.Now().UTC()}
	began := clock.Wall.Now()
	what, err := t.doWork(ctx, ns, s)
	if err != nil && (errors.Is(ctx.Err(), context.Canceled) || t.opts.IsElsewhere != nil && t.opts.IsElsewhere(err)) {
		return run, err
	}
	run.What, run.Took = what, clock.Wall.Now().Sub(began)
	if err != nil {
		run.Err = err.Error()
		t.opts.Log.WarnContext(ctx, "run schedule", "namespace", ns, "schedule", s.ID, "work", s.Work, "err", err)
	}
	return run, nil
}

// doWork does the work of a schedule and returns a summary. A panic becomes an error, so that
// the next run still takes place.
func (t *Scheduler) doWork(ctx context.Context, ns retake.NamespaceID, s retake.Schedule) (what string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	svc, release, err := t.opts.OpenService(ctx, ns)
	if err != nil {
		return "", fmt.Errorf("open namespace: %w", err)
	}
	defer release()
	switch s.Work {
	case retake.WorkSave:
		return t.saveCheckpoint(withActor(ctx, retake.KeyOperator, "schedule "+s.ID), svc, ns, s)
	case retake.WorkRetain:
		n, what, err := thinHistory(withActor(ctx, retake.KeyMaintainer, "schedule "+s.ID), svc)
		if err == nil {
			err = t.publishRetention(ctx, ns, n, what, s.ID, s.Next.UTC().Format(time.RFC3339Nano))
		}
		return what, err
	case retake.WorkDrill:
		return readBackShare(withActor(ctx, retake.KeyMaintainer, "schedule "+s.ID), svc)
	default:
		return "", fmt.Errorf("this version does not know the work %q", s.Work)
	}
}

// saveCheckpoint takes a checkpoint if files changed.
func (t *Scheduler) saveCheckpoint(ctx context.Context, svc retake.Service, ns retake.NamespaceID, s retake.Schedule) (string, error) {
	ws := s.Workspace
	if ws == "" {
		row, err := t.opts.Ledger.Namespace(ctx, ns)
		if err != nil {
			return "", fmt.Errorf("find namespace: %w", err)
		}
		ws = row.Default
	}
	res, err := svc.Save(ctx, retake.SaveRequest{Workspace: ws, IfChanged: true, Trigger: retake.TriggerManual, Intent: "on schedule: " + s.Cron})
	switch {
	case err != nil:
		return "", err
	case !res.Recorded:
		return fmt.Sprintf("nothing changed since checkpoint %d", res.Checkpoint.Number), nil
	default:
		return fmt.Sprintf("checkpoint %d", res.Checkpoint.Number), nil
	}
}

// readBackShare reads a share of the stored bytes back, to detect damage.
func readBackShare(ctx context.Context, svc retake.Service) (string, error) {
	rep, err := svc.Scrub(ctx, retake.ScrubQuery{Share: drillShare})
	if err != nil {
		return "", err
	}
	what := fmt.Sprintf("%d checkpoints, %d objects and %d bytes read back", rep.Checkpoints, rep.Objects, rep.Bytes)
	if n := len(rep.Failed); n > 0 {
		return what, fmt.Errorf("%d cannot be read back, the first is %s", n, rep.Failed[0])
	}
	return what, nil
}
