package httpapi

import (
	"context"
	"net/http"
	"strings"

	"github.com/retake-dev/retake"
)

// meaning is the HTTP form of an error: its code, one for each thing that a client does
// differently, its status and its title.
type meaning struct {
	code   string
	status int
	title  string
}

var meanings = map[retake.ErrorKind]meaning{
	retake.Internal: {"internal", http.StatusInternalServerError, "Internal error"},
	retake.Invalid:  {"invalid", http.StatusUnprocessableEntity, "Invalid request"},
	retake.NotFound: {"not_found", http.StatusNotFound, "Not found"},
	retake.Exists:   {"already_exists", http.StatusConflict, "Already exists"},
	retake.Moved:    {"stale_plan", http.StatusConflict, "Changed since you looked"},
	retake.Denied:   {"forbidden", http.StatusForbidden, "Not permitted"},
	retake.Limit:    {"limit_reached", http.StatusInsufficientStorage, "A limit is reached"},
	retake.Damaged:  {"damaged", http.StatusInternalServerError, "Stored data is damaged"},
	retake.Away:     {"unavailable", http.StatusServiceUnavailable, "Unavailable"},
	retake.Busy:     {"busy", http.StatusServiceUnavailable, "Another operation is running"},
	retake.Partly:   {"incomplete", http.StatusInternalServerError, "Done in part"},
	retake.Canceled: {"canceled", statusCanceled, "Canceled"},
}

// statusMeanings are errors that HTTP distinguishes and the service does not.
var statusMeanings = map[int]meaning{
	http.StatusUnauthorized:          {"unauthenticated", http.StatusUnauthorized, "Not authenticated"},
	http.StatusMethodNotAllowed:      {"method_not_allowed", http.StatusMethodNotAllowed, "The route has no such method"},
	http.StatusPreconditionFailed:    {"precondition_failed", http.StatusPreconditionFailed, "Changed since you read it"},
	http.StatusRequestEntityTooLarge: {"too_large", http.StatusRequestEntityTooLarge, "The body is too large"},
	http.StatusTooManyRequests:       {"limited", http.StatusTooManyRequests, "Too many requests"},
}

var (
	needsConfirmation = meaning{"needs_confirmation", http.StatusConflict, "Confirmation is needed"}
	unknownRoute      = meaning{"unknown_route", http.StatusNotFound, "There is no such route"}
	requestRunning    = meaning{"in_progress", http.StatusConflict, "The same request is running"}
)

// meaningOf returns the HTTP form of an error. A status other than 0 was chosen by who knows more
// than the error says.
func meaningOf(e *retake.Error, status int) meaning {
	m, ok := meanings[e.Kind]
	if !ok {
		m = meanings[retake.Internal]
	}
	switch special, ok := statusMeanings[status]; {
	case ok:
		return special
	case e.Kind == retake.Denied && len(e.Accept) > 0:
		return needsConfirmation
	case e.Kind == retake.Invalid && status == http.StatusNotFound:
		return unknownRoute
	case e.Kind == retake.Busy && status == http.StatusConflict:
		return requestRunning
	case status != 0:
		m.status = status
	}
	return m
}

// setMeaning sets what depends on the meaning of a problem.
func (p *problem) setMeaning(m meaning) {
	p.Type, p.Title, p.Status, p.Code = errorDocsURL+m.code, m.title, m.status, m.code
}

// requestForms are the requests that do what a command of a hint does.
var requestForms = []struct{ command, request string }{
	{"retake log", "GET /v1/workspaces/{ws}/checkpoints"},
	{"retake workspaces", "GET /v1/workspaces"},
	{"retake init --accept", "POST /v1/workspaces, with the warnings in accept"},
	{"retake init", "POST /v1/workspaces"},
	{"retake estimate", "GET /v1/estimate"},
	{"retake save", "POST /v1/workspaces/{ws}/checkpoints"},
	{"retake diff", "GET /v1/workspaces/{ws}/diff"},
	{"retake ls", "GET /v1/workspaces/{ws}/list"},
	{"retake forks", "GET /v1/workspaces/{ws}/forks"},
	{"retake help fork", "POST /v1/workspaces/{ws}/forks"},
	{"retake unpin", "DELETE /v1/workspaces/{ws}/pins/{name}"},
	{"retake help unpin", "DELETE /v1/workspaces/{ws}/pins/{name}"},
	{"retake space --free", "POST /v1/thin"},
	{"retake space", "GET /v1/space"},
	{"retake status", "GET /v1/workspaces/{ws}/status"},
	{"retake restore", "POST /v1/workspaces/{ws}/plans"},
	{"retake undo", "POST /v1/workspaces/{ws}/plans"},
	{"retake rebuild", "POST /v1/rebuild"},
	{"retake scrub", "POST /v1/scrub"},
	{"retake doctor", "POST /v1/scrub"}, // a server does not repair on request
}

// inRequests says a hint in requests instead of commands. Lines with a command that has no request
// are left out: who reads them has no command line.
func inRequests(hint string) string {
	var out []string
	for line := range strings.SplitSeq(hint, "\n") {
		text, command, ok := strings.Cut(line, "retake ")
		if !ok {
			out = append(out, line)
			continue
		}
		if request := requestFor("retake " + command); request != "" {
			out = append(out, text+request)
		}
	}
	return strings.Join(out, "\n")
}

func requestFor(command string) string {
	for _, f := range requestForms {
		if command == f.command || strings.HasPrefix(command, f.command+" ") {
			return f.request
		}
	}
	return ""
}

type requestHintsKey struct{}

// WithRequestHints makes the hints of problems name requests instead of commands, for a caller that
// is neither our command line nor a person.
func WithRequestHints(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestHintsKey{}, true)
}

type faultKey struct{}

// WithFaultReport makes report be called with the cause of each problem that is not the caller's
// fault. It may be called from several goroutines.
func WithFaultReport(ctx context.Context, report func(cause string)) context.Context {
	return context.WithValue(ctx, faultKey{}, report)
}

// forCaller adds the ID of the request to a problem, and says its hints as the caller needs them.
func (p *problem) forCaller(ctx context.Context) *problem {
	if id, ok := ctx.Value(requestIDKey{}).(string); ok {
		p.RequestID = id
	}
	if report, ok := ctx.Value(faultKey{}).(func(string)); ok && p.Status >= http.StatusInternalServerError {
		report(p.Detail)
	}
	if ctx.Value(requestHintsKey{}) != nil && p.HintRaw == nil {
		p.Hint = inRequests(p.Hint)
		p.NextSteps = nextRequests(p.Hint)
	}
	return p
}

// nextRequests returns the requests in the lines of a hint, and the role that is needed.
func nextRequests(hint string) []string {
	var out []string
	for line := range strings.SplitSeq(hint, "\n") {
		_, request, _ := strings.Cut(line, ": ")
		for _, method := range []string{"GET /", "POST /", "PUT /", "DELETE /"} {
			if strings.HasPrefix(request, method) {
				out = append(out, request)
			}
		}
		if role, ok := strings.CutPrefix(line, otherKeyHint); ok {
			out = append(out, "use an API key with the role "+role)
		}
	}
	return out
}
