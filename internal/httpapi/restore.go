package httpapi

import (
	"context"
	"net/http"

	"github.com/retake-dev/retake"
)

type planInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Body      planBody
}

type planBody struct {
	Course   retake.Course      `json:"course" doc:"restore, undo, redo, adopt, finish or unwind."`
	Ref      string             `json:"ref,omitempty" doc:"The checkpoint gone to, or the item that undo takes back. Empty: the newest one."`
	Paths    []string           `json:"paths,omitempty" nullable:"false" doc:"Below the root of the workspace. None: everything."`
	PathsRaw [][]byte           `json:"paths_raw,omitempty" nullable:"false" doc:"The bytes of all paths, when one of them is not UTF-8."`
	Git      bool               `json:"git,omitempty" doc:"Also replace repositories that are there."`
	Fork     retake.WorkspaceID `json:"fork,omitempty" doc:"The fork to adopt."`
	Edits    bool               `json:"edits,omitempty" doc:"With the course undo: discard the unsaved edits instead of the last recorded change."`
	Session  string             `json:"session,omitempty" doc:"With the course undo: take back all turns of this session, named by the beginning of its id, by its agent, or as last."`
	Hunks    []retake.Hunk      `json:"hunks,omitempty" nullable:"false" doc:"With the course undo, a ref and one path: take back these hunks of the diff between from and ref."`
	From     string             `json:"from,omitempty" doc:"The checkpoint that the hunks were compared with."`
	Asker    int                `json:"asker,omitempty" doc:"The process that asks on this machine. A turn that it runs in is no reason to ask."`
}

type restoreInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Body      restoreBody
}

// restoreBody begins as planBody does: the router does not look into what is
// embedded and has no name outside.
type restoreBody struct {
	Course   retake.Course       `json:"course" doc:"As in the plan."`
	Ref      string              `json:"ref,omitempty" doc:"As in the plan."`
	Paths    []string            `json:"paths,omitempty" nullable:"false" doc:"As in the plan."`
	PathsRaw [][]byte            `json:"paths_raw,omitempty" nullable:"false" doc:"The bytes of all paths, when one of them is not UTF-8."`
	Git      bool                `json:"git,omitempty" doc:"As in the plan."`
	Fork     retake.WorkspaceID  `json:"fork,omitempty" doc:"As in the plan."`
	Edits    bool                `json:"edits,omitempty" doc:"As in the plan."`
	Session  string              `json:"session,omitempty" doc:"As in the plan."`
	Hunks    []retake.Hunk       `json:"hunks,omitempty" nullable:"false" doc:"As in the plan."`
	From     string              `json:"from,omitempty" doc:"As in the plan."`
	Asker    int                 `json:"asker,omitempty" doc:"As in the plan."`
	Digest   string              `json:"digest" doc:"Of the plan that was seen, or its first eight characters with or without a dash."`
	Accept   []string            `json:"accept,omitempty" nullable:"false" doc:"Classes of obstacles that were consented to."`
	ID       retake.CheckpointID `json:"id,omitempty" doc:"Of the checkpoint of the restore, made by the asker, cp_ and a UUID, so that asking again adds nothing. Empty: made here."`
}

type forkInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Body      forkBody
}

type forkBody struct {
	Ref       string `json:"ref,omitempty" doc:"The checkpoint it grows from."`
	Dir       string `json:"dir,omitempty" doc:"From the root of the machine that answers. It does not exist, or is empty. A server makes one by name when there is none."`
	DirRaw    []byte `json:"dir_raw,omitempty" doc:"The bytes of dir, when they are not UTF-8."`
	Name      string `json:"name,omitempty" doc:"Empty: the directory's own."`
	NameRaw   []byte `json:"name_raw,omitempty" doc:"The bytes of name, when they are not UTF-8."`
	Throwaway bool   `json:"throwaway,omitempty" doc:"It protects nothing; who asked for it removes it."`
}

type forkList struct {
	Forks []retake.WorkspaceState `json:"forks" nullable:"false"`
}

func (a *api) returning() {
	answer(a, op(http.MethodPost, "/v1/workspaces/{ws}/plans", "plan", "What going back would do; nothing is touched"), a.plan)
	progressive(a, op(http.MethodPost, "/v1/workspaces/{ws}/restores", "restore", "Do exactly the plan with this digest"), a.restore)
	progressive(a, op(http.MethodPost, "/v1/workspaces/{ws}/forks", "fork", "Grow a new workspace from a checkpoint"), a.fork)
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/forks", "list-forks", "The forks of a workspace"), func(ctx context.Context, in *inWorkspace) (forkList, error) {
		all, err := a.Forks(ctx, in.Workspace)
		return forkList{filled(all)}, err
	})
}

func (a *api) plan(ctx context.Context, in *planInput) (retake.Plan, error) {
	p, err := a.PlanRestore(ctx, in.Body.request(in.Workspace))
	return filledPlan(p), err
}

func filledPlan(p retake.Plan) retake.Plan {
	p.Writes, p.Deletes, p.Merges, p.Times = filled(p.Writes), filled(p.Deletes), filled(p.Merges), filled(p.Times)
	p.Keeps, p.Obstacles, p.Holders, p.Effects = filled(p.Keeps), filled(p.Obstacles), filled(p.Holders), filled(p.Effects)
	return p
}

func (b *planBody) request(ws retake.WorkspaceID) retake.PlanRequest {
	return retake.PlanRequest{Workspace: ws, Course: b.Course, Ref: b.Ref, Paths: wholes(b.Paths, b.PathsRaw), Git: b.Git, Fork: b.Fork, Edits: b.Edits, Session: b.Session, Hunks: b.Hunks, From: b.From, Asker: b.Asker}
}

// restore goes to its end when the asker goes away: files that are half old and
// half new are worse than either.
func (a *api) restore(ctx context.Context, in *restoreInput, tell func(retake.Progress)) (retake.RestoreResult, error) {
	ctx, end := a.carried(ctx)
	defer end()
	b := in.Body
	plan := planBody{Course: b.Course, Ref: b.Ref, Paths: b.Paths, PathsRaw: b.PathsRaw, Git: b.Git, Fork: b.Fork, Edits: b.Edits, Session: b.Session, Hunks: b.Hunks, From: b.From, Asker: b.Asker}
	res, err := a.ApplyRestore(ctx, retake.ApplyRequest{
		PlanRequest: plan.request(in.Workspace), Digest: b.Digest, Accept: b.Accept, ID: checkpoint(ctx, b.ID), Progress: tell,
	})
	res.Failed, res.Warnings = filled(res.Failed), filled(res.Warnings)
	return res, err
}

func (a *api) fork(ctx context.Context, in *forkInput, tell func(retake.Progress)) (retake.ForkResult, error) {
	b := in.Body
	dir := whole(b.Dir, b.DirRaw)
	if err := a.place(dir); err != nil {
		return retake.ForkResult{}, err
	}
	res, err := a.Fork(ctx, retake.ForkRequest{
		Workspace: in.Workspace, Ref: b.Ref, Dir: dir, Name: whole(b.Name, b.NameRaw), Throwaway: b.Throwaway, Progress: tell,
	})
	res.Warnings = filled(res.Warnings)
	return res, err
}

// wholes are the texts, or their bytes when they came beside them.
func wholes(texts []string, raw [][]byte) []string {
	if raw == nil {
		return texts
	}
	out := make([]string, len(raw))
	for i, b := range raw {
		out[i] = string(b)
	}
	return out
}
