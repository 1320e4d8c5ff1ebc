package httpapi

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// problem is the JSON form of a retake.Error, as in RFC 9457. Texts may quote names, so they
// have _raw fields.
type problem wire.Problem

// Error returns what happened.
func (p *problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *problem) GetStatus() int { return p.Status }

// ContentType implements huma.ContentTypeFilter.
func (p *problem) ContentType(string) string { return problemType }

const (
	problemType  = wire.ProblemType
	errorDocsURL = "https://github.com/retake-dev/retake/blob/main/docs/API.md#"
	unchanged    = "Nothing was changed."

	statusCanceled = 499 // the client is gone; for logs only
)

// problemOf turns an error of the service into a problem.
func problemOf(err error) *problem {
	var p *problem
	if errors.As(err, &p) {
		return p
	}
	e := retake.AsError(err)
	p = &problem{
		Detail: e.Error(), Kind: e.Kind, Accept: e.Accept,
		What: e.What, WhatRaw: rawBytes(e.What), Safe: e.Safe, Hint: e.Hint, HintRaw: rawBytes(e.Hint),
		Retryable: e.Kind == retake.Away || e.Kind == retake.Busy, NextSteps: nextSteps(e),
	}
	p.setMeaning(meaningOf(e, 0))
	if p.Plan = obstructedPlan(err); p.Plan != nil {
		p.setMeaning(needsConfirmation)
	}
	if e.Err != nil {
		p.Cause = e.Err.Error()
		p.CauseRaw = rawBytes(p.Cause)
	}
	return p
}

// rawBytes returns the bytes of a text that is not valid UTF-8, or nil.
func rawBytes(s string) []byte {
	if utf8.ValidString(s) {
		return nil
	}
	return []byte(s)
}

// requestProblem returns the problem of a request that never reached the service.
func requestProblem(status int, why string) *problem {
	kind := retake.Invalid
	switch status {
	case http.StatusRequestEntityTooLarge:
		kind = retake.Limit
	case http.StatusInternalServerError:
		kind = retake.Internal
	}
	e := &retake.Error{Kind: kind, What: "the request is not understood: " + why, Safe: unchanged}
	p := problemOf(e)
	p.setMeaning(meaningOf(e, status))
	return p
}

// transformError turns an error of the router into a problem, and adds the request ID.
func transformError(hc huma.Context, _ string, v any) (any, error) {
	if p, ok := v.(*problem); ok {
		return p.forCaller(hc.Context()), nil
	}
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	why := make([]string, 0, len(m.Errors))
	for _, e := range m.Errors {
		why = append(why, strings.TrimPrefix(e.Location+": ", ": ")+strings.Replace(e.Message, validation.MsgUnexpectedProperty, "there is no such field", 1))
	}
	if len(why) == 0 {
		why = append(why, m.Detail)
	}
	return requestProblem(m.Status, strings.Join(why, "; ")).forCaller(hc.Context()), nil
}

func writeProblem(w http.ResponseWriter, r *http.Request, p *problem) {
	writeJSON(w, p.Status, problemType, p.forCaller(r.Context()))
}

func writeJSON(w http.ResponseWriter, status int, contentType string, v any) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil { // the response is incomplete, or the client is gone
		panic(http.ErrAbortHandler)
	}
}
