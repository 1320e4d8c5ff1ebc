package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
)

type scheduleBody struct {
	Work      retake.ScheduleWork `json:"work" doc:"save, retain or drill."`
	Workspace retake.WorkspaceID  `json:"workspace,omitempty" doc:"For checkpoints. Empty: the default one."`
	Cron      string              `json:"cron" doc:"Five fields, in UTC."`
	Jitter    time.Duration       `json:"jitter,omitempty" doc:"Nanoseconds; each run begins up to so much later."`
}

type schedulePath struct {
	Schedule string `path:"schedule" doc:"The id of the schedule."`
}

func (a *api) scheduling() {
	offered(a, made(op(http.MethodPost, "/v1/schedules", "make-schedule", "Do something on a cadence")), func(ctx context.Context, o retake.Office, in *body[scheduleBody]) (retake.Schedule, error) {
		b := in.Body
		return o.MakeSchedule(ctx, retake.ScheduleRequest{Work: b.Work, Workspace: b.Workspace, Cron: b.Cron, Jitter: b.Jitter})
	})
	offered(a, op(http.MethodGet, "/v1/schedules", "list-schedules", "All schedules, and how they went"), func(ctx context.Context, o retake.Office, in *pageQuery) (page[retake.Schedule], error) {
		all, err := o.Schedules(ctx)
		return paged(a, "schedules", in, all, err, func(s *retake.Schedule) string { return s.ID })
	})
	ordered(a, op(http.MethodDelete, "/v1/schedules/{schedule}", "drop-schedule", "End a schedule"), func(ctx context.Context, o retake.Office, in *schedulePath) error {
		return o.DropSchedule(ctx, in.Schedule)
	})
}

type auditQuery struct {
	Before int64  `query:"before" doc:"The number of an entry; go on below it. A cursor does the same."`
	Limit  int    `query:"limit" doc:"At most so many, and at most 1000. Absent: 50."`
	Cursor string `query:"cursor" doc:"The next_cursor of the part before."`
}

func (a *api) auditing() {
	offered(a, op(http.MethodGet, "/v1/audit", "audit", "Who did what, newest first"), func(ctx context.Context, o retake.Office, in *auditQuery) (page[retake.AuditEntry], error) {
		before, err := a.more("audit", in.Cursor, in.Before)
		if err != nil {
			return page[retake.AuditEntry]{}, err
		}
		limit := (&pageQuery{Limit: in.Limit}).limit()
		got, err := o.Audit(ctx, retake.AuditQuery{Before: before, Limit: limit + 1})
		if err != nil {
			return page[retake.AuditEntry]{}, err
		}
		return part(a, "audit", limit, got, func(e *retake.AuditEntry) string { return strconv.FormatInt(e.Seq, 10) }), nil
	})
	offered(a, op(http.MethodGet, "/v1/audit/check", "check-audit", "Read the whole audit log, and every anchor"), func(ctx context.Context, o retake.Office, _ *struct{}) (retake.AuditProof, error) {
		return o.CheckAudit(ctx)
	})
}

type deletionBody struct {
	Workspace retake.WorkspaceID `json:"workspace" doc:"The id of the workspace."`
	Refs      []string           `json:"refs" nullable:"false" doc:"What is to go."`
	Why       string             `json:"why,omitempty" doc:"For people, and for the audit log."`
}

type deletionPath struct {
	Deletion string `path:"deletion" doc:"The id of the request."`
}

type holdInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Body      holdBody
}

type holdBody struct {
	Ref  string `json:"ref" doc:"What to hold."`
	Name string `json:"name" doc:"The name of the hold."`
}

type releaseQuery struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The id of the workspace."`
	Name      string             `query:"name" required:"true" doc:"The name of the hold."`
}

func (a *api) erasing() {
	offered(a, accepted(op(http.MethodPost, "/v1/deletions", "request-deletion", "Ask for deletion; it is done when the grace ends")), func(ctx context.Context, o retake.Office, in *body[deletionBody]) (retake.Deletion, error) {
		return gone(o.RequestDeletion(ctx, retake.DeletionRequest{Workspace: in.Body.Workspace, Refs: in.Body.Refs, Why: in.Body.Why}))
	})
	offered(a, op(http.MethodGet, "/v1/deletions", "list-deletions", "All requests to delete"), func(ctx context.Context, o retake.Office, in *pageQuery) (page[retake.Deletion], error) {
		all, err := o.Deletions(ctx)
		for i := range all {
			all[i].Checkpoints = filled(all[i].Checkpoints)
		}
		return paged(a, "deletions", in, all, err, func(d *retake.Deletion) string { return d.ID })
	})
	offered(a, op(http.MethodDelete, "/v1/deletions/{deletion}", "cancel-deletion", "Take a request to delete back"), func(ctx context.Context, o retake.Office, in *deletionPath) (retake.Deletion, error) {
		return gone(o.CancelDeletion(ctx, in.Deletion))
	})
	offered(a, op(http.MethodPost, "/v1/workspaces/{ws}/holds", "hold", "Keep a checkpoint by law"), func(ctx context.Context, o retake.Office, in *holdInput) (retake.Pin, error) {
		return o.Hold(ctx, in.Workspace, in.Body.Ref, in.Body.Name)
	})
	ordered(a, op(http.MethodDelete, "/v1/workspaces/{ws}/holds", "release", "End a hold"), func(ctx context.Context, o retake.Office, in *releaseQuery) error {
		return o.Release(ctx, in.Workspace, in.Name)
	})
}

// accepted is the description of a route that begins something.
func accepted(o huma.Operation) huma.Operation {
	o.DefaultStatus = http.StatusAccepted
	return o
}

func gone(d retake.Deletion, err error) (retake.Deletion, error) {
	d.Checkpoints = filled(d.Checkpoints)
	return d, err
}
