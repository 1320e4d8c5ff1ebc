package httpapi

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
)

type planInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      planBody
}

type planBody struct {
	Course   retake.Course      `json:"course" doc:"What to do: restore, undo, redo, adopt, finish or unwind (the last two for an interrupted restore)."`
	Ref      string             `json:"ref,omitempty" doc:"The checkpoint to restore. For undo, the checkpoint to undo, or a range such as 3..5. Empty means the newest one."`
	Paths    []string           `json:"paths,omitempty" nullable:"false" doc:"Limit the operation to these paths, relative to the workspace's root. Empty means everything."`
	PathsRaw [][]byte           `json:"paths_raw,omitempty" nullable:"false" doc:"The exact bytes of all paths, if one of them is not valid UTF-8."`
	Git      bool               `json:"git,omitempty" doc:"If true, existing git repositories are replaced, too."`
	Fork     retake.WorkspaceID `json:"fork,omitempty" doc:"With adopt: the ID of the fork."`
	Edits    bool               `json:"edits,omitempty" doc:"With undo: discard the unsaved edits instead of the last recorded change."`
	Session  string             `json:"session,omitempty" doc:"With undo: undo all turns of this session. Name it by the start of its ID, by its agent, or as last."`
	Hunks    []retake.Hunk      `json:"hunks,omitempty" nullable:"false" doc:"With undo, a ref and one path: undo only these hunks of the diff between from and ref."`
	From     string             `json:"from,omitempty" doc:"The checkpoint that the hunks were compared with, as a ref."`
	Asker    int                `json:"asker,omitempty" doc:"Your process ID on this machine. Retake does not warn about the agent turn that it runs in."`
}

type restoreInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      restoreBody
}

// restoreBody repeats the fields of planBody, because huma ignores unexported embedded structs.
type restoreBody struct {
	Course   retake.Course       `json:"course" doc:"The value that you sent for the plan."`
	Ref      string              `json:"ref,omitempty" doc:"The value that you sent for the plan."`
	Paths    []string            `json:"paths,omitempty" nullable:"false" doc:"The value that you sent for the plan."`
	PathsRaw [][]byte            `json:"paths_raw,omitempty" nullable:"false" doc:"The exact bytes of all paths, if one of them is not valid UTF-8."`
	Git      bool                `json:"git,omitempty" doc:"The value that you sent for the plan."`
	Fork     retake.WorkspaceID  `json:"fork,omitempty" doc:"The value that you sent for the plan."`
	Edits    bool                `json:"edits,omitempty" doc:"The value that you sent for the plan."`
	Session  string              `json:"session,omitempty" doc:"The value that you sent for the plan."`
	Hunks    []retake.Hunk       `json:"hunks,omitempty" nullable:"false" doc:"The value that you sent for the plan."`
	From     string              `json:"from,omitempty" doc:"The value that you sent for the plan."`
	Asker    int                 `json:"asker,omitempty" doc:"The value that you sent for the plan."`
	Digest   string              `json:"digest" doc:"The plan's digest, or its first eight characters with or without a dash."`
	Accept   []string            `json:"accept,omitempty" nullable:"false" doc:"The classes of warnings that you accept."`
	ID       retake.CheckpointID `json:"id,omitempty" doc:"Your own ID for the new checkpoint, cp_ and a UUID, so that you can retry safely. Empty means that Retake creates one."`
}

type forkInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      forkBody
}

type forkBody struct {
	Ref       string `json:"ref,omitempty" doc:"The checkpoint to fork, as a ref."`
	Dir       string `json:"dir,omitempty" doc:"The absolute path of the new directory, on the machine that answers. It must not exist or must be empty. A server creates one by name if you leave it out."`
	DirRaw    []byte `json:"dir_raw,omitempty" doc:"The exact bytes of dir, if they are not valid UTF-8."`
	Name      string `json:"name,omitempty" doc:"The workspace's name. Empty means the directory's name."`
	NameRaw   []byte `json:"name_raw,omitempty" doc:"The exact bytes of name, if they are not valid UTF-8."`
	Throwaway bool   `json:"throwaway,omitempty" doc:"If true, the fork is temporary and protects nothing. You remove it yourself."`
}

type forkList struct {
	Forks []retake.WorkspaceState `json:"forks" nullable:"false" doc:"The forks."`
}

// registerRestores registers the routes for restores and forks.
func (a *api) registerRestores() {
	handleJSON(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/plans", "plan", "Preview a restore"), a.planRestore)
	handleProgress(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/restores", "restore", "Apply a plan"), a.applyPlan)
	handleProgress(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/forks", "fork", "Create a fork"), a.createFork)
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/forks", "list-forks", "List forks"), func(ctx context.Context, in *workspacePath) (forkList, error) {
		all, err := a.Forks(ctx, in.Workspace)
		return forkList{nonNil(all)}, err
	})
}

func (a *api) planRestore(ctx context.Context, in *planInput) (retake.Plan, error) {
	p, err := a.PlanRestore(ctx, in.Body.request(in.Workspace))
	return fillPlan(p), err
}

// fillPlan replaces nil lists, which must not be null in JSON.
func fillPlan(p retake.Plan) retake.Plan {
	p.Writes, p.Deletes, p.Merges, p.Times = nonNil(p.Writes), nonNil(p.Deletes), nonNil(p.Merges), nonNil(p.Times)
	p.Keeps, p.Obstacles, p.Holders, p.Effects = nonNil(p.Keeps), nonNil(p.Obstacles), nonNil(p.Holders), nonNil(p.Effects)
	return p
}

func (b *planBody) request(ws retake.WorkspaceID) retake.PlanRequest {
	return retake.PlanRequest{Workspace: ws, Course: b.Course, Ref: b.Ref, Paths: textsOrRaw(b.Paths, b.PathsRaw), Git: b.Git, Fork: b.Fork, Edits: b.Edits, Session: b.Session, Hunks: b.Hunks, From: b.From, Asker: b.Asker}
}

// applyPlan applies a plan. It continues if the client disconnects: a restore that stops halfway
// is worse than either state.
func (a *api) applyPlan(ctx context.Context, in *restoreInput, tell func(retake.Progress)) (retake.RestoreResult, error) {
	ctx, end := a.workContext(ctx)
	defer end()
	b := in.Body
	plan := planBody{Course: b.Course, Ref: b.Ref, Paths: b.Paths, PathsRaw: b.PathsRaw, Git: b.Git, Fork: b.Fork, Edits: b.Edits, Session: b.Session, Hunks: b.Hunks, From: b.From, Asker: b.Asker}
	res, err := a.ApplyRestore(ctx, retake.ApplyRequest{
		PlanRequest: plan.request(in.Workspace), Digest: b.Digest, Accept: b.Accept, ID: checkpointIDFor(ctx, b.ID), Progress: tell,
	})
	res.Failed, res.Warnings = nonNil(res.Failed), nonNil(res.Warnings)
	return res, err
}

func (a *api) createFork(ctx context.Context, in *forkInput, tell func(retake.Progress)) (retake.ForkResult, error) {
	b := in.Body
	dir := textOrRaw(b.Dir, b.DirRaw)
	if err := a.checkWorkspaceDir(dir); err != nil {
		return retake.ForkResult{}, err
	}
	res, err := a.Fork(ctx, retake.ForkRequest{
		Workspace: in.Workspace, Ref: b.Ref, Dir: dir, Name: textOrRaw(b.Name, b.NameRaw), Throwaway: b.Throwaway, Progress: tell,
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
