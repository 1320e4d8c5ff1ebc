package httpapi

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type purgeInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      wire.PurgeBody
}

func (in *purgeInput) request(tell func(retake.Progress)) retake.PurgeRequest {
	return retake.PurgeRequest{Workspace: in.Workspace, Paths: in.Body.Paths, Contents: in.Body.Contents, Progress: tell}
}

// registerPurge registers the routes that remove content from the history.
func (a *api) registerPurge() {
	handleProgress(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/purge/plan", "plan-purge", "Preview a purge"), func(ctx context.Context, in *purgeInput, tell func(retake.Progress)) (retake.PurgePlan, error) {
		p, err := a.PlanPurge(ctx, in.request(tell))
		return fillPurge(p), err
	})
	handleProgress(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/purge", "purge", "Purge a path or content"), func(ctx context.Context, in *purgeInput, tell func(retake.Progress)) (retake.PurgeReport, error) {
		r, err := a.Purge(ctx, in.request(tell))
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
