package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type saveInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      *wire.SaveBody
}

// LogParams choose a part of the timeline.
type LogParams struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Since     time.Time          `query:"since" doc:"Only checkpoints that are not older than this time."`
	Before    int64              `query:"before" doc:"Only checkpoints below this number, to get the next part."`
	Limit     int                `query:"limit" doc:"The largest number of checkpoints to return. Absent means all."`
	Good      bool               `query:"good" doc:"If true, only good checkpoints."`
	Path      string             `query:"path" doc:"Only checkpoints in which this path, or something below it, changed."`
	Session   string             `query:"session" doc:"Only checkpoints of the session whose ID starts with this, or of the agent with this name."`
}

func (in *LogParams) query() retake.LogQuery {
	return retake.LogQuery{
		Workspace: in.Workspace, Since: in.Since, Before: in.Before, Limit: in.Limit, Good: in.Good, Path: in.Path, Session: in.Session,
	}
}

type logQuery struct {
	LogParams
	Cursor string `query:"cursor" doc:"The next_cursor of the page before."`
}

type timelineQuery struct {
	LogParams
	Open         []string `query:"open,explode" doc:"The keys of folded rows to open."`
	FoldReplaced bool     `query:"fold_replaced" doc:"If true, checkpoints that a restore replaced are folded into one row."`
	Now          bool     `query:"now" doc:"If true, the first row says what changed since the newest checkpoint. It is waited for briefly."`
	Flat         bool     `query:"flat" doc:"If true, there is one row for each checkpoint, without folds, forks and a graph."`
	Graph        bool     `query:"graph" doc:"If true, rows of checkpoints have a kind, a key, a number and a place in the graph, and nothing else; folded rows don't list what is inside. Ask for the rest with flat=true, page by page."`
}

type refQuery struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Ref       string             `query:"ref" doc:"Which checkpoint: a number such as 14, a time such as 10:27 or 2h, latest, start, good, an ID, or a pin."`
}

// registerCheckpoints registers the routes that create and list checkpoints.
func (a *api) registerCheckpoints() {
	handleProgress(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/checkpoints", "save", "Create a checkpoint"), a.saveCheckpoint)
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/checkpoints", "log", "List checkpoints"), func(ctx context.Context, in *logQuery) (retake.Timeline, error) {
		return a.logPage(ctx, in)
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/view/timeline", "view-timeline", "Arrange checkpoints in rows"), func(ctx context.Context, in *timelineQuery) (retake.TimelineView, error) {
		return a.ViewTimeline(ctx, retake.TimelineQuery{LogQuery: in.query(), Open: in.Open, FoldReplaced: in.FoldReplaced, Now: in.Now, Flat: in.Flat, Graph: in.Graph})
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces/{ws}/find", "find", "Find a checkpoint"), func(ctx context.Context, in *refQuery) (retake.Checkpoint, error) {
		return a.Find(ctx, in.Workspace, in.Ref)
	})
}

// logPage returns a page of checkpoints, newest first. The cursor has the number of the last one.
func (a *api) logPage(ctx context.Context, in *logQuery) (retake.Timeline, error) {
	q := in.query()
	filter := fmt.Sprintf("log %s %s %t %q %q", in.Workspace, in.Since, in.Good, in.Path, in.Session)
	var err error
	if q.Before, err = a.cursorNumber(filter, in.Cursor, in.Before); err != nil {
		return retake.Timeline{}, err
	}
	if q.Limit > 0 {
		q.Limit++ // tells whether there is another page
	}
	t, err := a.Log(ctx, q)
	if t.Findings == nil {
		t.Findings = map[retake.CheckpointID]retake.Finding{}
	}
	if n := q.Limit - 1; n > 0 && len(t.Checkpoints) > n {
		delete(t.Findings, t.Checkpoints[n].ID)
		t.Checkpoints = t.Checkpoints[:n]
		t.NextCursor = a.cursors.Seal(filter, strconv.FormatInt(t.Checkpoints[n-1].Number, 10))
	}
	return t, err
}

func (a *api) saveCheckpoint(ctx context.Context, in *saveInput, tell func(retake.Progress)) (retake.SaveResult, error) {
	ctx, end := a.workContext(ctx)
	defer end()
	var b wire.SaveBody
	if in.Body != nil {
		b = *in.Body
	}
	return a.Save(ctx, retake.SaveRequest{
		Workspace: in.Workspace, ID: checkpointIDFor(ctx, b.ID), Intent: b.Intent, Trigger: b.Trigger, Pin: b.Pin,
		Budget: b.Budget, IfChanged: b.IfChanged, Progress: tell,
	})
}
