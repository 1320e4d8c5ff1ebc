package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/retake-dev/retake"
)

// RefuseAll returns a handler that answers every request with err, for a service that could not
// be opened.
func RefuseAll(err error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { writeProblem(w, r, problemOf(err)) })
}

// WriteProblem answers a request with err, for handlers in front of the API. A status other
// than 0 replaces the one of the error's kind.
func WriteProblem(w http.ResponseWriter, r *http.Request, err error, status int) {
	p := problemOf(err)
	p.setMeaning(meaningOf(retake.AsError(err), status))
	writeProblem(w, r, p)
}

type requestIDKey struct{}

// WithRequestID sets the ID of a request, which is part of every problem.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

type bearerKey struct{}

// WithKey sets the key of a request, so that the client can be told its permissions.
func WithKey(ctx context.Context, k retake.Key) context.Context {
	return context.WithValue(ctx, bearerKey{}, k)
}

type checkpointKey struct{}

// WithCheckpoint sets the ID of the checkpoint that a request creates, unless the request has
// one. The same request then adds nothing when it is repeated, even after a crash.
func WithCheckpoint(ctx context.Context, id retake.CheckpointID) context.Context {
	return context.WithValue(ctx, checkpointKey{}, id)
}

// checkpointIDFor returns the ID for a new checkpoint: that of the request, else that of
// WithCheckpoint.
func checkpointIDFor(ctx context.Context, named retake.CheckpointID) retake.CheckpointID {
	if named == "" {
		named, _ = ctx.Value(checkpointKey{}).(retake.CheckpointID)
	}
	return named
}

// otherKeyHint is the beginning of a hint that names the role which is needed.
const otherKeyHint = "this needs an API key with the role "

// nextSteps returns the commands in the lines of a hint, which are alone or follow a colon, and
// the role that is needed.
func nextSteps(e *retake.Error) []string {
	var out []string
	for line := range strings.SplitSeq(e.Hint, "\n") {
		line = strings.TrimSpace(line)
		_, command, _ := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, "retake "):
			out = append(out, line)
		case strings.HasPrefix(command, "retake "):
			out = append(out, command)
		case e.Kind == retake.Denied && strings.HasPrefix(line, otherKeyHint):
			out = append(out, "use an API key with the role "+strings.TrimPrefix(line, otherKeyHint))
		}
	}
	return out
}
