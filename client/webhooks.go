package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// MakeWebhook adds a webhook and returns its secret.
func (c *admin) MakeWebhook(ctx context.Context, req retake.WebhookRequest) (retake.NewWebhook, error) {
	return callJSON[retake.NewWebhook](ctx, c.conn, newRequest(http.MethodPost, wire.HookBody{URL: req.URL, Types: req.Types, Workspace: req.Workspace, Scheme: req.Scheme}, "webhooks"))
}

// Webhooks lists all webhooks.
func (c *admin) Webhooks(ctx context.Context) ([]retake.Webhook, error) {
	return listAll[retake.Webhook](ctx, c.conn, "webhooks")
}

// ChangeWebhook replaces the URL and the event types, and enables or disables a webhook.
func (c *admin) ChangeWebhook(ctx context.Context, w retake.Webhook) (retake.Webhook, error) {
	return callJSON[retake.Webhook](ctx, c.conn, newPut(ctx, wire.ChangeHookBody{URL: w.URL, Types: w.Types, Disabled: w.Disabled}, "webhooks", string(w.ID)))
}

// DropWebhook deletes a webhook.
func (c *admin) DropWebhook(ctx context.Context, id retake.WebhookID) error {
	return c.conn.sendDelete(ctx, newRequest(http.MethodDelete, nil, "webhooks", string(id)))
}

// RotateWebhook creates a new secret.
func (c *admin) RotateWebhook(ctx context.Context, id retake.WebhookID) (retake.NewWebhook, error) {
	return callJSON[retake.NewWebhook](ctx, c.conn, newRequest(http.MethodPost, nil, "webhooks", string(id), "rotate"))
}

// Deliveries lists messages, newest first.
func (c *admin) Deliveries(ctx context.Context, q retake.DeliveryQuery) ([]retake.Delivery, error) {
	v := setNonEmpty(withLimit(url.Values{}, q.Limit), "webhook", string(q.Webhook), "state", string(q.State), "before", q.Before)
	p, err := callJSON[wire.Page[retake.Delivery]](ctx, c.conn, newGet(v, "deliveries"))
	return p.Data, err
}

// Delivery returns one message with its body.
func (c *admin) Delivery(ctx context.Context, id string) (retake.Delivery, error) {
	return callJSON[retake.Delivery](ctx, c.conn, newGet(nil, "deliveries", id))
}

// Replay sends a message again.
func (c *admin) Replay(ctx context.Context, id string) (retake.Delivery, error) {
	return callJSON[retake.Delivery](ctx, c.conn, newRequest(http.MethodPost, nil, "deliveries", id, "replay"))
}

// Events lists events after a given one, oldest first. A server waits a minute at most.
func (c *admin) Events(ctx context.Context, q retake.EventQuery) ([]retake.Event, error) {
	v := withLimit(url.Values{}, q.Limit)
	if q.After != 0 {
		v.Set("after", strconv.FormatInt(q.After, 10))
	}
	if q.Newest {
		v.Set("newest", "true")
	}
	if q.Wait > 0 {
		v.Set("wait", q.Wait.String())
	}
	p, err := callJSON[wire.Page[retake.Event]](ctx, c.conn, newGet(v, "events"))
	return p.Data, err
}

// Follow calls f for every event after a given one, as they happen, until f returns an error or
// ctx ends. A stream that breaks off is continued after the last event that f got.
func (c *admin) Follow(ctx context.Context, after int64, f func(retake.Event) error) error {
	for idle := 0; ; idle++ {
		a := newGet(nil, "events")
		a.wantsEvents, a.lastEventID = true, strconv.FormatInt(after, 10)
		s := eventReader{handle: f}
		err := c.conn.send(ctx, a, s.readEvents)
		if s.received {
			after, idle = s.lastSeq, 0
		}
		ended := errors.Is(err, errStreamEnded)
		switch {
		case s.handlerErr != nil:
			return s.handlerErr
		case ctx.Err() != nil:
			return a.canceledError(ctx)
		case !ended && (idle > maxRetries || !retake.IsKind(err, retake.Busy) && !retake.IsKind(err, retake.Away)):
			return err
		}
		if !sleep(ctx, retryDelay(min(idle, maxRetries), nil)) {
			return a.canceledError(ctx)
		}
	}
}

var errStreamEnded = errors.New("the stream broke off")

// eventReader reads one stream of events and passes them on.
type eventReader struct {
	handle     func(retake.Event) error
	lastSeq    int64
	received   bool
	handlerErr error // returned by handle, which ends the stream
}

func (s *eventReader) readEvents(r *http.Response) error {
	defer r.Body.Close() //nolint:errcheck // only read
	lines := bufio.NewReader(r.Body)
	for {
		e, err := nextEvent(lines)
		if err != nil {
			return errors.Join(errStreamEnded, errors.Unwrap(err))
		}
		if e.event == wire.ProblemEvent {
			return parseProblem(e.data)
		}
		var ev retake.Event
		if err := json.Unmarshal(e.data, &ev); err != nil {
			return badResponse(err)
		}
		if s.handlerErr = s.handle(ev); s.handlerErr != nil {
			return s.handlerErr
		}
		s.lastSeq, s.received = ev.Seq, true
	}
}
