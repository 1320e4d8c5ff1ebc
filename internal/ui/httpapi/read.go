package httpapi

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// DiffQuery is exported because huma ignores unexported embedded structs.
type DiffQuery struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	From      string             `query:"from" doc:"The earlier checkpoint, as a ref. Empty means the parent of to, or the latest one if to is empty."`
	To        string             `query:"to" doc:"The later checkpoint, as a ref. Empty means the current files."`
	Paths     []string           `query:"path,explode" nullable:"false" doc:"Only these paths. Repeat the parameter for each path. Absent means all."`
}

// Resolve reads the paths again, because the router drops all of them if the first is empty.
func (q *DiffQuery) Resolve(hc huma.Context) []error {
	u := hc.URL()
	q.Paths = u.Query()["path"]
	return nil
}

type diffPartQuery struct {
	DiffQuery
	PageParams
	After string `query:"after" doc:"The next of the part before. Empty means from the beginning. Deprecated: use cursor."`
}

type listQuery struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Ref       string             `query:"ref" doc:"Which checkpoint: a number such as 14, a time such as 10:27 or 2h, latest, start, good, an ID, or a pin."`
	Dir       string             `query:"dir" doc:"The directory, relative to the workspace's root. Empty means the root."`
	PageParams
}

type objectQuery struct {
	ID retake.ObjectID `path:"id" doc:"The object ID, from an entry's object."`
}

// registerReads registers the routes that read the contents of checkpoints.
func (a *api) registerReads() {
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/diff", "diff", "Compare two checkpoints"), func(ctx context.Context, in *diffPartQuery) (retake.Comparison, error) {
		filter := strings.Join(append([]string{"diff", string(in.Workspace), in.From, in.To}, in.Paths...), " ")
		after, err := a.cursorText(filter, in.Cursor, in.After)
		if err != nil {
			return retake.Comparison{}, err
		}
		c, err := a.Diff(ctx, retake.DiffQuery{Workspace: in.Workspace, From: in.From, To: in.To, Paths: in.Paths, After: after, Limit: in.Limit})
		if c.Next != "" {
			c.NextCursor = a.cursors.Seal(filter, c.Next)
		}
		return c, err
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/list", "list", "List a directory of a checkpoint"), func(ctx context.Context, in *listQuery) (wire.EntryList, error) {
		all, more, err := fetchPage(a, "list "+string(in.Workspace)+" "+in.Ref+" "+in.Dir, in.PageParams, func(int) ([]retake.Entry, error) { return a.List(ctx, in.Workspace, in.Ref, in.Dir) }, func(e *retake.Entry) string { return e.Name })
		return wire.EntryList{Entries: all, More: more}, err
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/status", "status", "Get a workspace's status"), func(ctx context.Context, in *workspacePath) (retake.Status, error) {
		return a.Status(ctx, in.Workspace)
	})
	a.registerFile()
	handleBytes(a, newOperation(http.MethodGet, "/v1/objects/{id}", "object", "Read a stored object"), bytesType, func(ctx context.Context, in *objectQuery) (io.ReadCloser, error) {
		return a.Bytes(ctx, in.ID)
	})
}

// handleBytes registers a route that returns bytes.
func handleBytes[I any](a *api, o huma.Operation, mediaType string, f func(context.Context, *I) (io.ReadCloser, error)) {
	o.Responses = map[string]*huma.Response{"200": bytesResponse(mediaType, false)}
	huma.Register(a.huma, o, func(ctx context.Context, in *I) (*huma.StreamResponse, error) {
		src, err := recoverPanic(a, func() (io.ReadCloser, error) { return f(ctx, in) })
		if err != nil {
			return nil, problemOf(err)
		}
		return streamBytes(outgoingBytes{src: src, mediaType: mediaType}), nil
	})
}

// bytesResponse describes a response with bytes.
func bytesResponse(mediaType string, entry bool) *huma.Response {
	ok := &huma.Response{
		Description: "The bytes. If you send `TE: trailers`, the trailer " + endTrailer + " is `ok`, or a Problem as JSON in base64url. Otherwise the connection is closed early if the body can't be completed.",
		Content:     map[string]*huma.MediaType{mediaType: {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}},
		Headers:     map[string]*huma.Param{},
	}
	if entry {
		ok.Headers[entryHeader] = textHeader("The file's Entry as JSON in base64url. A long `extra` is left out.")
	}
	return ok
}

func textHeader(doc string) *huma.Param {
	return &huma.Param{Description: doc, Schema: &huma.Schema{Type: huma.TypeString}}
}
