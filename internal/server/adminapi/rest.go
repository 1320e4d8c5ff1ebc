package adminapi

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/archive"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/internal/storage/serverdb/sqldb"
	"github.com/retake-dev/retake/internal/view"
)

// MakeSchedule adds a schedule and queues its first run.
func (o *Office) MakeSchedule(ctx context.Context, req retake.ScheduleRequest) (retake.Schedule, error) {
	if req.Work == retake.WorkSave && req.Workspace == "" {
		req.Workspace = o.CurrentNamespace().Default
	}
	if req.Workspace != "" {
		if _, err := o.Service.Log(ctx, retake.LogQuery{Workspace: req.Workspace, Limit: 1}); err != nil {
			return retake.Schedule{}, err
		}
	}
	s, err := o.PlanSchedule(req, o.Clock.Now())
	if err != nil {
		return s, err
	}
	if s.ID, err = newID("sch_"); err != nil {
		return s, err
	}
	if err := o.book.PutSchedule(ctx, s); err != nil {
		return s, err
	}
	return s, o.Ledger.Put(ctx, serverdb.Due{Queue: serverdb.QueueSchedule, Namespace: o.Options.Namespace, ID: s.ID, At: s.Next})
}

// ViewCadence says when a cron line is due.
func (o *Office) ViewCadence(_ context.Context, cron string) (retake.Cadence, error) {
	return view.OfCadence(cron, o.Clock.Now())
}

// Schedules lists all schedules.
func (o *Office) Schedules(ctx context.Context) ([]retake.Schedule, error) {
	return o.book.Schedules(ctx)
}

// DropSchedule deletes a schedule. A run in progress is not stopped.
func (o *Office) DropSchedule(ctx context.Context, id string) error {
	return notFoundError("schedule", o.book.DropSchedule(ctx, id))
}

// Audit lists audit log entries, newest first.
func (o *Office) Audit(ctx context.Context, q retake.AuditQuery) ([]retake.AuditEntry, error) {
	return o.book.Audit(ctx, q)
}

// CheckAudit verifies the whole hash chain and its anchors.
func (o *Office) CheckAudit(ctx context.Context) (retake.AuditProof, error) {
	outside, err := o.KeptAnchors(ctx) // before the log is read: it may only grow since
	if err != nil {
		return retake.AuditProof{}, err
	}
	p, err := sqldb.Check(ctx, o.Options.Namespace, o.book, o.VerifyAnchor, outside...)
	p.Public = o.AnchorPublicKey
	return p, err
}

// RequestDeletion records which checkpoints to delete when the grace period ends. Pins and
// holds are checked only then.
func (o *Office) RequestDeletion(ctx context.Context, req retake.DeletionRequest) (retake.Deletion, error) {
	if len(req.Refs) == 0 {
		return retake.Deletion{}, invalidError("no checkpoint is named")
	}
	now := o.Clock.Now()
	d := retake.Deletion{Workspace: req.Workspace, Why: req.Why, State: retake.DeletionWaiting, Asked: now, Due: now.Add(o.CurrentNamespace().Limits.Grace)}
	for _, ref := range req.Refs {
		cp, err := o.Service.Find(ctx, req.Workspace, ref)
		if err != nil {
			return d, err
		}
		d.Checkpoints = append(d.Checkpoints, cp.ID)
	}
	var err error
	if d.ID, err = newID("del_"); err != nil {
		return d, err
	}
	if err := o.book.PutDeletion(ctx, d); err != nil {
		return d, err
	}
	return d, o.Ledger.Put(ctx, serverdb.Due{Queue: serverdb.QueueDeletion, Namespace: o.Options.Namespace, ID: d.ID, At: d.Due})
}

// Deletions lists all deletion requests.
func (o *Office) Deletions(ctx context.Context) ([]retake.Deletion, error) {
	return o.book.Deletions(ctx)
}

// CancelDeletion cancels a deletion request during its grace period.
func (o *Office) CancelDeletion(ctx context.Context, id string) (retake.Deletion, error) {
	d, err := o.book.Deletion(ctx, id)
	if err != nil {
		return d, notFoundError("request to delete", err)
	}
	if d.State != retake.DeletionWaiting {
		return d, &retake.Error{Kind: retake.Moved, What: fmt.Sprintf("the request is %s", d.State), Safe: unchanged}
	}
	d.State = retake.DeletionCanceled
	return d, o.book.PutDeletion(ctx, d)
}

// Hold puts a legal hold on a checkpoint: a pin that Unpin does not remove.
func (o *Office) Hold(ctx context.Context, ws retake.WorkspaceID, ref, name string) (retake.Pin, error) {
	p, err := o.Options.PinHold(ctx, ws, ref, retake.HoldPrefix+strings.TrimPrefix(name, retake.HoldPrefix))
	if err == nil {
		err = o.book.Note(ctx, "hold", string(p.Checkpoint))
	}
	return p, err
}

// Release removes a legal hold.
func (o *Office) Release(ctx context.Context, ws retake.WorkspaceID, name string) error {
	name = retake.HoldPrefix + strings.TrimPrefix(name, retake.HoldPrefix)
	if err := o.Options.UnpinHold(ctx, ws, name); err != nil {
		return err
	}
	return o.book.Note(ctx, "release hold", name)
}

// Import extracts an archive into a new workspace. If the archive is refused, its directory is
// removed again.
func (o *Office) Import(ctx context.Context, req retake.ImportRequest, r io.Reader) (retake.SaveResult, error) {
	if err := o.waitForImports(ctx); err != nil {
		return retake.SaveResult{}, err
	}
	defer func() { <-o.importSlot }()
	dir, drop, err := o.MakeHostedDir(req.Name)
	if err != nil {
		return retake.SaveResult{}, err
	}
	root, err := fsx.OS().OpenRoot(dir)
	if err != nil {
		drop()
		return retake.SaveResult{}, fmt.Errorf("open a new directory: %w", err)
	}
	defer root.Close() //nolint:errcheck // synced by then
	report, err := archive.Extract(ctx, r, root, archive.Limits{Bytes: o.CurrentNamespace().Limits.Checkpoint, Ratio: maxImportRatio, Room: o.AvailableBytes})
	if err == nil {
		err = o.CheckMayAdd(ctx, report.Bytes)
	}
	if err != nil {
		drop()
		return retake.SaveResult{}, err
	}
	res, err := o.Service.Init(ctx, retake.InitRequest{Dir: dir, Name: req.Name})
	if err != nil {
		if !o.isProtected(ctx, dir) {
			drop()
		}
		return retake.SaveResult{}, err
	}
	if req.Intent != "" {
		saved, err := o.Service.Save(ctx, retake.SaveRequest{Workspace: res.Workspace.ID, Trigger: retake.TriggerManual, Intent: req.Intent})
		if err == nil {
			res = saved
		} else { // the first checkpoint has all of it
			res.Warnings = append(res.Warnings, retake.Warning{Code: "intent", Text: "no checkpoint has your intent: " + retake.AsError(err).What})
		}
	}
	res.Warnings = append(res.Warnings, importWarnings(report)...)
	return res, nil
}

// maxImportWait is how long an import waits for others. Its archive is not read meanwhile.
const maxImportWait = 15 * time.Second

// waitForImports waits for other imports: several together could fill a disk that has room for each.
func (o *Office) waitForImports(ctx context.Context) error {
	late := time.NewTimer(maxImportWait)
	defer late.Stop()
	select {
	case o.importSlot <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-late.C:
		return &retake.Error{Kind: retake.Busy, What: "another archive is being imported into this namespace", Safe: unchanged, Hint: "send it again later"}
	}
}

// isProtected reports whether a live workspace is in a directory, or nobody can say.
func (o *Office) isProtected(ctx context.Context, dir string) bool {
	all, err := o.Service.Workspaces(context.WithoutCancel(ctx))
	return err != nil || slices.ContainsFunc(all, func(w retake.WorkspaceState) bool { return w.Root == dir && w.Ended == nil })
}

// maxImportRatio limits how many bytes of files one byte of an archive may expand to. Ordinary
// archives are far below it.
const maxImportRatio = 200

// importWarnings lists what was not imported exactly as it is in the archive.
func importWarnings(r archive.Report) []retake.Warning {
	var out []retake.Warning
	for _, l := range []struct {
		code, text string
		paths      []string
	}{
		{"skipped", "left out, as they belong to another workspace's mark or its restores", r.Skipped},
		{"links", "links that lead out of the workspace; they are kept, and Retake follows no link", r.Outward},
		{"rights", "without their setuid and setgid bits", r.Dropped},
		{"attributes", "without their extended attributes, which this disk does not have", r.Bare},
	} {
		if len(l.paths) == 0 {
			continue
		}
		shown := l.paths[:min(len(l.paths), 20)]
		text := fmt.Sprintf("%d of the archive are %s: %q", len(l.paths), l.text, shown)
		if more := len(l.paths) - len(shown); more > 0 {
			text += fmt.Sprintf(" and %d more", more)
		}
		out = append(out, retake.Warning{Code: l.code, Text: text})
	}
	if r.Unlisted > 0 {
		out = append(out, retake.Warning{Code: "unlisted", Text: fmt.Sprintf("%d more of the archive were changed like these", r.Unlisted)})
	}
	return out
}
