package httpapi

import (
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
		{"Forbidden", http.StatusForbidden, "The API key's role lacks the permission, or the request needs a confirmation that you did not send.",
			&retake.Error{Kind: retake.Denied, What: "this key is for some workspaces only", Safe: unchanged}},
		{"NotFound", http.StatusNotFound, "The workspace, the checkpoint or another object does not exist, or only a server has this operation.",
			&retake.Error{Kind: retake.NotFound, What: "there is no checkpoint 99 in shop", Safe: unchanged, Hint: "list checkpoints: retake log"}},
		{"NeedsConfirmation", http.StatusConflict, "The plan has warnings that you did not accept. Nothing was changed, and `plan` is what would be done.", nil},
		{"Exists", http.StatusConflict, "The object exists already.",
			&retake.Error{Kind: retake.Exists, What: "/home/me/shop is protected already, as shop", Safe: unchanged, Hint: "list its checkpoints: retake log"}},
		{"Moved", http.StatusPreconditionFailed, "Something changed since you looked, such as the files since the plan. Nothing was changed. Get a new plan.", nil},
		{"Invalid", http.StatusUnprocessableEntity, "A parameter or a field has a value that is not valid.",
			&retake.Error{Kind: retake.Invalid, What: "the ref is empty", Safe: unchanged, Hint: "by number: 14\nby time: 10:27\nthe newest: latest"}},
		{"Error", 0, "Any other error, such as 429 (too many requests), 503 (busy or unavailable, retry later) or 507 (a limit is reached).", nil},
	}
}

// addErrors lists the errors that an operation can return, as references to shared responses.
func addErrors(o *huma.OpenAPI) {
	o.Components.Responses = map[string]*huma.Response{}
	for _, e := range errorResponses() {
		content := &huma.MediaType{Schema: &huma.Schema{Ref: "#/components/schemas/Problem"}}
		if e.example != nil {
			p := problemOf(e.example)
			p.Status = e.status
			content.Examples = map[string]*huma.Example{e.name: {Value: p}}
		}
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
		return strings.Contains(o.Path, "{") || slices.ContainsFunc(o.Tags, isServerTag) || is("estimate", "locate", "import")
	case "NeedsConfirmation":
		return is("apply-restore", "restore-snapshot")
	case "Exists":
		return is("init", "pin")
	case "Moved":
		return is("restore", "apply-restore", "restore-snapshot", "cancel-deletion")
	case "Invalid":
		return len(o.Parameters) > 0 || o.RequestBody != nil
	default:
		return true
	}
}
