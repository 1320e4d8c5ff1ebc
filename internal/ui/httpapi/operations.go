package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/wire"
)

const (
	maxRunningOperations = 16
	operationRetention   = 24 * time.Hour
	maxOperationBytes    = 16 << 20 // of all results; the oldest go first
	maxOperations        = 1000
)

// Operations are the requests of one namespace that go on after their response. They are held in
// memory: one that runs ends with its server, so nothing else knows how far it is.
type Operations struct {
	clock   clock.Clock
	running sync.WaitGroup

	mu  sync.Mutex
	all []*operation // guarded by mu; the oldest first
}

// operation is one of them. Its key is the only one that may see it.
type operation struct {
	key      retake.KeyID
	cancel   context.CancelFunc
	progress *latestProgress
	done     chan struct{}
	state    wire.Operation // guarded by Operations.mu
	size     int            // guarded by Operations.mu; of the result or the problem, in bytes
}

// NewOperations returns an empty list.
func NewOperations(c clock.Clock) *Operations { return &Operations{clock: c} }

// Wait waits until no operation runs.
func (o *Operations) Wait() { o.running.Wait() }

// add adds a running operation, unless too many run.
func (o *Operations) add(kind string, key retake.KeyID, cancel context.CancelFunc) (*operation, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.removeOldLocked()
	n := 0
	for _, op := range o.all {
		if op.state.Status == wire.OperationRunning {
			n++
		}
	}
	if n >= maxRunningOperations {
		return nil, &retake.Error{Kind: retake.Busy, What: "too many operations are running", Safe: unchanged, Hint: "wait until one has ended: GET /v1/operations"}
	}
	op := &operation{key: key, cancel: cancel, progress: newLatestProgress(), done: make(chan struct{}), state: wire.Operation{
		ID: "op_" + uuid.NewString(), Kind: kind, Status: wire.OperationRunning, Created: o.clock.Now().UTC(),
	}}
	o.all = append(o.all, op)
	o.running.Add(1)
	return op, nil
}

// end records how an operation ended.
func (o *Operations) end(op *operation, canceled bool, result json.RawMessage, p *problem) {
	text, _ := json.Marshal(p) // only its size counts
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.clock.Now().UTC()
	op.state.Ended, op.state.Result, op.state.Problem, op.size = &now, result, (*wire.Problem)(p), len(result)+len(text)
	switch {
	case p == nil:
		op.state.Status = wire.OperationSucceeded
	case canceled:
		op.state.Status = wire.OperationCanceled
	default:
		op.state.Status = wire.OperationFailed
	}
	close(op.done)
	o.removeOldLocked()
}

// removeOldLocked forgets operations that ended long ago, and the oldest of too many.
func (o *Operations) removeOldLocked() {
	after := o.clock.Now().Add(-operationRetention)
	var size int
	var keep []*operation
	for _, op := range slices.Backward(o.all) {
		size += op.size
		if s := &op.state; s.Ended == nil || s.Ended.After(after) && size <= maxOperationBytes && len(keep) < maxOperations {
			keep = append(keep, op)
		}
	}
	slices.Reverse(keep)
	o.all = keep
}

// find returns the operation of a key.
func (o *Operations) find(ctx context.Context, id string) (*operation, error) {
	key := keyOf(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, op := range o.all {
		if op.state.ID == id && op.key == key {
			return op, nil
		}
	}
	return nil, &retake.Error{
		Kind: retake.NotFound, What: "there is no such operation", Safe: unchanged,
		Hint: "an operation is known to the API key that began it, until 24 hours after its end or until the server stops",
	}
}

// list returns the operations of a key, the newest first.
func (o *Operations) list(ctx context.Context) []wire.Operation {
	key := keyOf(ctx)
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []wire.Operation
	for _, op := range slices.Backward(o.all) {
		if op.key == key {
			s := op.current()
			s.Result = nil // GET of the operation has it
			out = append(out, s)
		}
	}
	return out
}

func (o *Operations) state(op *operation) wire.Operation {
	o.mu.Lock()
	defer o.mu.Unlock()
	return op.current()
}

// current returns the state with the newest progress. Operations.mu must be held.
func (op *operation) current() wire.Operation {
	s := op.state
	s.Progress = op.progress.get()
	return s
}

func keyOf(ctx context.Context) retake.KeyID {
	a, _ := retake.ActorOf(ctx)
	return a.Key
}

// wantsAsync reports whether a request prefers an operation to waiting for the result.
func wantsAsync(r *http.Request) bool {
	for _, line := range r.Header.Values("Prefer") {
		for one := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(one), wire.AsyncPreference) {
				return true
			}
		}
	}
	return false
}

// cancelKey has, in the context of an operation, the context that ends when it is canceled. Work that
// does not end with its client ends with this.
type cancelKey struct{}

// startOperation runs f as an operation and answers with 202.
func startOperation[O any](a *api, ctx context.Context, w http.ResponseWriter, r *http.Request, kind string, f func(context.Context, func(retake.Progress)) (O, error)) {
	all := a.opts.Operations
	release, err := a.opts.KeepOpen(ctx)
	if err != nil {
		writeProblem(w, r, problemOf(err))
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ctx = context.WithValue(ctx, cancelKey{}, ctx)
	op, err := all.add(kind, keyOf(ctx), cancel)
	if err != nil {
		cancel()
		release()
		writeProblem(w, r, problemOf(err))
		return
	}
	go func() {
		defer all.running.Done()
		defer release()
		defer cancel()
		if end := a.opts.WorkContext; end != nil {
			defer context.AfterFunc(end, cancel)()
		}
		out, err := recoverPanic(a, func() (O, error) { return f(ctx, op.progress.set) })
		a.endOperation(ctx, op, out, err)
	}()
	w.Header().Set("Location", "/v1/operations/"+op.state.ID)
	w.Header().Set("Preference-Applied", wire.AsyncPreference)
	writeJSON(w, http.StatusAccepted, jsonType, all.state(op))
}

// endOperation records the result or the error of an operation.
func (a *api) endOperation(ctx context.Context, op *operation, out any, err error) {
	var result json.RawMessage
	if err == nil {
		result, err = json.Marshal(out)
	}
	var p *problem
	if err != nil {
		p = problemOf(err).forCaller(ctx)
		if p.Status >= http.StatusInternalServerError && a.opts.Log != nil { // its request was logged long ago
			a.opts.Log.Error("operation failed", "id", op.state.ID, "operation", op.state.Kind, "cause", p.Detail)
		}
	}
	a.opts.Operations.end(op, ctx.Err() != nil, result, p)
}

type operationPath struct {
	ID string `path:"operation" doc:"The operation's ID."`
}

type operationQuery struct {
	ID   string `path:"operation" doc:"The operation's ID."`
	Wait string `query:"wait" doc:"How long to wait for the end, such as 20s, up to one minute. Absent means not at all."`
}

// registerOperations registers the routes for operations.
func (a *api) registerOperations() {
	handleOperations(a, newOperation(http.MethodGet, "/v1/operations", "list-operations", "List operations"), func(ctx context.Context, all *Operations, in *pageQuery) (page[wire.Operation], error) {
		return pageFromList(a, "operations", in, all.list(ctx), nil, func(o *wire.Operation) string { return o.ID })
	})
	handleOperations(a, newOperation(http.MethodGet, "/v1/operations/{operation}", "operation", "Get an operation"), func(ctx context.Context, all *Operations, in *operationQuery) (wire.Operation, error) {
		op, err := all.find(ctx, in.ID)
		if err != nil {
			return wire.Operation{}, err
		}
		wait, err := parseWait(in.Wait)
		if err != nil {
			return wire.Operation{}, err
		}
		if wait > 0 {
			ctx, stop := a.untilStop(ctx)
			defer stop()
			limit, cancel := context.WithTimeout(ctx, wait)
			defer cancel()
			select {
			case <-op.done:
			case <-limit.Done():
			}
		}
		return all.state(op), nil
	})
	handleOperations(a, newOperation(http.MethodPost, "/v1/operations/{operation}/cancel", "cancel-operation", "Cancel an operation"), func(ctx context.Context, all *Operations, in *operationPath) (wire.Operation, error) {
		op, err := all.find(ctx, in.ID)
		if err != nil {
			return wire.Operation{}, err
		}
		op.cancel()
		return all.state(op), nil
	})
}

// handleOperations registers a route for operations, which a daemon does not have.
func handleOperations[I, O any](a *api, op huma.Operation, f func(context.Context, *Operations, *I) (O, error)) {
	handleJSON(a, op, func(ctx context.Context, in *I) (O, error) {
		if a.opts.Operations == nil {
			var none O
			return none, errServerOnly()
		}
		return f(ctx, a.opts.Operations, in)
	})
}
