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
)

const (
	jsonType    = "application/json"
	eventType   = "text/event-stream"
	problemType = "application/problem+json"

	unchanged = "Nothing was changed."
	uncertain = "It is not certain whether it was done; earlier checkpoints are intact."
)

// problem is a retake.Error on the wire.
type problem struct {
	Code     retake.ErrorKind `json:"code"`
	What     string           `json:"what"`
	WhatRaw  []byte           `json:"what_raw"`
	Safe     string           `json:"safe"`
	Hint     string           `json:"hint"`
	HintRaw  []byte           `json:"hint_raw"`
	Cause    string           `json:"cause"`
	CauseRaw []byte           `json:"cause_raw"`

	Retryable bool         `json:"retryable"`
	Plan      *retake.Plan `json:"plan"`
}

// Obstructed is a restore in one call that has obstacles: nothing was done. The plan says
// what it would do; its error is Denied.
type Obstructed struct {
	Plan retake.Plan
	Err  error
}

func (o *Obstructed) Error() string { return o.Err.Error() }

// Unwrap gives the error.
func (o *Obstructed) Unwrap() error { return o.Err }

// parseProblem gives the error as the service gave it.
func parseProblem(data []byte) error {
	_, err := readProblem(data)
	return err
}

func readProblem(data []byte) (problem, error) {
	var p problem
	if err := json.Unmarshal(data, &p); err != nil || p.Code == "" {
		return p, badResponse(errors.Join(err, errors.New("a problem without a kind")))
	}
	e := &retake.Error{Kind: p.Code, What: textOrRaw(p.What, p.WhatRaw), Safe: p.Safe, Hint: textOrRaw(p.Hint, p.HintRaw)}
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

// responseError is the error of an answer that is none of ours, or a problem.
func responseError(r *http.Response) error {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return &connError{mayHaveArrived: true, err: err}
	}
	if contentType(r) == problemType {
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

// unreachableError: nobody is there, or the connection broke.
func (c *Client) unreachableError(a *apiRequest, err error) error {
	e := &retake.Error{Kind: retake.Away, What: "the daemon does not answer", Safe: a.safeText(), Hint: "check it: retake daemon status", Err: err}
	if c.opts.Socket == "" {
		e.What, e.Hint = "the server does not answer", "its address is "+c.opts.URL
	}
	return e
}

func (c *Client) reviveError(ctx context.Context, a *apiRequest, err error) error {
	var e *retake.Error
	switch {
	case ctx.Err() != nil:
		return a.canceledError(ctx)
	case errors.As(err, &e):
		return e
	}
	return c.unreachableError(a, err)
}

// canceledError: the caller did not wait. What had arrived may go on without him.
func (a *apiRequest) canceledError(ctx context.Context) error {
	a.mayHaveArrived = true
	return &retake.Error{Kind: retake.Canceled, What: "stopped", Safe: a.safeText(), Err: ctx.Err()}
}

func (a *apiRequest) safeText() string {
	if a.mayHaveArrived && !a.readOnly {
		return uncertain
	}
	return unchanged
}
