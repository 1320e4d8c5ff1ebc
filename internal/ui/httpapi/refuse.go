package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/retake-dev/retake"
)

// RefuseAll answers every request with the problem that err is: for a service that
// could not be opened.
func RefuseAll(err error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { writeProblem(w, r, problemOf(err)) })
}

// WriteProblem answers one request with the problem that err is, for who stands before
// the routes. A status other than 0 replaces the one of its kind.
func WriteProblem(w http.ResponseWriter, r *http.Request, err error, status int) {
	p := problemOf(err)
	if status != 0 {
		p.Status = status
	}
	writeProblem(w, r, p)
}

type requestIDKey struct{}

// WithRequestID names a request; every problem tells the name.
func WithRequestID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, requestIDKey{}, id)
}

type bearerKey struct{}

// WithKey says which key let a request in, so that who asks can be told what it is good for.
func WithKey(ctx context.Context, k retake.Key) context.Context {
	return context.WithValue(ctx, bearerKey{}, k)
}

type checkpointKey struct{}

// WithCheckpoint gives the checkpoint that a request makes its id, unless the request names
// one: the same request again, also after a crash, then adds nothing.
func WithCheckpoint(ctx context.Context, id retake.CheckpointID) context.Context {
	return context.WithValue(ctx, checkpointKey{}, id)
}

// checkpointIDFor is the id for a checkpoint: what the request names, else what its key gives.
func checkpointIDFor(ctx context.Context, named retake.CheckpointID) retake.CheckpointID {
	if named == "" {
		named, _ = ctx.Value(checkpointKey{}).(retake.CheckpointID)
	}
	return named
}

// withRequestID tells which request a problem is of.
func (p *problem) withRequestID(ctx context.Context) *problem {
	if id, ok := ctx.Value(requestIDKey{}).(string); ok {
		p.RequestID = id
	}
	return p
}

// anotherKey begins the hint of who came with a key that is not for this.
const otherKeyHint = "this needs an API key with the role "

// nextSteps are the commands that a hint holds, one a line, each behind a colon or alone; or
// which key to come with.
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
