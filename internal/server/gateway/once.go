package gateway

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

const (
	idempotencyHeader = wire.IdempotencyHeader
	idempotencyLease  = 10 * time.Minute // longer than any request
	replyRetention    = 24 * time.Hour
	maxReplayBody     = 1 << 20
)

// serveIdempotent serves a request. If it has an idempotency key that was used before, it gets
// the stored response of the first request. Streams are not stored and always served anew.
func (f *Gateway) serveIdempotent(w http.ResponseWriter, r *http.Request, who caller, next http.Handler) {
	key := r.Header.Get(idempotencyHeader)
	streams := strings.Contains(r.Header.Get("Accept"), "text/event-stream") || r.URL.Path == "/v1/import"
	if key == "" || r.Method != http.MethodPost || streams {
		next.ServeHTTP(w, r)
		return
	}
	if len(key) > 255 {
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Invalid, What: "the idempotency key is longer than 255 bytes", Safe: unchanged}, 0)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReplayBody))
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Limit, What: "the request is longer than 1 MiB", Safe: unchanged, Err: err}, http.StatusRequestEntityTooLarge)
		return
	}
	if err != nil {
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Invalid, What: "the request did not arrive", Safe: unchanged, Hint: "send it again", Err: err}, http.StatusRequestTimeout)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	book, name := f.opts.Ledger.Book(who.ns), string(who.key.ID)+" "+key
	digest := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%s", r.Method, r.URL.RequestURI(), body))
	if !f.inFlight.tryAdd(name) {
		httpapi.WriteProblem(w, r, errInProgress, http.StatusConflict)
		return
	}
	defer f.inFlight.remove(name)
	reply, state, err := f.claimReply(r.Context(), book, name, digest)
	if err != nil {
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Away, What: "the answers to earlier requests cannot be read", Safe: unchanged, Hint: "try again", Err: err}, 0)
		return
	}
	switch state {
	case serverdb.ReplyKnown:
		if reply.Body, err = f.opts.Sealer.Open(r.Context(), ReplyPurpose(who.ns, name), reply.Body); err != nil {
			httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Away, What: "the answer to the earlier request cannot be opened", Safe: unchanged, Hint: "send it again when the key-encryption key that sealed it is back", Err: err}, 0)
			return
		}
		w.Header().Set("Idempotent-Replayed", "true")
		w.Header().Set("Content-Type", reply.Type)
		w.WriteHeader(reply.Status)
		_, _ = w.Write(reply.Body) // the client may be gone
	case serverdb.ReplyHeld:
		httpapi.WriteProblem(w, r, errInProgress, http.StatusConflict)
	case serverdb.ReplyOther:
		httpapi.WriteProblem(w, r, &retake.Error{Kind: retake.Invalid, What: "this idempotency key was used for another request", Safe: unchanged, Hint: "use a new key for a new request"}, http.StatusUnprocessableEntity)
	case serverdb.ReplyFresh:
		r = r.WithContext(httpapi.WithCheckpoint(r.Context(), idempotentCheckpointID(who.ns, name)))
		f.serveAndRecord(w, r, replyClaim{who.ns, book, name, reply.Stamp}, next)
	}
}

var errInProgress = &retake.Error{Kind: retake.Busy, What: "a request with this idempotency key is under way", Safe: unchanged, Hint: "try again"}

// claimReply claims an idempotency key. All requests of a namespace reach the one server that
// has it open, so a claim that is not in flight here was left by a server that was killed, and
// is replaced.
func (f *Gateway) claimReply(ctx context.Context, book serverdb.Book, name string, digest [32]byte) (serverdb.Reply, serverdb.ReplyState, error) {
	reply, state, err := book.BeginReply(ctx, name, digest, f.opts.Clock.Now(), idempotencyLease)
	if err != nil || state != serverdb.ReplyHeld {
		return reply, state, err
	}
	if err := book.DropReply(ctx, name); err != nil && !errors.Is(err, serverdb.ErrNotFound) {
		return reply, state, err
	}
	return book.BeginReply(ctx, name, digest, f.opts.Clock.Now(), idempotencyLease)
}

// ReplyPurpose binds a sealed response, which may contain a secret, to its request.
func ReplyPurpose(ns retake.NamespaceID, name string) string {
	return "reply " + string(ns) + " " + name
}

// idempotentCheckpointID derives the ID of the checkpoint that a request creates from its
// idempotency key. A retry after a crash then finds the same checkpoint.
func idempotentCheckpointID(ns retake.NamespaceID, name string) retake.CheckpointID {
	sum := sha256.Sum256([]byte("moment\n" + string(ns) + "\n" + name))
	return retake.CheckpointID(retake.CheckpointPrefix + uuid.NewHash(sha256.New(), uuid.Nil, sum[:], 8).String())
}

// inFlightKeys are the idempotency keys of the requests in progress.
type inFlightKeys struct {
	mu   sync.Mutex
	keys map[string]bool // guarded by mu
}

func (f *inFlightKeys) tryAdd(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys[name] {
		return false
	}
	f.keys[name] = true
	return true
}

func (f *inFlightKeys) remove(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.keys, name)
}

// replyClaim is an idempotency key that this request has claimed.
type replyClaim struct {
	ns    retake.NamespaceID
	book  serverdb.Book
	name  string
	stamp int64
}

// serveAndRecord serves a request and stores its response. A server error is not stored, so
// that the request can be retried.
func (f *Gateway) serveAndRecord(w http.ResponseWriter, r *http.Request, c replyClaim, next http.Handler) {
	rec := &responseRecorder{ResponseWriter: w, code: http.StatusOK}
	kept := false
	defer func() {
		if kept {
			return
		}
		// The client may be gone; the key must be free for a retry all the same.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 5*time.Second)
		defer cancel()
		if err := c.book.DropReply(ctx, c.name); err != nil && !errors.Is(err, serverdb.ErrNotFound) {
			f.opts.Log.Warn("give an idempotency key back", "err", err)
		}
	}()
	next.ServeHTTP(rec, r)
	if rec.code >= http.StatusInternalServerError || rec.tooLong {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 5*time.Second)
	defer cancel()
	body, err := f.opts.Sealer.Seal(ctx, ReplyPurpose(c.ns, c.name), rec.body.Bytes())
	if err != nil {
		f.opts.Log.Warn("seal an answer", "err", err)
		return
	}
	reply := serverdb.Reply{Status: rec.code, Type: rec.Header().Get("Content-Type"), Body: body, Stamp: c.stamp}
	if err := c.book.EndReply(ctx, c.name, reply, f.opts.Clock.Now().Add(replyRetention)); err != nil {
		f.opts.Log.Warn("keep an answer", "err", err)
		return
	}
	kept = true
}

// responseRecorder copies a response while it is sent.
type responseRecorder struct {
	http.ResponseWriter
	code    int
	body    bytes.Buffer
	tooLong bool // too long to be stored
}

func (c *responseRecorder) WriteHeader(code int) {
	c.code = code
	c.ResponseWriter.WriteHeader(code)
}

func (c *responseRecorder) Write(b []byte) (int, error) {
	if c.body.Len()+len(b) > maxReplayBody {
		c.tooLong = true
	} else {
		c.body.Write(b)
	}
	return c.ResponseWriter.Write(b)
}

// Unwrap gives http.ResponseController access to Flush.
func (c *responseRecorder) Unwrap() http.ResponseWriter { return c.ResponseWriter }
