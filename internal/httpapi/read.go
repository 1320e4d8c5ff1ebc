package httpapi

import (
	"context"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
)

// DiffQuery is exported because huma reads no other embedded fields.
type DiffQuery struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	From      string             `query:"from" doc:"A ref. Empty: the parent of to, or the latest when to is now."`
	To        string             `query:"to" doc:"A ref. Empty: now."`
	Paths     []string           `query:"path,explode" nullable:"false" doc:"Paths of interest, each in a parameter of its own. None: all."`
}

// Resolve reads the paths again: the router leaves all out when the first is empty.
func (q *DiffQuery) Resolve(hc huma.Context) []error {
	u := hc.URL()
	q.Paths = u.Query()["path"]
	return nil
}

type diffPartQuery struct {
	DiffQuery
	After string `query:"after" doc:"The next of the part before. Empty: from the beginning."`
	Limit int    `query:"limit" minimum:"0" doc:"At most so many changes. 0: all of them."`
}

type listQuery struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Ref       string             `query:"ref" doc:"A number, a time, latest, start, an id, or the name of a pin."`
	Dir       string             `query:"dir" doc:"Below the root of the workspace. Empty: the root."`
}

type objectQuery struct {
	ID retake.ObjectID `path:"id" doc:"The address that an entry has."`
}

type entryList struct {
	Entries []retake.Entry `json:"entries" nullable:"false"`
}

func (a *api) reading() {
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/diff", "diff", "What differs between two checkpoints"), func(ctx context.Context, in *diffPartQuery) (retake.Comparison, error) {
		return a.Diff(ctx, retake.DiffQuery{Workspace: in.Workspace, From: in.From, To: in.To, Paths: in.Paths, After: in.After, Limit: in.Limit})
	})
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/list", "list", "The entries of a directory at a checkpoint"), func(ctx context.Context, in *listQuery) (entryList, error) {
		entries, err := a.List(ctx, in.Workspace, in.Ref, in.Dir)
		return entryList{filled(entries)}, err
	})
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/status", "status", "How well a workspace is protected"), func(ctx context.Context, in *inWorkspace) (retake.Status, error) {
		return a.Status(ctx, in.Workspace)
	})
	a.files()
	bytesOf(a, op(http.MethodGet, "/v1/objects/{id}", "object", "Stored bytes by their address"), bytesType, func(ctx context.Context, in *objectQuery) (io.ReadCloser, error) {
		return a.Bytes(ctx, in.ID)
	})
}

// bytesOf adds a route that answers with bytes.
func bytesOf[I any](a *api, o huma.Operation, mediaType string, f func(context.Context, *I) (io.ReadCloser, error)) {
	o.Responses = map[string]*huma.Response{"200": bytesResponse(mediaType, false)}
	huma.Register(a.huma, o, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		src, err := guarded(a, func() (io.ReadCloser, error) { return f(ctx, in) })
		if err != nil {
			return nil, problemOf(err)
		}
		return copied(sending{src: src, mediaType: mediaType}), nil
	})
}

func bytesResponse(mediaType string, entry bool) *huma.Response {
	ok := &huma.Response{
		Description: "The bytes. With TE: trailers, the trailer " + endTrailer + " is ok or a Problem in base64url JSON; without, a body that cannot be finished breaks off.",
		Content:     map[string]*huma.MediaType{mediaType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
		Headers:     map[string]*huma.Param{},
	}
	if entry {
		ok.Headers[entryHeader] = textHeader("The Entry in base64url JSON, without extra when that is long.")
	}
	return ok
}

func textHeader(doc string) *huma.Param {
	return &huma.Param{Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
}
