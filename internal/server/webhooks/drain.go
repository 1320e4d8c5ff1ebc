package webhooks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Topics of the catalog's notices.
const (
	topicCreated   = "checkpoint.created"
	topicForgotten = "checkpoint.forgotten"
	topicVerified  = "checkpoint.verified"
)

const drainBatchSize = 100 // notices in one transaction

// drainDue drains the outbox of an item. What does not fit into the time limit is due again at
// once.
func (c *Dispatcher) drainDue(ctx context.Context, d serverdb.Due) (time.Time, error) {
	err := c.DrainOutbox(ctx, d.Namespace)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return c.opts.Clock.Now(), nil // continue with the rest
	}
	return time.Time{}, err
}

// DrainOutbox turns all notices of a namespace into events. The events are stored before the
// notices are deleted.
func (c *Dispatcher) DrainOutbox(ctx context.Context, ns retake.NamespaceID) error {
	rows, release, err := c.opts.OpenOutbox(ctx, ns)
	if err != nil {
		return fmt.Errorf("open outbox: %w", err)
	}
	defer release()
	for {
		n, err := c.drainBatch(ctx, ns, rows)
		if err != nil || n < drainBatchSize {
			return err
		}
	}
}

// drainBatch handles up to drainBatchSize notices and returns how many there were.
func (c *Dispatcher) drainBatch(ctx context.Context, ns retake.NamespaceID, rows CatalogReader) (int, error) {
	notices, err := rows.Pending(ctx, drainBatchSize)
	if err != nil || len(notices) == 0 {
		return 0, err
	}
	t := &eventBuilder{dispatcher: c, ns: ns, catalog: rows, tombstones: map[retake.WorkspaceID]map[retake.CheckpointID]retake.Tombstone{}}
	if t.head, err = c.auditHead(ctx, ns); err != nil {
		return 0, err
	}
	ids := make([]int64, 0, len(notices))
	for _, n := range notices {
		if err := t.addNotice(ctx, n); err != nil {
			return 0, fmt.Errorf("read what happened: %w", err)
		}
		ids = append(ids, n.ID)
	}
	if err := c.Publish(ctx, ns, t.events...); err != nil {
		return 0, err
	}
	return len(notices), rows.Take(ctx, ids)
}

// auditHead returns the hash of the newest audit log entry. It is part of each event, so that a
// receiver can later check the log against it.
func (c *Dispatcher) auditHead(ctx context.Context, ns retake.NamespaceID) (string, error) {
	last, err := c.opts.Ledger.Book(ns).Audit(ctx, retake.AuditQuery{Limit: 1})
	if err != nil || len(last) == 0 {
		return "", err
	}
	return last[0].Hash, nil
}

// eventBuilder turns notices into events.
type eventBuilder struct {
	dispatcher *Dispatcher
	ns         retake.NamespaceID
	catalog    CatalogReader
	head       string
	tombstones map[retake.WorkspaceID]map[retake.CheckpointID]retake.Tombstone
	events     []retake.Event
}

// addNotice adds the events of one notice. A topic that this version does not know is ignored.
func (t *eventBuilder) addNotice(ctx context.Context, n catalog.Notice) error {
	if n.Topic == topicForgotten {
		return t.addForgotten(ctx, retake.EventExpired, n, "")
	}
	if n.Topic != topicCreated && n.Topic != topicVerified {
		return nil
	}
	cp, err := t.catalog.Checkpoint(ctx, n.Checkpoint)
	gone := errors.Is(err, catalog.ErrNotFound)
	switch {
	case err != nil && !gone:
		return err
	case gone && n.Topic == topicCreated:
		return t.addForgotten(ctx, retake.EventCreated, n, "it was forgotten since")
	case gone: // its results are gone, and an event without a result could be taken for a pass
		return nil
	case n.Topic == topicVerified:
		return t.addVerified(ctx, n, cp)
	default:
		return t.addCreated(cp)
	}
}

// addCreated adds the events of a new checkpoint. The checkpoint's ID is their key, so that a
// catalog that is rebuilt adds no second event.
func (t *eventBuilder) addCreated(cp retake.Checkpoint) error {
	for _, kind := range cp.Tidings() {
		if err := t.addEvent(kind, cp.Time, t.eventData(cp, kind), string(cp.ID)); err != nil {
			return err
		}
	}
	return nil
}

// addVerified adds the check results of a checkpoint whose commands started at the time of the
// notice, which is usually one.
func (t *eventBuilder) addVerified(ctx context.Context, n catalog.Notice, cp retake.Checkpoint) error {
	all, err := t.catalog.Verifications(ctx, catalog.VerificationQuery{Workspace: cp.Workspace, Contents: []retake.ContentID{cp.Content}})
	if err != nil {
		return err
	}
	for _, v := range all {
		if v.Checkpoint != cp.ID || v.Verdict == retake.Running || v.Started.UnixMicro() != n.Time.UnixMicro() {
			continue
		}
		d := t.eventData(cp, retake.EventVerified)
		d.Name, d.Answer, d.Why, d.Claim, d.By = v.Name, string(v.Verdict), v.Why, v.Claim, v.By
		if err := t.addEvent(retake.EventVerified, v.Started.Add(v.Took), d, string(v.ID), string(v.Verdict)); err != nil {
			return err
		}
	}
	return nil
}

// addForgotten adds an event of a deleted checkpoint from its notice and its tombstone.
func (t *eventBuilder) addForgotten(ctx context.Context, kind retake.EventType, n catalog.Notice, why string) error {
	known, ok := t.tombstones[n.Workspace]
	if !ok {
		all, err := t.catalog.Tombstones(ctx, n.Workspace)
		if err != nil {
			return err
		}
		known = make(map[retake.CheckpointID]retake.Tombstone, len(all))
		for _, s := range all {
			known[s.ID] = s
		}
		t.tombstones[n.Workspace] = known
	}
	s := known[n.Checkpoint]
	d := retake.EventData{Namespace: t.ns, Workspace: n.Workspace, Checkpoint: n.Checkpoint, Number: s.Number, Parent: s.Parent, Why: why, Head: t.head}
	return t.addEvent(kind, n.Time, d, string(n.Checkpoint))
}

func (t *eventBuilder) eventData(cp retake.Checkpoint, kind retake.EventType) retake.EventData {
	d := cp.EventData(kind)
	d.Namespace, d.Head = t.ns, t.head
	if t.dispatcher.opts.CheckpointURL != nil {
		d.Address = t.dispatcher.opts.CheckpointURL(t.ns, cp.Workspace, cp.ID)
	}
	return d
}

func (t *eventBuilder) addEvent(kind retake.EventType, at time.Time, d retake.EventData, key ...string) error {
	e, err := NewEvent(kind, at, d, key...)
	if err != nil {
		return err
	}
	t.events = append(t.events, e)
	return nil
}
