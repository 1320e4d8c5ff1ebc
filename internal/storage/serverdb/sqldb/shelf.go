package sqldb

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// putValue adds or replaces the value of an id. verb returns the action to record, given the
// old value; "" records nothing. An equal value changes nothing.
func putValue[T any](ctx context.Context, b *Book, s jsonTable, what, id string, v T, verb func(was *T) string) error {
	raw, err := encodeJSON(v)
	if err != nil {
		return err
	}
	return b.l.inAuditedTx(ctx, b.ns, fmt.Sprintf("put %s %s", what, id), func(tx *sql.Tx) (auditAct, error) {
		was, old, err := findValue[T](ctx, tx, s, string(b.ns), id)
		if err != nil || bytes.Equal(raw, old) {
			return noAct, err
		}
		_, err = tx.ExecContext(ctx, s.put, string(b.ns), id, raw)
		return auditAct{verb(was), id}, err
	})
}

// findValue returns the value of an id and its bytes, or nil.
func findValue[T any](ctx context.Context, tx *sql.Tx, s jsonTable, ns, id string) (*T, []byte, error) {
	rows, err := queryList(ctx, tx, scanBytes, s.one, ns, id)
	if err != nil || len(rows) == 0 {
		return nil, nil, err
	}
	v := new(T)
	return v, rows[0], decodeJSON(rows[0], v)
}

func deleteValue(ctx context.Context, b *Book, s jsonTable, what, id string) error {
	return b.l.inAuditedTx(ctx, b.ns, fmt.Sprintf("drop %s %s", what, id), func(tx *sql.Tx) (auditAct, error) {
		if sanitizeText(id) != id {
			return noAct, serverdb.ErrNotFound
		}
		return auditAct{"drop " + what, id}, execRequired(ctx, tx, serverdb.ErrNotFound, s.drop, string(b.ns), id)
	})
}

// addOrChangeVerb returns the verb for rows that people add and change.
func addOrChangeVerb[T any](what string) func(was *T) string {
	return func(was *T) string {
		if was == nil {
			return "add " + what
		}
		return "change " + what
	}
}

// PutHook adds or replaces a webhook.
func (b *Book) PutHook(ctx context.Context, h serverdb.Hook) error {
	return putValue(ctx, b, hooks, "webhook", string(h.ID), h, addOrChangeVerb[serverdb.Hook]("webhook"))
}

// ChangeHook changes a webhook; its id stays. ErrNotFound.
func (b *Book) ChangeHook(ctx context.Context, id retake.WebhookID, change func(*serverdb.Hook) error) (serverdb.Hook, error) {
	var out serverdb.Hook
	err := b.l.inAuditedTx(ctx, b.ns, fmt.Sprintf("change webhook %s", id), func(tx *sql.Tx) (auditAct, error) {
		was, err := queryOne(ctx, tx, scanBytes, hooks.one, string(b.ns), string(id))
		if err != nil {
			return noAct, err
		}
		out = serverdb.Hook{}
		if err := decodeJSON(was, &out); err != nil {
			return noAct, err
		}
		if err := change(&out); err != nil {
			return noAct, err
		}
		out.ID = id
		raw, err := encodeJSON(out)
		if err != nil || bytes.Equal(raw, was) {
			return noAct, err
		}
		_, err = tx.ExecContext(ctx, hooks.put, string(b.ns), string(id), raw)
		return auditAct{"change webhook", string(id)}, err
	})
	return out, err
}

// Hook returns a webhook. ErrNotFound.
func (b *Book) Hook(ctx context.Context, id retake.WebhookID) (serverdb.Hook, error) {
	return findRow(ctx, b.l, b.ns, fmt.Sprintf("find webhook %s", id), scanJSON[serverdb.Hook], hooks.one, string(b.ns), string(id))
}

// Hooks lists all webhooks, oldest first.
func (b *Book) Hooks(ctx context.Context) ([]serverdb.Hook, error) {
	all, err := findRows(ctx, b.l, b.ns, "list webhooks", scanJSON[serverdb.Hook], hooks.all, string(b.ns))
	slices.SortFunc(all, func(a, b serverdb.Hook) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return all, err
}

// DropHook removes a webhook; its messages stay. ErrNotFound.
func (b *Book) DropHook(ctx context.Context, id retake.WebhookID) error {
	return deleteValue(ctx, b, hooks, "webhook", string(id))
}

// PutSchedule adds or replaces a schedule. A run is not audited, a change is.
func (b *Book) PutSchedule(ctx context.Context, s retake.Schedule) error {
	return putValue(ctx, b, schedules, "schedule", s.ID, s, func(was *retake.Schedule) string {
		if was != nil && isSameSchedule(*was, s) {
			return ""
		}
		return addOrChangeVerb[retake.Schedule]("schedule")(was)
	})
}

// isSameSchedule reports whether two schedules request the same, apart from their results.
func isSameSchedule(a, b retake.Schedule) bool {
	return a.Work == b.Work && a.Workspace == b.Workspace && a.Cron == b.Cron && a.Jitter == b.Jitter && a.Created.Equal(b.Created)
}

// Schedule returns a schedule. ErrNotFound.
func (b *Book) Schedule(ctx context.Context, id string) (retake.Schedule, error) {
	return findRow(ctx, b.l, b.ns, fmt.Sprintf("find schedule %s", id), scanJSON[retake.Schedule], schedules.one, string(b.ns), id)
}

// Schedules lists all schedules, oldest first.
func (b *Book) Schedules(ctx context.Context) ([]retake.Schedule, error) {
	all, err := findRows(ctx, b.l, b.ns, "list schedules", scanJSON[retake.Schedule], schedules.all, string(b.ns))
	slices.SortFunc(all, func(a, b retake.Schedule) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}

// DropSchedule removes a schedule. ErrNotFound.
func (b *Book) DropSchedule(ctx context.Context, id string) error {
	return deleteValue(ctx, b, schedules, "schedule", id)
}

// PutDeletion adds or replaces a request to delete. Its state decides which action is
// recorded.
func (b *Book) PutDeletion(ctx context.Context, d retake.Deletion) error {
	return putValue(ctx, b, deletions, "deletion", d.ID, d, func(*retake.Deletion) string {
		switch d.State {
		case retake.DeletionWaiting:
			return "ask for deletion"
		case retake.DeletionCanceled:
			return "cancel deletion"
		case retake.DeletionDone:
			return "finish deletion"
		case retake.DeletionRefused:
			return "refuse deletion"
		}
		return "change deletion"
	})
}

// Deletion returns a request to delete. ErrNotFound.
func (b *Book) Deletion(ctx context.Context, id string) (retake.Deletion, error) {
	return findRow(ctx, b.l, b.ns, fmt.Sprintf("find deletion %s", id), scanJSON[retake.Deletion], deletions.one, string(b.ns), id)
}

// Deletions lists all requests to delete, oldest first.
func (b *Book) Deletions(ctx context.Context) ([]retake.Deletion, error) {
	all, err := findRows(ctx, b.l, b.ns, "list deletions", scanJSON[retake.Deletion], deletions.all, string(b.ns))
	slices.SortFunc(all, func(a, b retake.Deletion) int { return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.ID, b.ID)) })
	return all, err
}
