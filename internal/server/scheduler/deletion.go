package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// runDueDeletion executes a deletion request whose grace period has ended. The next retention
// run frees the bytes.
func (t *Scheduler) runDueDeletion(ctx context.Context, due serverdb.Due) (time.Time, error) {
	book := t.opts.Ledger.Book(due.Namespace)
	d, err := book.Deletion(ctx, due.ID)
	switch {
	case errors.Is(err, serverdb.ErrNotFound) || err == nil && d.State != retake.DeletionWaiting:
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, fmt.Errorf("find deletion: %w", err)
	case d.Due.After(t.opts.Clock.Now()):
		return d.Due, nil
	}
	svc, release, err := t.opts.OpenService(ctx, due.Namespace)
	if err != nil {
		return time.Time{}, fmt.Errorf("open namespace: %w", err)
	}
	defer release()
	d.State, d.Note, err = forgetCheckpoints(withActor(ctx, retake.KeyMaintainer, "deletion "+d.ID), svc, d)
	if err != nil {
		return time.Time{}, err
	}
	now := t.opts.Clock.Now().UTC()
	d.Done = &now
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimLease)
	defer cancel()
	if err := book.PutDeletion(ctx, d); err != nil {
		return time.Time{}, fmt.Errorf("write down deletion: %w", err)
	}
	return time.Time{}, nil
}

// forgetCheckpoints deletes the checkpoints of a request that still exist, all of them or none.
// It returns the new state of the request and a note for people.
func forgetCheckpoints(ctx context.Context, svc retake.Service, d retake.Deletion) (retake.DeletionState, string, error) {
	var refs []string
	for _, id := range d.Checkpoints {
		_, err := svc.Find(ctx, d.Workspace, string(id))
		if retake.IsKind(err, retake.NotFound) { // deleted by another request, or by this one before a crash
			continue
		}
		if err != nil {
			return "", "", err
		}
		refs = append(refs, string(id))
	}
	gone := len(d.Checkpoints) - len(refs)
	if len(refs) == 0 {
		return retake.DeletionDone, "all were forgotten already", nil
	}
	stones, err := svc.Forget(ctx, d.Workspace, refs)
	if retake.IsKind(err, retake.Denied) {
		return retake.DeletionRefused, describeRefusal(ctx, svc, d, err), nil
	}
	if err != nil {
		return "", "", err
	}
	note := fmt.Sprintf("%d checkpoints were forgotten", len(stones))
	if gone > 0 {
		note += fmt.Sprintf(", %d were forgotten already", gone)
	}
	return retake.DeletionDone, note, nil
}

// describeRefusal names the pins and holds that prevent a deletion.
func describeRefusal(ctx context.Context, svc retake.Service, d retake.Deletion, cause error) string {
	line, err := svc.Log(ctx, retake.LogQuery{Workspace: d.Workspace, Limit: 1})
	if err != nil {
		return retake.AsError(cause).What
	}
	wanted := map[retake.CheckpointID]bool{}
	for _, id := range d.Checkpoints {
		wanted[id] = true
	}
	var kept []string
	for _, p := range line.Pins {
		if !wanted[p.Checkpoint] {
			continue
		}
		if name, held := strings.CutPrefix(p.Name, retake.HoldPrefix); held {
			kept = append(kept, fmt.Sprintf("checkpoint %d is held as %s", p.Number, name))
		} else {
			kept = append(kept, fmt.Sprintf("checkpoint %d is pinned as %s", p.Number, p.Name))
		}
	}
	for _, cp := range line.Checkpoints {
		if wanted[cp.ID] {
			kept = append(kept, fmt.Sprintf("checkpoint %d is the newest", cp.Number))
		}
	}
	if len(kept) == 0 {
		return retake.AsError(cause).What
	}
	return strings.Join(kept, ", ") + "; nothing was forgotten"
}
