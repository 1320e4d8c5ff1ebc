package sqldb

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// publication is a Publish in progress. It locks the event head of its namespace, so that a
// reader that has read up to a number has missed nothing below it.
type publication struct {
	b                *Book
	tx               *sql.Tx
	events, messages int64 // the last numbers given
	hooks            []serverdb.Hook
	message          func(retake.Event, serverdb.Hook, retake.EventType) (string, []byte)
}

// Publish adds events, numbers them, and adds a message for every webhook that subscribes to
// them, due at once. An event with a known id changes nothing. The message function runs
// inside the transaction and must not use the ledger.
func (b *Book) Publish(ctx context.Context, events []retake.Event, message func(retake.Event, serverdb.Hook, retake.EventType) (id string, body []byte)) error {
	if len(events) == 0 {
		return nil
	}
	return b.l.inWriteTx(ctx, b.ns, "publish events", func(tx *sql.Tx) error {
		p := &publication{b: b, tx: tx, message: message}
		if err := tx.QueryRowContext(ctx, sqlEventHead, string(b.ns)).Scan(&p.events, &p.messages); err != nil {
			return fmt.Errorf("lock events: %w", err)
		}
		var err error
		if p.hooks, err = queryList(ctx, tx, scanJSON[serverdb.Hook], hooks.all, string(b.ns)); err != nil {
			return err
		}
		for _, e := range events {
			if err := p.addEvent(ctx, e); err != nil {
				return fmt.Errorf("event %s: %w", e.ID, err)
			}
		}
		_, err = tx.ExecContext(ctx, sqlSetEventHead, p.events, p.messages, string(b.ns))
		return err
	})
}

// addEvent adds one event and its messages.
func (p *publication) addEvent(ctx context.Context, e retake.Event) error {
	e.Seq = p.events + 1
	kept := e
	kept.Data = nil // it is stored beside the body, unchanged
	raw, err := encodeJSON(kept)
	if err != nil {
		return err
	}
	isNew, err := execChanged(ctx, p.tx, sqlAddEvent, string(p.b.ns), e.Seq, e.ID, raw, notNil(e.Data))
	if err != nil || !isNew {
		return err
	}
	p.events++
	var about struct {
		Workspace retake.WorkspaceID `json:"workspace"`
	}
	_ = json.Unmarshal(e.Data, &about) // an event of no workspace has none
	for _, h := range p.hooks {
		if h.Disabled != nil || !h.WantsWorkspace(about.Workspace) {
			continue
		}
		for _, name := range h.Wants(e.Type) {
			if err := p.addDelivery(ctx, e, h, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// addDelivery adds one message and makes it due.
func (p *publication) addDelivery(ctx context.Context, e retake.Event, h serverdb.Hook, name retake.EventType) error {
	id, text := p.message(e, h, name)
	due := p.b.l.newDueNow(serverdb.QueueDelivery, p.b.ns, id)
	d := retake.Delivery{
		ID: id, Webhook: h.ID, Event: e.Seq, Type: name, State: retake.DeliveryWaiting,
		Tries: []retake.Try{}, Created: due.At.UTC(), Next: new(due.At.UTC()),
	}
	raw, err := encodeJSON(d)
	if err != nil {
		return err
	}
	isNew, err := execChanged(ctx, p.tx, sqlAddDelivery, string(p.b.ns), id, p.messages+1, string(h.ID), string(d.State), raw, notNil(text))
	if err != nil || !isNew {
		return err
	}
	p.messages++
	return putDue(ctx, p.tx, due)
}

// Events lists the events after a number, oldest first. Without a limit it lists all.
func (b *Book) Events(ctx context.Context, after int64, limit int) ([]retake.Event, error) {
	return findRows(ctx, b.l, b.ns, "list events", scanEvent, sqlEvents, string(b.ns), after, limitOrMax(limit))
}

// NewestEvent returns the event with the highest number. ErrNotFound.
func (b *Book) NewestEvent(ctx context.Context) (retake.Event, error) {
	return findRow(ctx, b.l, b.ns, "find the newest event", scanEvent, sqlNewestEvent, string(b.ns))
}

func scanEvent(row scanner) (retake.Event, error) {
	var e retake.Event
	var raw, data []byte
	if err := row.Scan(&raw, &data); err != nil {
		return e, err
	}
	if err := decodeJSON(raw, &e); err != nil {
		return e, err
	}
	e.Data = nil
	if len(data) > 0 {
		e.Data = json.RawMessage(data)
	}
	return e, nil
}

// Delivery returns a message with its body. ErrNotFound.
func (b *Book) Delivery(ctx context.Context, id string) (retake.Delivery, error) {
	return findRow(ctx, b.l, b.ns, fmt.Sprintf("find delivery %s", id), scanDelivery, sqlDelivery, string(b.ns), id)
}

func scanDelivery(row scanner) (retake.Delivery, error) {
	var d retake.Delivery
	var raw, text []byte
	if err := row.Scan(&raw, &text); err != nil {
		return d, err
	}
	err := decodeJSON(raw, &d)
	d.Body = text
	return d, err
}

// PutDelivery replaces the state, tries and next time of a message. ErrNotFound.
func (b *Book) PutDelivery(ctx context.Context, d retake.Delivery) error {
	return b.l.inWriteTx(ctx, b.ns, fmt.Sprintf("put delivery %s", d.ID), func(tx *sql.Tx) error {
		kept, err := queryOne(ctx, tx, scanDelivery, sqlDelivery, string(b.ns), d.ID)
		if err != nil {
			return err
		}
		kept.State, kept.Tries, kept.Next, kept.Body = d.State, d.Tries, d.Next, nil
		raw, err := encodeJSON(kept)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, sqlPutDelivery, string(d.State), raw, string(b.ns), d.ID)
		return err
	})
}

// Deliveries lists messages without their bodies, newest first. Without a limit it lists all.
// A query that continues below an unknown message returns ErrNotFound.
func (b *Book) Deliveries(ctx context.Context, q retake.DeliveryQuery) ([]retake.Delivery, error) {
	var all []retake.Delivery
	err := b.l.inReadTx(ctx, b.ns, "list deliveries", func(tx *sql.Tx) error {
		top := int64(math.MaxInt64)
		if q.Before != "" {
			var err error
			if top, err = queryOne(ctx, tx, scanInt64, sqlDeliverySeq, string(b.ns), q.Before); err != nil {
				return err
			}
		}
		text, args := sqlDeliveries, []any{string(b.ns), top}
		arg := func(words string, v any) {
			args = append(args, v)
			text += words + "$" + strconv.Itoa(len(args))
		}
		if q.Webhook != "" {
			arg(sqlOfHook, sanitizeText(string(q.Webhook)))
		}
		if q.State != "" {
			arg(sqlOfState, sanitizeText(string(q.State)))
		}
		arg(sqlNewestFirst, limitOrMax(q.Limit))
		var err error
		all, err = queryList(ctx, tx, scanJSON[retake.Delivery], text, args...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func scanInt64(row scanner) (int64, error) {
	var n int64
	err := row.Scan(&n)
	return n, err
}
