package httpapi

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type scrubInput struct {
	Body *wire.ScrubBody
}

// registerStorage registers the routes for the store: verification, disk space and cleanup.
func (a *api) registerStorage() {
	handleProgress(a, newOperation(http.MethodPost, "/v1/scrub", "scrub", "Verify stored data"), func(ctx context.Context, in *scrubInput, tell func(retake.Progress)) (retake.ScrubReport, error) {
		q := retake.ScrubQuery{Progress: tell}
		if in.Body != nil {
			q.Share, q.Repair = in.Body.Share, in.Body.Repair
		}
		return a.Scrub(ctx, q)
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/space", "space", "Get the disk space"), func(ctx context.Context, _ *struct{}) (retake.StoreState, error) {
		return a.Space(ctx)
	})
	handleJSON(a, newOperation(http.MethodPost, "/v1/sweep", "sweep", "Free unused disk space"), func(ctx context.Context, _ *struct{}) (retake.SweepReport, error) {
		return a.Sweep(ctx)
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/space/plan", "space-plan", "Preview the next cleanup"), func(ctx context.Context, _ *struct{}) (retake.SpacePlan, error) {
		p, err := a.SpacePlan(ctx)
		p.Workspaces, p.Drops = nonNil(p.Workspaces), nonNil(p.Drops)
		return p, err
	})
	handleProgress(a, newOperation(http.MethodPost, "/v1/thin", "thin", "Run the cleanup"), func(ctx context.Context, _ *struct{}, tell func(retake.Progress)) (retake.ThinReport, error) {
		return a.Thin(ctx, retake.ThinRequest{Progress: tell})
	})
	handleJSON(a, newOperation(http.MethodPost, "/v1/rebuild", "rebuild", "Rebuild the catalog"), func(ctx context.Context, _ *struct{}) (retake.RebuildReport, error) {
		return a.Rebuild(ctx)
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/proof", "proof", "Compare with the stock engine"), func(ctx context.Context, in *refQuery) (retake.Proof, error) {
		return a.Prove(ctx, in.Workspace, in.Ref)
	})
}
