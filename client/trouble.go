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
		return p, notUnderstood(errors.Join(err, errors.New("a problem without a kind")))
	}
	e := &retake.Error{Kind: p.Code, What: whole(p.What, p.WhatRaw), Safe: p.Safe, Hint: whole(p.Hint, p.HintRaw)}
	if cause := whole(p.Cause, p.CauseRaw); cause != "" {
		e.Err = errors.New(cause)
	}
	if p.Plan != nil {
		return p, &Obstructed{Plan: *p.Plan, Err: e}
	}
	return p, e
}

func whole(text string, raw []byte) string {
	if raw != nil {
		return string(raw)
	}
	return text
}

// answered is the error of an answer that is none of ours, or a problem.
func answered(r *http.Response) error {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return &broken{sent: true, err: err}
	}
	if contentType(r) == problemType {
		p, err := readProblem(data)
		if p.Retryable {
			return &later{err: err, after: retryAfter(r), refused: r.StatusCode == http.StatusTooManyRequests}
		}
		return err
	}
	e := notUnderstood(fmt.Errorf("%s, which is no answer of ours", r.Status))
	switch r.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		e.Kind = retake.Away
		return &later{err: e, after: retryAfter(r)}
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

func notUnderstood(err error) *retake.Error {
	return &retake.Error{Kind: retake.Internal, What: "the answer is not understood", Safe: uncertain, Err: err}
}

// away: nobody is there, or the connection broke.
func (c *Client) away(a *ask, err error) error {
	e := &retake.Error{Kind: retake.Away, What: "the daemon does not answer", Safe: a.safe(), Hint: "check it: retake daemon status", Err: err}
	if c.o.Socket == "" {
		e.What, e.Hint = "the server does not answer", "its address is "+c.o.URL
	}
	return e
}

func (c *Client) notRevived(ctx context.Context, a *ask, err error) error {
	var e *retake.Error
	switch {
	case ctx.Err() != nil:
		return a.stopped(ctx)
	case errors.As(err, &e):
		return e
	}
	return c.away(a, err)
}

// stopped: the caller did not wait. What had arrived may go on without him.
func (a *ask) stopped(ctx context.Context) error {
	a.doubt = true
	return &retake.Error{Kind: retake.Canceled, What: "stopped", Safe: a.safe(), Err: ctx.Err()}
}

func (a *ask) safe() string {
	if a.doubt && !a.looks {
		return uncertain
	}
	return unchanged
}
