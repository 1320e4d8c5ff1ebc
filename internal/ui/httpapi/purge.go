package httpapi

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
)

type purgeInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      purgeBody
}

type purgeBody struct {
	Paths    []string `json:"paths,omitempty" nullable:"false" doc:"Paths to remove, relative to the workspace's root, with everything below them."`
	Contents [][]byte `json:"contents,omitempty" nullable:"false" doc:"Bytes to remove, each in base64. Every stored file that contains one of them is removed. Don't send it together with paths."`
}

func (b purgeBody) request(ws retake.WorkspaceID) retake.PurgeRequest {
	return retake.PurgeRequest{Workspace: ws, Paths: b.Paths, Contents: b.Contents}
}

// registerPurge registers the routes that remove content from the history.
func (a *api) registerPurge() {
	handleProgress(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/purge/plan", "plan-purge", "Preview a purge"), func(ctx context.Context, in *purgeInput, tell func(retake.Progress)) (retake.PurgePlan, error) {
		req := in.Body.request(in.Workspace)
		req.Progress = tell
		p, err := a.PlanPurge(ctx, req)
		return fillPurge(p), err
	})
	handleProgress(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/purge", "purge", "Purge a path or content"), func(ctx context.Context, in *purgeInput, tell func(retake.Progress)) (retake.PurgeReport, error) {
		req := in.Body.request(in.Workspace)
		req.Progress = tell
		r, err := a.Purge(ctx, req)
		r.Plan, r.Left = fillPurge(r.Plan), nonNil(r.Left)
		return r, err
	})
	handleJSON(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/erase", "erase", "Erase the whole history"), func(ctx context.Context, in *workspacePath) (retake.PurgeReport, error) {
		r, err := a.Erase(ctx, in.Workspace)
		r.Plan, r.Left = fillPurge(r.Plan), nonNil(r.Left)
		return r, err
	})
}

// fillPurge replaces nil lists, which must not be null in JSON.
func fillPurge(p retake.PurgePlan) retake.PurgePlan {
	p.Workspaces, p.Gaps, p.Live, p.Beyond = nonNil(p.Workspaces), nonNil(p.Gaps), nonNil(p.Live), nonNil(p.Beyond)
	return p
}
