package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/retake-dev/retake"
)

type saveInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Body      *saveBody
}

type saveBody struct {
	ID        retake.CheckpointID `json:"id,omitempty" doc:"Made by the asker, cp_ and a UUID, so that asking again adds nothing. Empty: made here."`
	Intent    string              `json:"intent,omitempty" doc:"Why this checkpoint is worth recording."`
	Trigger   retake.Trigger      `json:"trigger,omitempty"`
	Pin       string              `json:"pin,omitempty" doc:"Pin it under this name."`
	Budget    time.Duration       `json:"budget,omitempty" doc:"Nanoseconds. A capture that takes longer seals what it has first."`
	IfChanged bool                `json:"if_changed,omitempty" doc:"Add no checkpoint when no file changed."`
}

type logQuery struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Since     time.Time          `query:"since" doc:"Not older than this."`
	Before    int64              `query:"before" doc:"A number; continue below it."`
	Limit     int                `query:"limit" doc:"At most so many. Absent: all."`
	Good      bool               `query:"good" doc:"Only good ones."`
	Path      string             `query:"path" doc:"Only those in which this path, or something below it, changed."`
	Session   string             `query:"session" doc:"Only those of the session of an agent that begins so, or of the agent of that name."`
}

type refQuery struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Ref       string             `query:"ref" doc:"A number, a time, latest, start, an id, or the name of a pin."`
}

func (a *api) recording() {
	progressive(a, op(http.MethodPost, "/v1/workspaces/{ws}/checkpoints", "save", "Take a checkpoint"), a.save)
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/checkpoints", "log", "A part of the timeline, newest first"), func(ctx context.Context, in *logQuery) (retake.Timeline, error) {
		t, err := a.Log(ctx, retake.LogQuery{
			Workspace: in.Workspace, Since: in.Since, Before: in.Before, Limit: in.Limit, Good: in.Good, Path: in.Path, Session: in.Session,
		})
		if t.Findings == nil {
			t.Findings = map[retake.CheckpointID]retake.Finding{}
		}
		return t, err
	})
	answer(a, op(http.MethodGet, "/v1/workspaces/{ws}/find", "find", "The checkpoint that a ref names"), func(ctx context.Context, in *refQuery) (retake.Checkpoint, error) {
		return a.Find(ctx, in.Workspace, in.Ref)
	})
}

func (a *api) save(ctx context.Context, in *saveInput, tell func(retake.Progress)) (retake.SaveResult, error) {
	ctx, end := a.carried(ctx)
	defer end()
	var b saveBody
	if in.Body != nil {
		b = *in.Body
	}
	return a.Save(ctx, retake.SaveRequest{
		Workspace: in.Workspace, ID: checkpoint(ctx, b.ID), Intent: b.Intent, Trigger: b.Trigger, Pin: b.Pin,
		Budget: b.Budget, IfChanged: b.IfChanged, Progress: tell,
	})
}
