package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
)

// errorResponse is an error that many operations share in the description.
type errorResponse struct {
	name        string
	status      int // 0: the default response
	description string
	example     *retake.Error
}

// errorResponses returns the errors that operations share, with examples.
func errorResponses() []errorResponse {
	return []errorResponse{
		{"Unauthenticated", http.StatusUnauthorized, "The API key is missing or invalid. Only a server returns this.",
			&retake.Error{Kind: retake.Denied, What: "missing or invalid API key", Safe: unchanged, Hint: "send Authorization: Bearer rtk_…"}},
		{"Forbidden", http.StatusForbidden, "The API key's role lacks the permission, or the server does not allow it.",
			&retake.Error{Kind: retake.Denied, What: "this key is for some workspaces only", Safe: unchanged}},
		{"NotFound", http.StatusNotFound, "The workspace, the checkpoint or another object does not exist, or only a server has this operation.",
			&retake.Error{Kind: retake.NotFound, What: "there is no checkpoint 99 in shop", Safe: unchanged, Hint: "list checkpoints: retake log"}},
		{"Conflict", http.StatusConflict, "`needs_confirmation`: there are warnings that you did not accept; `accept` lists them, and `plan` is what would be done. `stale_plan`: something changed since you looked; get a new plan. `already_exists`: the object exists already. Nothing was changed.",
			&retake.Error{Kind: retake.Denied, What: "changed: README.md has unsaved edits", Safe: unchanged, Accept: []string{"changed"}}},
		{"Invalid", http.StatusUnprocessableEntity, "A parameter or a field has a value that is not valid.",
			&retake.Error{Kind: retake.Invalid, What: "the ref is empty", Safe: unchanged, Hint: "by number: 14\nby time: 10:27\nthe newest: latest"}},
		{"PreconditionFailed", http.StatusPreconditionFailed, "It has another ETag than your `If-Match`. Nothing was changed; read it again.",
			&retake.Error{Kind: retake.Moved, What: "the limits have changed since you read them", Safe: unchanged, Hint: "read them again: GET /v1/namespace"}},
		{"RangeNotSatisfiable", http.StatusRequestedRangeNotSatisfiable, "The range begins behind the end of the file.",
			&retake.Error{Kind: retake.Invalid, What: "the request is not understood: the range is past the end of the file", Safe: unchanged}},
		{"Error", 0, "Any other error, such as 429 (too many requests), 503 (busy or unavailable, retry later) or 507 (a limit is reached).",
			&retake.Error{Kind: retake.Busy, What: "another operation is running in shop", Safe: unchanged, Hint: "try again later"}},
	}
}

// addErrors lists the errors that an operation can return, as references to shared responses.
func addErrors(o *huma.OpenAPI) {
	o.Components.Responses = map[string]*huma.Response{}
	for _, e := range errorResponses() {
		content := &huma.MediaType{Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}}
		p := problemOf(e.example).forCaller(WithRequestHints(context.Background()))
		p.setMeaning(meaningOf(e.example, e.status))
		content.Examples = map[string]*huma.Example{e.name: {Value: p}}
		o.Components.Responses[e.name] = &huma.Response{Description: e.description, Content: map[string]*huma.MediaType{problemType: content}}
	}
	for _, item := range o.Paths {
		for _, op := range operationsByMethod(item) {
			for _, e := range errorResponses() {
				status := "default"
				if e.status != 0 {
					status = strconv.Itoa(e.status)
				}
				if canFail(op, e.name) {
					op.Responses[status] = &huma.Response{Ref: "#/components/responses/" + e.name}
				}
			}
		}
	}
}

// isServerTag reports whether only a server has the operations with this tag.
func isServerTag(tag string) bool {
	switch tag {
	case "Namespace", "API keys", "Webhooks", "Schedules", "Audit log", "Deletions", "Snapshots":
		return true
	default:
		return false
	}
}

// canFail reports whether an operation can return an error with this name.
func canFail(o *huma.Operation, name string) bool {
	is := func(ids ...string) bool { return slices.Contains(ids, o.OperationID) }
	switch name {
	case "Forbidden":
		return requiredPermissions[o.OperationID] != retake.PowerNone
	case "NotFound":
		return strings.Contains(o.Path, "{") || slices.ContainsFunc(o.Tags, isServerTag) || is("estimate", "locate", "import", "add-remote", "sync-remotes", "check-remote")
	case "Conflict":
		return is("attach", "apply-restore", "restore-snapshot", "restore", "cancel-deletion", "init", "pin")
	case "PreconditionFailed":
		return hasHeader(o, "If-Match")
	case "RangeNotSatisfiable":
		return hasHeader(o, "Range")
	case "Invalid":
		return len(o.Parameters) > 0 || o.RequestBody != nil
	default:
		return true
	}
}

// hasHeader reports whether an operation takes a header.
func hasHeader(o *huma.Operation, name string) bool {
	return slices.ContainsFunc(o.Parameters, func(p *huma.Param) bool { return p.In == "header" && p.Name == name })
}
