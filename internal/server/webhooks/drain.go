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

// Topics of notices.
const (
	topicCreated   = "checkpoint.created"
	topicForgotten = "checkpoint.forgotten"
	topicVerified  = "checkpoint.verified"
)

const drainBatchSize = 100 // notices in one transaction

// drainDue empties an outbox, or as much of it as the time allows.
func (c *Dispatcher) drainDue(ctx context.Context, d serverdb.Due) (time.Time, error) {
	err := c.DrainOutbox(ctx, d.Namespace)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return c.opts.Clock.Now(), nil // the rest is due at once
	}
	return time.Time{}, err
}

// DrainOutbox makes events of all notices of a namespace. Events first, then the notices go.
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

// auditHead is how far the audit log is: who keeps an event can hold the log against it.
func (c *Dispatcher) auditHead(ctx context.Context, ns retake.NamespaceID) (string, error) {
	last, err := c.opts.Ledger.Book(ns).Audit(ctx, retake.AuditQuery{Limit: 1})
	if err != nil || len(last) == 0 {
		return "", err
	}
	return last[0].Hash, nil
}

// eventBuilder makes events of notices.
type eventBuilder struct {
	dispatcher *Dispatcher
	ns         retake.NamespaceID
	catalog    CatalogReader
	head       string
	tombstones map[retake.WorkspaceID]map[retake.CheckpointID]retake.Tombstone
	events     []retake.Event
}

// addNotice adds the events of one notice. A topic that is not known yet is nobody's business.
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
	case gone: // its answers went with it, and one that says nothing could be taken for a good one
		return nil
	case n.Topic == topicVerified:
		return t.addVerified(ctx, n, cp)
	default:
		return t.addCreated(cp)
	}
}

// addCreated tells of a new checkpoint, and of what it stands for. The key is the checkpoint:
// a catalog that is made again tells nothing twice.
func (t *eventBuilder) addCreated(cp retake.Checkpoint) error {
	for _, kind := range cp.Tidings() {
		if err := t.addEvent(kind, cp.Time, t.eventData(cp, kind), string(cp.ID)); err != nil {
			return err
		}
	}
	return nil
}

// addVerified tells the answers about a checkpoint whose commands were started at the time of
// the notice: usually one.
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

// addForgotten tells what is left of a forgotten checkpoint: what the notice and its tombstone know.
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
