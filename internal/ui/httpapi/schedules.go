package httpapi

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type cadenceQuery struct {
	Cron string `query:"cron" required:"true" doc:"Five cron fields, in UTC."`
}

type schedulePath struct {
	Schedule string `path:"schedule" doc:"The schedule's ID."`
}

// registerSchedules registers the routes for schedules.
func (a *api) registerSchedules() {
	handleOffice(a, withStatusCreated(newOperation(http.MethodPost, "/v1/schedules", "make-schedule", "Create a schedule")), func(ctx context.Context, o retake.Office, in *body[wire.ScheduleBody]) (retake.Schedule, error) {
		b := in.Body
		return o.MakeSchedule(ctx, retake.ScheduleRequest{Work: b.Work, Workspace: b.Workspace, Cron: b.Cron, Jitter: b.Jitter})
	})
	handleOffice(a, newOperation(http.MethodGet, "/v1/schedules", "list-schedules", "List schedules"), func(ctx context.Context, o retake.Office, in *pageQuery) (page[retake.Schedule], error) {
		all, err := o.Schedules(ctx)
		return pageFromList(a, "schedules", in, all, err, func(s *retake.Schedule) string { return s.ID })
	})
	handleOffice(a, newOperation(http.MethodGet, "/v1/view/cadence", "view-cadence", "Explain a cron line"), func(ctx context.Context, o retake.Office, in *cadenceQuery) (retake.Cadence, error) {
		c, err := o.ViewCadence(ctx, in.Cron)
		c.Next = nonNil(c.Next)
		return c, err
	})
	handleOfficeEmpty(a, newOperation(http.MethodDelete, "/v1/schedules/{schedule}", "drop-schedule", "Delete a schedule"), func(ctx context.Context, o retake.Office, in *schedulePath) error {
		return o.DropSchedule(ctx, in.Schedule)
	})
}

type auditQuery struct {
	Before int64  `query:"before" doc:"Continue below the entry with this number. cursor does the same."`
	Limit  int    `query:"limit" doc:"The largest number of results, up to 1000. Absent means 50."`
	Cursor string `query:"cursor" doc:"The next_cursor of the page before."`
	Order  string `query:"order" enum:"newest,oldest" doc:"Which entries come first: newest or oldest. Absent means newest."`
	After  int64  `query:"after" doc:"With the oldest first: continue behind the entry with this number, for example the last one that you exported."`
}

// oldestFirst reports whether the oldest entries come first, and returns what cursors are bound to.
func (q *auditQuery) oldestFirst() (up bool, filter string) {
	if q.Order == "oldest" {
		return true, "audit oldest first"
	}
	return false, "audit"
}

// registerAudit registers the routes for the audit log.
func (a *api) registerAudit() {
	handleOffice(a, newOperation(http.MethodGet, "/v1/audit", "audit", "List audit log entries"), func(ctx context.Context, o retake.Office, in *auditQuery) (page[retake.AuditEntry], error) {
		up, filter := in.oldestFirst()
		limit := (&pageQuery{Limit: in.Limit}).pageLimit()
		q := retake.AuditQuery{Before: in.Before, OldestFirst: up, After: in.After, Limit: limit + 1}
		from := &q.Before
		if up {
			from = &q.After
		}
		var err error
		if *from, err = a.cursorNumber(filter, in.Cursor, *from); err != nil {
			return page[retake.AuditEntry]{}, err
		}
		got, err := o.Audit(ctx, q)
		if err != nil {
			return page[retake.AuditEntry]{}, err
		}
		return pageFromFetched(a, filter, limit, got, func(e *retake.AuditEntry) string { return strconv.FormatInt(e.Seq, 10) }), nil
	})
	handleOffice(a, newOperation(http.MethodGet, "/v1/audit/check", "check-audit", "Verify the audit log"), func(ctx context.Context, o retake.Office, _ *struct{}) (retake.AuditProof, error) {
		return o.CheckAudit(ctx)
	})
}

type deletionPath struct {
	Deletion string `path:"deletion" doc:"The request's ID."`
}

type holdInput struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Body      wire.HoldBody
}

type releaseQuery struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	Name      string             `query:"name" required:"true" doc:"The hold's name."`
}

// registerDeletions registers the routes for deletion requests and legal holds.
func (a *api) registerDeletions() {
	handleOffice(a, withStatusAccepted(newOperation(http.MethodPost, "/v1/deletions", "request-deletion", "Request a deletion")), func(ctx context.Context, o retake.Office, in *body[wire.DeletionBody]) (retake.Deletion, error) {
		return fillDeletion(o.RequestDeletion(ctx, retake.DeletionRequest{Workspace: in.Body.Workspace, Refs: in.Body.Refs, Why: in.Body.Why}))
	})
	handleOffice(a, newOperation(http.MethodGet, "/v1/deletions", "list-deletions", "List deletion requests"), func(ctx context.Context, o retake.Office, in *pageQuery) (page[retake.Deletion], error) {
		all, err := o.Deletions(ctx)
		for i := range all {
			all[i].Checkpoints = nonNil(all[i].Checkpoints)
		}
		return pageFromList(a, "deletions", in, all, err, func(d *retake.Deletion) string { return d.ID })
	})
	handleOffice(a, newOperation(http.MethodDelete, "/v1/deletions/{deletion}", "cancel-deletion", "Cancel a deletion request"), func(ctx context.Context, o retake.Office, in *deletionPath) (retake.Deletion, error) {
		return fillDeletion(o.CancelDeletion(ctx, in.Deletion))
	})
	handleOffice(a, newOperation(http.MethodPost, "/v1/workspaces/{ws}/holds", "hold", "Put a legal hold on a checkpoint"), func(ctx context.Context, o retake.Office, in *holdInput) (retake.Pin, error) {
		return o.Hold(ctx, in.Workspace, in.Body.Ref, in.Body.Name)
	})
	handleOfficeEmpty(a, newOperation(http.MethodDelete, "/v1/workspaces/{ws}/holds", "release", "Release a legal hold"), func(ctx context.Context, o retake.Office, in *releaseQuery) error {
		return o.Release(ctx, in.Workspace, in.Name)
	})
}

// withStatusAccepted makes a route return 202.
func withStatusAccepted(o huma.Operation) huma.Operation {
	o.DefaultStatus = http.StatusAccepted
	return o
}

// fillDeletion replaces nil lists, which must not be null in JSON.
func fillDeletion(d retake.Deletion, err error) (retake.Deletion, error) {
	d.Checkpoints = nonNil(d.Checkpoints)
	return d, err
}
