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

// publication is a Publish under way. It holds the event head of its namespace, so that
// who read up to a number has missed nothing below it.
type publication struct {
	b                *Book
	tx               *sql.Tx
	events, messages int64 // the last numbers given
	hooks            []serverdb.Hook
	message          func(retake.Event, serverdb.Hook, retake.EventType) (string, []byte)
}

// Publish adds events, gives each its number, and adds a message for every webhook that
// wants it, due at once. An event with a known id changes nothing. The message function
// runs inside the transaction and must not ask the ledger.
func (b *Book) Publish(ctx context.Context, events []retake.Event, message func(retake.Event, serverdb.Hook, retake.EventType) (id string, body []byte)) error {
	if len(events) == 0 {
		return nil
	}
	return b.l.write(ctx, b.ns, "publish events", func(tx *sql.Tx) error {
		p := &publication{b: b, tx: tx, message: message}
		if err := tx.QueryRowContext(ctx, sqlEventHead, string(b.ns)).Scan(&p.events, &p.messages); err != nil {
			return fmt.Errorf("lock events: %w", err)
		}
		var err error
		if p.hooks, err = list(ctx, tx, body[serverdb.Hook], hooks.all, string(b.ns)); err != nil {
			return err
		}
		for _, e := range events {
			if err := p.add(ctx, e); err != nil {
				return fmt.Errorf("event %s: %w", e.ID, err)
			}
		}
		_, err = tx.ExecContext(ctx, sqlSetEventHead, p.events, p.messages, string(b.ns))
		return err
	})
}

func (p *publication) add(ctx context.Context, e retake.Event) error {
	e.Seq = p.events + 1
	kept := e
	kept.Data = nil // it stands beside the body, as it was given
	raw, err := encode(kept)
	if err != nil {
		return err
	}
	isNew, err := changed(ctx, p.tx, sqlAddEvent, string(p.b.ns), e.Seq, e.ID, raw, some(e.Data))
	if err != nil || !isNew {
		return err
	}
	p.events++
	for _, h := range p.hooks {
		if h.Disabled != nil {
			continue
		}
		for _, name := range h.Wants(e.Type) {
			if err := p.send(ctx, e, h, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// send adds one message, and makes it due.
func (p *publication) send(ctx context.Context, e retake.Event, h serverdb.Hook, name retake.EventType) error {
	id, text := p.message(e, h, name)
	due := p.b.l.dueNow(serverdb.QueueDelivery, p.b.ns, id)
	d := retake.Delivery{
		ID: id, Webhook: h.ID, Event: e.Seq, Type: name, State: retake.DeliveryWaiting,
		Tries: []retake.Try{}, Created: due.At.UTC(), Next: new(due.At.UTC()),
	}
	raw, err := encode(d)
	if err != nil {
		return err
	}
	isNew, err := changed(ctx, p.tx, sqlAddDelivery, string(p.b.ns), id, p.messages+1, string(h.ID), string(d.State), raw, some(text))
	if err != nil || !isNew {
		return err
	}
	p.messages++
	return putDue(ctx, p.tx, due)
}

// Events lists those after a number, oldest first. Without a limit it lists all.
func (b *Book) Events(ctx context.Context, after int64, limit int) ([]retake.Event, error) {
	return findAll(ctx, b.l, b.ns, "list events", scanEvent, sqlEvents, string(b.ns), after, bound(limit))
}

// NewestEvent answers the one with the highest number. ErrNotFound.
func (b *Book) NewestEvent(ctx context.Context) (retake.Event, error) {
	return find(ctx, b.l, b.ns, "find the newest event", scanEvent, sqlNewestEvent, string(b.ns))
}

func scanEvent(row scanner) (retake.Event, error) {
	var e retake.Event
	var raw, data []byte
	if err := row.Scan(&raw, &data); err != nil {
		return e, err
	}
	if err := decode(raw, &e); err != nil {
		return e, err
	}
	e.Data = nil
	if len(data) > 0 {
		e.Data = json.RawMessage(data)
	}
	return e, nil
}

// Delivery answers one with its body. ErrNotFound.
func (b *Book) Delivery(ctx context.Context, id string) (retake.Delivery, error) {
	return find(ctx, b.l, b.ns, fmt.Sprintf("find delivery %s", id), scanDelivery, sqlDelivery, string(b.ns), id)
}

func scanDelivery(row scanner) (retake.Delivery, error) {
	var d retake.Delivery
	var raw, text []byte
	if err := row.Scan(&raw, &text); err != nil {
		return d, err
	}
	err := decode(raw, &d)
	d.Body = text
	return d, err
}

// PutDelivery replaces state, tries and next. ErrNotFound.
func (b *Book) PutDelivery(ctx context.Context, d retake.Delivery) error {
	return b.l.write(ctx, b.ns, fmt.Sprintf("put delivery %s", d.ID), func(tx *sql.Tx) error {
		kept, err := one(ctx, tx, scanDelivery, sqlDelivery, string(b.ns), d.ID)
		if err != nil {
			return err
		}
		kept.State, kept.Tries, kept.Next, kept.Body = d.State, d.Tries, d.Next, nil
		raw, err := encode(kept)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, sqlPutDelivery, string(d.State), raw, string(b.ns), d.ID)
		return err
	})
}

// Deliveries lists messages without their bodies, newest first. Without a limit it lists
// all. A query that goes on below an unknown one is ErrNotFound.
func (b *Book) Deliveries(ctx context.Context, q retake.DeliveryQuery) ([]retake.Delivery, error) {
	var all []retake.Delivery
	err := b.l.read(ctx, b.ns, "list deliveries", func(tx *sql.Tx) error {
		top := int64(math.MaxInt64)
		if q.Before != "" {
			var err error
			if top, err = one(ctx, tx, number, sqlDeliverySeq, string(b.ns), q.Before); err != nil {
				return err
			}
		}
		text, args := sqlDeliveries, []any{string(b.ns), top}
		arg := func(words string, v any) {
			args = append(args, v)
			text += words + "$" + strconv.Itoa(len(args))
		}
		if q.Webhook != "" {
			arg(sqlOfHook, plain(string(q.Webhook)))
		}
		if q.State != "" {
			arg(sqlOfState, plain(string(q.State)))
		}
		arg(sqlNewestFirst, bound(q.Limit))
		var err error
		all, err = list(ctx, tx, body[retake.Delivery], text, args...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

func number(row scanner) (int64, error) {
	var n int64
	err := row.Scan(&n)
	return n, err
}
