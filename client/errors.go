package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

const (
	unchanged = "Nothing was changed."
	uncertain = "It is not certain whether it was done; earlier checkpoints are intact."
)

// Obstructed is the error of a restore in one call that has obstacles. Nothing was changed. Plan
// is what the restore would do, and Err is Denied.
type Obstructed struct {
	Plan retake.Plan
	Err  error
}

func (o *Obstructed) Error() string { return o.Err.Error() }

// Unwrap returns Err.
func (o *Obstructed) Unwrap() error { return o.Err }

// parseProblem returns the error that the service returned.
func parseProblem(data []byte) error {
	_, err := readProblem(data)
	return err
}

func readProblem(data []byte) (wire.Problem, error) {
	var p wire.Problem
	if err := json.Unmarshal(data, &p); err != nil || p.Code == "" {
		return p, badResponse(errors.Join(err, errors.New("a problem without a code")))
	}
	if p.Kind == "" { // a server of the version before
		p.Kind = retake.ErrorKind(p.Code)
	}
	e := &retake.Error{Kind: p.Kind, Accept: p.Accept, What: textOrRaw(p.What, p.WhatRaw), Safe: p.Safe, Hint: textOrRaw(p.Hint, p.HintRaw)}
	if cause := textOrRaw(p.Cause, p.CauseRaw); cause != "" {
		e.Err = errors.New(cause)
	}
	if p.Plan != nil {
		return p, &Obstructed{Plan: *p.Plan, Err: e}
	}
	return p, e
}

func textOrRaw(text string, raw []byte) string {
	if raw != nil {
		return string(raw)
	}
	return text
}

// responseError returns the error of a response: that of a problem, or one that says that the
// response is not from Retake, such as that of a proxy.
func responseError(r *http.Response) error {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return &connError{mayHaveArrived: true, err: err}
	}
	if contentType(r) == wire.ProblemType {
		p, err := readProblem(data)
		if p.Retryable {
			return &retryableError{err: err, retryAfter: retryAfter(r), refused: r.StatusCode == http.StatusTooManyRequests}
		}
		return err
	}
	e := badResponse(fmt.Errorf("%s, which is no answer of ours", r.Status))
	switch r.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		e.Kind = retake.Away
		return &retryableError{err: e, retryAfter: retryAfter(r)}
	}
	return e
}

func contentType(r *http.Response) string {
	t, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

func badResponse(err error) *retake.Error {
	return &retake.Error{Kind: retake.Internal, What: "the answer is not understood", Safe: uncertain, Err: err}
}

// unreachableError says that nothing answers, or that the connection failed.
func (c *conn) unreachableError(a *apiRequest, err error) error {
	e := &retake.Error{Kind: retake.Away, What: "the daemon does not answer", Safe: a.safeText(), Hint: "check it: retake daemon status", Err: err}
	if c.opts.Socket == "" {
		e.What, e.Hint = "the server does not answer", "its address is "+c.opts.URL
	}
	return e
}

// reviveError returns the error of a request for which Revive failed.
func (c *conn) reviveError(ctx context.Context, a *apiRequest, err error) error {
	var e *retake.Error
	switch {
	case ctx.Err() != nil:
		return a.canceledError(ctx)
	case errors.As(err, &e):
		return e
	}
	return c.unreachableError(a, err)
}

// canceledError says that the caller did not wait. The service may still complete the request.
func (a *apiRequest) canceledError(ctx context.Context) error {
	a.mayHaveArrived = true
	return &retake.Error{Kind: retake.Canceled, What: "stopped", Safe: a.safeText(), Err: ctx.Err()}
}

// safeText says whether anything may have been changed.
func (a *apiRequest) safeText() string {
	if a.mayHaveArrived && !a.readOnly {
		return uncertain
	}
	return unchanged
}
