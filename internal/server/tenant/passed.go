package tenant

import (
	"context"
	"io"

	"github.com/retake-dev/retake"
)

// The methods below reach the inner service as they are: they name no path of the machine and no
// limit applies to them, and the workspaces that they name are checked where they are loaded, see
// retake.MayLoad. A new method of the service is not here until somebody has decided that.

func (w *confinedService) ApplyRestore(ctx context.Context, q retake.ApplyRequest) (retake.RestoreResult, error) {
	return w.inner.ApplyRestore(ctx, q)
}

func (w *confinedService) Attest(ctx context.Context, q retake.Attestation) (retake.Verification, error) {
	return w.inner.Attest(ctx, q)
}

func (w *confinedService) Backup(ctx context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	return w.inner.Backup(ctx, ws)
}

func (w *confinedService) Blame(ctx context.Context, q retake.BlameQuery) (retake.Blame, error) {
	return w.inner.Blame(ctx, q)
}

func (w *confinedService) Bytes(ctx context.Context, id retake.ObjectID) (io.ReadCloser, error) {
	return w.inner.Bytes(ctx, id)
}

func (w *confinedService) Chronicle(ctx context.Context, q retake.ChronicleQuery) ([]retake.Mention, error) {
	return w.inner.Chronicle(ctx, q)
}

func (w *confinedService) Close() error {
	return w.inner.Close()
}

func (w *confinedService) Conversation(ctx context.Context, ws retake.WorkspaceID, ref string) (io.ReadCloser, retake.Conversation, error) {
	return w.inner.Conversation(ctx, ws, ref)
}

func (w *confinedService) Deinit(ctx context.Context, ws retake.WorkspaceID) (retake.Workspace, error) {
	return w.inner.Deinit(ctx, ws)
}

func (w *confinedService) Diff(ctx context.Context, q retake.DiffQuery) (retake.Comparison, error) {
	return w.inner.Diff(ctx, q)
}

func (w *confinedService) DropBackup(ctx context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	return w.inner.DropBackup(ctx, ws)
}

func (w *confinedService) Effects(ctx context.Context, ws retake.WorkspaceID, ref string) ([]retake.Effect, error) {
	return w.inner.Effects(ctx, ws, ref)
}

func (w *confinedService) Erase(ctx context.Context, ws retake.WorkspaceID) (retake.PurgeReport, error) {
	return w.inner.Erase(ctx, ws)
}

func (w *confinedService) Find(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.Checkpoint, error) {
	return w.inner.Find(ctx, ws, ref)
}

func (w *confinedService) List(ctx context.Context, ws retake.WorkspaceID, ref, path string) ([]retake.Entry, error) {
	return w.inner.List(ctx, ws, ref, path)
}

func (w *confinedService) Log(ctx context.Context, q retake.LogQuery) (retake.Timeline, error) {
	return w.inner.Log(ctx, q)
}

func (w *confinedService) Open(ctx context.Context, ws retake.WorkspaceID, ref, path string) (io.ReadCloser, retake.Entry, error) {
	return w.inner.Open(ctx, ws, ref, path)
}

func (w *confinedService) PlanPurge(ctx context.Context, q retake.PurgeRequest) (retake.PurgePlan, error) {
	return w.inner.PlanPurge(ctx, q)
}

func (w *confinedService) PlanRestore(ctx context.Context, q retake.PlanRequest) (retake.Plan, error) {
	return w.inner.PlanRestore(ctx, q)
}

func (w *confinedService) Prove(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.Proof, error) {
	return w.inner.Prove(ctx, ws, ref)
}

func (w *confinedService) Purge(ctx context.Context, q retake.PurgeRequest) (retake.PurgeReport, error) {
	return w.inner.Purge(ctx, q)
}

func (w *confinedService) PushBackup(ctx context.Context, ws retake.WorkspaceID) (retake.Backup, error) {
	return w.inner.PushBackup(ctx, ws)
}

func (w *confinedService) Rebuild(ctx context.Context) (retake.RebuildReport, error) {
	return w.inner.Rebuild(ctx)
}

func (w *confinedService) Rows(ctx context.Context, q retake.RowsQuery) (retake.RowsDiff, error) {
	return w.inner.Rows(ctx, q)
}

func (w *confinedService) Search(ctx context.Context, q retake.SearchQuery) ([]retake.Hit, error) {
	return w.inner.Search(ctx, q)
}

func (w *confinedService) SetBackup(ctx context.Context, q retake.BackupRequest) (retake.Backup, error) {
	return w.inner.SetBackup(ctx, q)
}

func (w *confinedService) Approve(ctx context.Context, req retake.ApproveRequest) (retake.Effect, error) {
	return w.inner.Approve(ctx, req)
}

func (w *confinedService) SetTasks(ctx context.Context, ws retake.WorkspaceID, tasks []retake.Task) (retake.Reaction, error) {
	return w.inner.SetTasks(ctx, ws, tasks)
}

func (w *confinedService) Space(ctx context.Context) (retake.StoreState, error) {
	return w.inner.Space(ctx)
}

func (w *confinedService) SpacePlan(ctx context.Context) (retake.SpacePlan, error) {
	return w.inner.SpacePlan(ctx)
}

func (w *confinedService) Standing(ctx context.Context, ws retake.WorkspaceID) ([]retake.Standing, error) {
	return w.inner.Standing(ctx, ws)
}

func (w *confinedService) State(ctx context.Context, ws retake.WorkspaceID, ref string) (retake.State, error) {
	return w.inner.State(ctx, ws, ref)
}

func (w *confinedService) Status(ctx context.Context, ws retake.WorkspaceID) (retake.Status, error) {
	return w.inner.Status(ctx, ws)
}

func (w *confinedService) Story(ctx context.Context, q retake.DiffQuery) (retake.Story, error) {
	return w.inner.Story(ctx, q)
}

func (w *confinedService) Tasks(ctx context.Context, ws retake.WorkspaceID) ([]retake.Task, error) {
	return w.inner.Tasks(ctx, ws)
}

func (w *confinedService) Verifications(ctx context.Context, q retake.VerificationQuery) ([]retake.Verification, error) {
	return w.inner.Verifications(ctx, q)
}

func (w *confinedService) ViewPlan(ctx context.Context, q retake.PlanRequest) (retake.ViewedPlan, error) {
	return w.inner.ViewPlan(ctx, q)
}

func (w *confinedService) ViewTimeline(ctx context.Context, q retake.TimelineQuery) (retake.TimelineView, error) {
	return w.inner.ViewTimeline(ctx, q)
}
