package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// admin is the part of a Client that is retake.Office: the namespace of a server with its keys,
// schedules, webhooks, deletions and audit log.
type admin struct{ conn *conn }

// Namespace returns the namespace of the key.
func (c *admin) Namespace(ctx context.Context) (retake.Namespace, error) {
	return callJSON[retake.Namespace](ctx, c.conn, newGet(nil, "namespace"))
}

// Usage returns what the namespace uses of its limits.
func (c *admin) Usage(ctx context.Context) (retake.Usage, error) {
	return callJSON[retake.Usage](ctx, c.conn, newGet(nil, "usage"))
}

// SetLimits replaces the limits.
func (c *admin) SetLimits(ctx context.Context, q retake.LimitsRequest) (retake.Namespace, error) {
	return c.putLimits(ctx, q, "namespace", "limits")
}

func (c *admin) putLimits(ctx context.Context, q retake.LimitsRequest, parts ...string) (retake.Namespace, error) {
	if q.IfVersion != "" {
		ctx = retake.IfVersion(ctx, q.IfVersion)
	}
	return callJSON[retake.Namespace](ctx, c.conn, newPut(ctx, wire.NewLimitsBody(q.Limits), parts...))
}

// Import creates a workspace from an archive. It is sent only once, because the archive cannot
// be read again.
func (c *admin) Import(ctx context.Context, req retake.ImportRequest, archive io.Reader) (retake.SaveResult, error) {
	a := newRequest(http.MethodPost, nil, "import")
	a.query = setNonEmpty(url.Values{}, "name", req.Name, "intent", req.Intent)
	a.stream = io.NopCloser(archive) // the caller closes it
	return callJSON[retake.SaveResult](ctx, c.conn, a)
}

// setNonEmpty adds the pairs whose value is not empty.
func setNonEmpty(v url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	return v
}

// listAll returns all pages of a list.
func listAll[T any](ctx context.Context, c *conn, parts ...string) ([]T, error) {
	var out []T
	v := url.Values{"limit": {strconv.Itoa(wire.MaxPage)}}
	for {
		p, err := callJSON[wire.Page[T]](ctx, c, newGet(v, parts...))
		if err != nil {
			return nil, err
		}
		if out = append(out, p.Data...); p.NextCursor == "" {
			return out, nil
		}
		v = url.Values{"limit": {strconv.Itoa(wire.MaxPage)}, "cursor": {p.NextCursor}}
	}
}

// MakeKey creates a key. Its secret is returned only once.
func (c *admin) MakeKey(ctx context.Context, req retake.KeyRequest) (retake.NewKey, error) {
	return callJSON[retake.NewKey](ctx, c.conn, newRequest(http.MethodPost, wire.KeyBody(req), "keys"))
}

// Keys lists all keys, including expired and revoked ones.
func (c *admin) Keys(ctx context.Context) ([]retake.Key, error) {
	return listAll[retake.Key](ctx, c.conn, "keys")
}

// RevokeKey revokes a key at once.
func (c *admin) RevokeKey(ctx context.Context, id retake.KeyID) (retake.Key, error) {
	a := newRequest(http.MethodDelete, nil, "keys", string(id))
	a.idempotent = true
	return callJSON[retake.Key](ctx, c.conn, a)
}

// MakeSchedule adds a schedule.
func (c *admin) MakeSchedule(ctx context.Context, req retake.ScheduleRequest) (retake.Schedule, error) {
	return callJSON[retake.Schedule](ctx, c.conn, newRequest(http.MethodPost, wire.ScheduleBody(req), "schedules"))
}

// Schedules lists all schedules.
func (c *admin) Schedules(ctx context.Context) ([]retake.Schedule, error) {
	return listAll[retake.Schedule](ctx, c.conn, "schedules")
}

// ViewCadence says when a cron line is due.
func (c *admin) ViewCadence(ctx context.Context, cron string) (retake.Cadence, error) {
	return callJSON[retake.Cadence](ctx, c.conn, newGet(url.Values{"cron": {cron}}, "view", "cadence"))
}

// DropSchedule deletes a schedule.
func (c *admin) DropSchedule(ctx context.Context, id string) error {
	return c.conn.sendDelete(ctx, newRequest(http.MethodDelete, nil, "schedules", id))
}

// Audit lists audit log entries, newest first or as the query says.
func (c *admin) Audit(ctx context.Context, q retake.AuditQuery) ([]retake.AuditEntry, error) {
	v := withLimit(url.Values{}, q.Limit)
	if q.Before != 0 {
		v.Set("before", strconv.FormatInt(q.Before, 10))
	}
	if q.OldestFirst {
		v.Set("order", "oldest")
		v.Set("after", strconv.FormatInt(q.After, 10))
	}
	p, err := callJSON[wire.Page[retake.AuditEntry]](ctx, c.conn, newGet(v, "audit"))
	return p.Data, err
}

// CheckAudit verifies the whole audit log.
func (c *admin) CheckAudit(ctx context.Context) (retake.AuditProof, error) {
	return callJSON[retake.AuditProof](ctx, c.conn, newGet(nil, "audit", "check"))
}

// RequestDeletion requests a deletion, which takes place when the grace period ends.
func (c *admin) RequestDeletion(ctx context.Context, req retake.DeletionRequest) (retake.Deletion, error) {
	req.Refs = append([]string{}, req.Refs...)
	return callJSON[retake.Deletion](ctx, c.conn, newRequest(http.MethodPost, wire.DeletionBody(req), "deletions"))
}

// Deletions lists all deletion requests.
func (c *admin) Deletions(ctx context.Context) ([]retake.Deletion, error) {
	return listAll[retake.Deletion](ctx, c.conn, "deletions")
}

// CancelDeletion cancels a deletion request.
func (c *admin) CancelDeletion(ctx context.Context, id string) (retake.Deletion, error) {
	return callJSON[retake.Deletion](ctx, c.conn, newRequest(http.MethodDelete, nil, "deletions", id))
}

// Hold puts a legal hold on a checkpoint.
func (c *admin) Hold(ctx context.Context, ws retake.WorkspaceID, ref, name string) (retake.Pin, error) {
	return callJSON[retake.Pin](ctx, c.conn, newRequest(http.MethodPost, wire.HoldBody{Ref: ref, Name: name}, "workspaces", string(ws), "holds"))
}

// Release removes a legal hold.
func (c *admin) Release(ctx context.Context, ws retake.WorkspaceID, name string) error {
	a := newRequest(http.MethodDelete, nil, "workspaces", string(ws), "holds")
	a.query = url.Values{"name": {name}}
	return c.conn.sendDelete(ctx, a)
}
