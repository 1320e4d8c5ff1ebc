package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/retake-dev/retake"
)

// maxRetries is how often a request is sent again.
const maxRetries = 5

// apiRequest is a request, which may be sent several times.
type apiRequest struct {
	method      string
	path        string // escaped; not valid if err is set
	err         error
	query       url.Values
	body        any
	stream      io.Reader // the body, if it is not JSON
	idempotent  bool      // sending it twice has the effect of sending it once
	readOnly    bool      // it changes nothing
	wantsBytes  bool      // the response is not JSON
	wantsEvents bool      // the response is a stream of events
	lastEventID string
	byteRange   string // value of the Range header
	ifMatch     string // value of the If-Match header
	onProgress  func(retake.Progress)

	idempotencyKey string // under which a server stores its response
	mayHaveArrived bool   // an earlier attempt may have reached the service
}

// newGet returns a GET request. The parts are the segments of the path.
func newGet(query url.Values, parts ...string) *apiRequest {
	a := newRequest(http.MethodGet, nil, parts...)
	a.query, a.idempotent, a.readOnly = query, true, true
	return a
}

// newRequest returns a request with a JSON body. The parts are the segments of the path.
func newRequest(method string, body any, parts ...string) *apiRequest {
	a := &apiRequest{method: method, body: body}
	var path strings.Builder
	path.WriteString("/v1")
	for _, p := range parts {
		switch p {
		case "":
			a.err = &retake.Error{Kind: retake.Invalid, What: "a name or an id is empty", Safe: unchanged}
		case ".", "..": // would be resolved as part of the path
			p = strings.ReplaceAll(p, ".", "%2E")
		default:
			p = url.PathEscape(p)
		}
		path.WriteString("/" + p)
	}
	a.path = path.String()
	return a
}

// newPut returns a request that replaces something. With retake.IfVersion it is not sent again: after
// a lost response the version is another one.
func newPut(ctx context.Context, body any, parts ...string) *apiRequest {
	a := newRequest(http.MethodPut, body, parts...)
	versions, conditional := retake.WantedVersions(ctx)
	if conditional {
		a.ifMatch = `"` + strings.Join(versions, `", "`) + `"`
	}
	a.idempotent = !conditional
	return a
}

// connError is a connection that failed before the response was complete.
type connError struct {
	mayHaveArrived bool // the request may have reached the service
	err            error
}

func (b *connError) Error() string { return b.err.Error() }
func (b *connError) Unwrap() error { return b.err }

// callJSON sends a request and decodes its JSON response.
func callJSON[T any](ctx context.Context, c *conn, a *apiRequest) (T, error) {
	var out T
	err := c.send(ctx, a, func(r *http.Response) error {
		defer r.Body.Close() //nolint:errcheck // only read
		data, err := a.readResult(r)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, &out); err != nil {
			return badResponse(err)
		}
		return nil
	})
	return out, err
}
