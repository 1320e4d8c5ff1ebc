package httpapi

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type planInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      wire.PlanBody
}

type restoreInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      wire.RestoreBody
}

type forkInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      wire.ForkBody
}

// registerRestores registers the routes for restores and forks.
func (a *api) registerRestores() {
	handleJSON(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/plans", "plan", "Preview a restore"), a.planRestore)
	handleJSON(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/view/plan", "view-plan", "Preview a restore in words"), a.viewPlan)
	handleProgress(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/restores", "restore", "Apply a plan"), a.applyPlan)
	handleProgress(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/forks", "fork", "Create a fork"), a.createFork)
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/forks", "list-forks", "List forks"), func(ctx context.Context, in *workspacePage) (wire.ForkList, error) {
		all, more, err := fetchPage(a, "forks "+string(in.Workspace), in.PageParams, func(int) ([]retake.WorkspaceState, error) { return a.Forks(ctx, in.Workspace) }, workspaceIDOf)
		return wire.ForkList{Forks: all, More: more}, err
	})
}

func (a *api) planRestore(ctx context.Context, in *planInput) (retake.Plan, error) {
	p, err := a.PlanRestore(ctx, newPlanRequest(in.Workspace, &in.Body))
	return fillPlan(p), err
}

func (a *api) viewPlan(ctx context.Context, in *planInput) (retake.ViewedPlan, error) {
	p, err := a.ViewPlan(ctx, newPlanRequest(in.Workspace, &in.Body))
	p.Plan = fillPlan(p.Plan)
	p.View.Numbers, p.View.Sections, p.View.Asks = nonNil(p.View.Numbers), nonNil(p.View.Sections), nonNil(p.View.Asks)
	return p, err
}

// fillPlan replaces nil lists, which must not be null in JSON.
func fillPlan(p retake.Plan) retake.Plan {
	p.Writes, p.Deletes, p.Merges, p.Times = nonNil(p.Writes), nonNil(p.Deletes), nonNil(p.Merges), nonNil(p.Times)
	p.Keeps, p.Obstacles, p.Holders, p.Effects = nonNil(p.Keeps), nonNil(p.Obstacles), nonNil(p.Holders), nonNil(p.Effects)
	for i := range p.Others {
		p.Others[i] = fillPlan(p.Others[i])
	}
	return p
}

func newPlanRequest(ws retake.WorkspaceID, b *wire.PlanBody) retake.PlanRequest {
	return retake.PlanRequest{Workspace: ws, Course: b.Course, Ref: b.Ref, Paths: textsOrRaw(b.Paths, b.PathsRaw), To: b.To, Git: b.Git, Fork: b.Fork, Edits: b.Edits, Session: b.Session, Hunks: b.Hunks, From: b.From, Spread: b.Spread, Asker: b.Asker}
}

// applyPlan applies a plan. It continues if the client disconnects: a restore that stops halfway
// is worse than either state.
func (a *api) applyPlan(ctx context.Context, in *restoreInput, tell func(retake.Progress)) (retake.RestoreResult, error) {
	ctx, end := a.workContext(ctx)
	defer end()
	b := in.Body
	plan := wire.PlanBody{Course: b.Course, Ref: b.Ref, Paths: b.Paths, PathsRaw: b.PathsRaw, To: b.To, Git: b.Git, Fork: b.Fork, Edits: b.Edits, Session: b.Session, Hunks: b.Hunks, From: b.From, Spread: b.Spread, Asker: b.Asker}
	res, err := a.ApplyRestore(ctx, retake.ApplyRequest{
		PlanRequest: newPlanRequest(in.Workspace, &plan), Digest: b.Digest, Accept: b.Accept, ID: checkpointIDFor(ctx, b.ID), Progress: tell,
	})
	res = fillResult(res)
	return res, err
}

func fillResult(r retake.RestoreResult) retake.RestoreResult {
	r.Failed, r.Warnings = nonNil(r.Failed), nonNil(r.Warnings)
	for i := range r.Others {
		r.Others[i] = fillResult(r.Others[i])
	}
	return r
}

func (a *api) createFork(ctx context.Context, in *forkInput, tell func(retake.Progress)) (retake.ForkResult, error) {
	b := in.Body
	dir := textOrRaw(b.Dir, b.DirRaw)
	if err := a.checkWorkspaceDir(dir); err != nil {
		return retake.ForkResult{}, err
	}
	res, err := a.Fork(ctx, retake.ForkRequest{
		Workspace: in.Workspace, Ref: b.Ref, Dir: dir, Name: textOrRaw(b.Name, b.NameRaw), Throwaway: b.Throwaway, Accept: b.Accept, Progress: tell,
	})
	res.Warnings = nonNil(res.Warnings)
	return res, err
}

// textsOrRaw returns the exact bytes if the client sent them, otherwise the texts.
func textsOrRaw(texts []string, raw [][]byte) []string {
	if raw == nil {
		return texts
	}
	out := make([]string, len(raw))
	for i, b := range raw {
		out[i] = string(b)
	}
	return out
}
