package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

const (
	retryLine      = "retry: 2000\n\n" // milliseconds after which a client reconnects
	maxWait        = time.Minute
	eventBatchSize = 100

	eventStreamText = "Events as they happen: `id` is the seq, `event` the type, `data` an Event. To continue a stream, send Last-Event-ID or `after`."
)

type eventsQuery struct {
	After  string `query:"after" doc:"The seq of the last event that you have, or latest to get only new events. Absent means from the beginning."`
	Limit  int    `query:"limit" doc:"The largest number of results, up to 1000. Absent means 50."`
	Cursor string `query:"cursor" doc:"The next_cursor of the page before."`
	Wait   string `query:"wait" doc:"How long to wait for the first event, such as 20s, up to one minute. Absent means not at all."`
	Newest bool   `query:"newest" doc:"If true, return only the newest event, so that you can continue after it."`
	Last   string `header:"Last-Event-ID" doc:"The seq of the last event of a stream that was interrupted."`
}

// registerEvents registers the route that lists or streams events.
func (a *api) registerEvents() {
	o := newOperation(http.MethodGet, "/v1/events", "events", "List or stream events")
	schemas := a.huma.OpenAPI().Components.Schemas
	o.Responses = map[string]*huma.Response{"200": {
		Description: http.StatusText(http.StatusOK),
		Content: map[string]*huma.MediaType{
			jsonType:  {Schema: schemas.Schema(reflect.TypeFor[page[retake.Event]](), true, "")},
			eventType: {Schema: &huma.Schema{Type: huma.TypeString, Description: eventStreamText}},
		},
	}}
	huma.Register(a.huma, o, func(ctx context.Context, in *eventsQuery) (*huma.StreamResponse, error) {
		if a.eventSource == nil {
			return nil, problemOf(errServerOnly())
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			r, w := humago.Unwrap(hc)
			if strings.Contains(r.Header.Get("Accept"), eventType) {
				a.streamEvents(ctx, w, r, in)
				return
			}
			out, err := recoverPanic(a, func() (page[retake.Event], error) { return a.listEvents(ctx, in) })
			if err != nil {
				writeProblem(w, r, problemOf(err))
				return
			}
			writeJSON(w, http.StatusOK, jsonType, out)
		}}, nil
	})
}

// listEvents returns one page of events, and waits for the first if the client asks for that.
func (a *api) listEvents(ctx context.Context, in *eventsQuery) (page[retake.Event], error) {
	if in.Newest {
		got, err := a.eventSource.Events(ctx, retake.EventQuery{Newest: true})
		return page[retake.Event]{Data: nonNil(got)}, err
	}
	after, err := a.listStart(ctx, in)
	if err != nil {
		return page[retake.Event]{}, err
	}
	wait, err := parseWait(in.Wait)
	if err != nil {
		return page[retake.Event]{}, err
	}
	limit := (&pageQuery{Limit: in.Limit}).pageLimit()
	waiting, cancel := a.untilStop(ctx)
	defer cancel()
	got, err := a.eventSource.Events(waiting, retake.EventQuery{After: after, Limit: limit, Wait: wait})
	if err != nil && waiting.Err() != nil && ctx.Err() == nil {
		err = nil // nothing has come until the server stops
	}
	if err != nil {
		return page[retake.Event]{}, err
	}
	out := page[retake.Event]{Data: nonNil(got)}
	if len(got) >= limit { // there may be more, and an empty page does no harm
		out.NextCursor = a.cursors.Seal("events", strconv.FormatInt(got[len(got)-1].Seq, 10))
	}
	return out, nil
}

// untilStop returns a context for waiting, which also ends when the server stops: a stop waits for
// requests.
func (a *api) untilStop(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	for _, end := range []context.Context{a.opts.WorkContext, a.opts.StreamContext} {
		if end != nil {
			free := context.AfterFunc(end, cancel)
			context.AfterFunc(ctx, func() { free() })
		}
	}
	return ctx, cancel
}

// parseWait reads how long a client wants to wait.
func parseWait(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(text)
	if err != nil || wait < 0 {
		return 0, &retake.Error{Kind: retake.Invalid, What: "wait is no time such as 20s", Safe: unchanged, Err: err}
	}
	return min(wait, maxWait), nil
}

// streamEvents sends events until the client disconnects or the server stops. An error before
// the first event is a problem response; a later one is an event, and the client reconnects.
func (a *api) streamEvents(ctx context.Context, w http.ResponseWriter, r *http.Request, in *eventsQuery) {
	ctx, cancel := a.untilStop(ctx)
	defer cancel()
	after, err := a.streamStart(ctx, in)
	var got []retake.Event
	if err == nil {
		got, err = a.nextEvents(ctx, after, 0)
	}
	if err != nil {
		writeProblem(w, r, problemOf(err))
		return
	}
	s := &eventStream{w: w, flush: http.NewResponseController(w).Flush}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{}) // the stream lasts as long as the client
	w.Header().Set("Content-Type", eventType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write([]byte(retryLine)) // the client may be gone
	s.sendKeepAlive()
	for ctx.Err() == nil {
		for i := range got {
			after = got[i].Seq
			s.sendNumbered(&got[i])
		}
		if got, err = a.nextEvents(ctx, after, keepAliveInterval); err != nil {
			if ctx.Err() == nil {
				s.sendEvent(wire.ProblemEvent, problemOf(err).forCaller(r.Context()))
			}
			return
		}
		if len(got) == 0 {
			s.sendKeepAlive()
		}
	}
}

// streamStart returns the event after which a stream continues. Last-Event-ID, which a client
// sends when it reconnects, is newer than the URL.
func (a *api) streamStart(ctx context.Context, in *eventsQuery) (int64, error) {
	if in.Last == "" {
		return a.listStart(ctx, in)
	}
	n, err := strconv.ParseInt(in.Last, 10, 64)
	if err != nil {
		return 0, &retake.Error{Kind: retake.Invalid, What: "Last-Event-ID is no number", Safe: unchanged, Err: err}
	}
	return n, nil
}

// afterLatest is the value of after that means: only new events.
const afterLatest = "latest"

// listStart returns the event after which a list or a stream begins.
func (a *api) listStart(ctx context.Context, in *eventsQuery) (int64, error) {
	switch {
	case in.Cursor != "":
		return a.cursorNumber("events", in.Cursor, 0)
	case in.After == "":
		return 0, nil
	case in.After == afterLatest:
		got, err := recoverPanic(a, func() ([]retake.Event, error) {
			return a.eventSource.Events(ctx, retake.EventQuery{Newest: true})
		})
		if err != nil || len(got) == 0 {
			return 0, err
		}
		return got[len(got)-1].Seq, nil
	}
	n, err := strconv.ParseInt(in.After, 10, 64)
	if err != nil {
		return 0, &retake.Error{Kind: retake.Invalid, What: "after is no number, and not the word latest", Safe: unchanged, Err: err}
	}
	return n, nil
}

// nextEvents returns the events after a given one, and waits for the first.
func (a *api) nextEvents(ctx context.Context, after int64, wait time.Duration) ([]retake.Event, error) {
	return recoverPanic(a, func() ([]retake.Event, error) {
		return a.eventSource.Events(ctx, retake.EventQuery{After: after, Limit: eventBatchSize, Wait: wait})
	})
}

// sendNumbered writes an event with its sequence number as ID, from which a client continues.
func (s *eventStream) sendNumbered(e *retake.Event) {
	data, err := json.Marshal(e)
	if err != nil {
		panic(http.ErrAbortHandler) // the event must not be skipped silently
	}
	_, _ = s.w.Write([]byte("id: " + strconv.FormatInt(e.Seq, 10) + "\nevent: " + string(e.Type) + "\ndata: " + string(data) + "\n\n"))
	_ = s.flush()
}
