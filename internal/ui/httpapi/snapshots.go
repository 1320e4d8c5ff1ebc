package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

// snapshot is a checkpoint for clients that only know the term snapshot.
type snapshot struct {
	ID        retake.CheckpointID `json:"snapshot_id" doc:"The snapshot's ID: cp_ and a UUID."`
	Workspace retake.WorkspaceID  `json:"workspace_id" doc:"The workspace's ID."`
	Number    int64               `json:"number" doc:"The checkpoint's number, for people. A number is never used twice in a workspace."`
	Label     string              `json:"label" doc:"The checkpoint's message."`
	Size      int64               `json:"size_bytes" doc:"The size of all files in the snapshot, in bytes."`
	Files     int64               `json:"files" doc:"The number of files in the snapshot."`
	Complete  bool                `json:"complete" doc:"If true, the snapshot lacks nothing."`
	Created   time.Time           `json:"created_at" doc:"The time at which the snapshot was taken."`
}

func snapshotOf(cp *retake.Checkpoint) snapshot {
	return snapshot{
		ID: cp.ID, Workspace: cp.Workspace, Number: cp.Number, Label: cp.Intent, Size: cp.Bytes, Files: cp.Files,
		Complete: cp.Coverage.Grade == retake.Complete, Created: cp.Time,
	}
}

type makeSnapshotInput struct{ Body *wire.SnapshotBody }

type snapshotsQuery struct {
	Workspace retake.WorkspaceID `query:"workspace_id" doc:"The workspace's ID. Empty means the namespace's default workspace."`
	Limit     int                `query:"limit" doc:"The largest number of results, up to 1000. Absent means 50."`
	Cursor    string             `query:"cursor" doc:"The next_cursor of the page before."`
}

type snapshotPath struct {
	ID        retake.CheckpointID `path:"snapshot" doc:"The snapshot's ID."`
	Workspace retake.WorkspaceID  `query:"workspace_id" doc:"The ID of the snapshot's workspace. Empty means that all workspaces are searched."`
}

type dropSnapshotInput struct {
	ID        retake.CheckpointID `path:"snapshot" doc:"The snapshot's ID."`
	Workspace retake.WorkspaceID  `query:"workspace_id" doc:"The ID of the snapshot's workspace. Empty means that all workspaces are searched."`
	Why       string              `query:"why" doc:"The reason, for people and for the audit log."`
}

type restoreSnapshotInput struct {
	ID        retake.CheckpointID `path:"snapshot" doc:"The snapshot's ID."`
	Workspace retake.WorkspaceID  `query:"workspace_id" doc:"The ID of the snapshot's workspace. Empty means that all workspaces are searched."`
	Body      *wire.RestoreSnapshotBody
}

// restored is a retake.RestoreResult in the same terms.
type restored struct {
	Restored int                 `json:"files_restored" doc:"The number of files that were written."`
	Deleted  int                 `json:"files_deleted" doc:"The number of files that were deleted because the snapshot does not contain them."`
	Left     int                 `json:"files_left" doc:"The number of files that could not be changed. If it is not 0, the restore was done in part."`
	ID       retake.CheckpointID `json:"snapshot_id" doc:"The ID of the snapshot that was restored."`
	Safety   retake.CheckpointID `json:"safety_snapshot_id" doc:"The ID of the safety snapshot, which contains the files from before."`
	Now      retake.CheckpointID `json:"current_snapshot_id" doc:"The ID of the snapshot after the restore."`
}

// registerSnapshots registers the routes that call checkpoints snapshots.
func (a *api) registerSnapshots() {
	handleOffice(a, withStatusCreated(newOperation(http.MethodPost, "/v1/snapshots", "make-snapshot", "Create a snapshot")), a.makeSnapshot)
	handleOffice(a, newOperation(http.MethodGet, "/v1/snapshots", "list-snapshots", "List snapshots"), a.listSnapshots)
	handleOffice(a, newOperation(http.MethodGet, "/v1/snapshots/{snapshot}", "snapshot", "Get a snapshot"), func(ctx context.Context, o retake.Office, in *snapshotPath) (snapshot, error) {
		cp, err := a.findSnapshot(ctx, o, in.Workspace, in.ID)
		return snapshotOf(&cp), err
	})
	handleOffice(a, withStatusAccepted(newOperation(http.MethodDelete, "/v1/snapshots/{snapshot}", "drop-snapshot", "Request deletion of a snapshot")), func(ctx context.Context, o retake.Office, in *dropSnapshotInput) (retake.Deletion, error) {
		cp, err := a.findSnapshot(ctx, o, in.Workspace, in.ID)
		if err != nil {
			return retake.Deletion{}, err
		}
		return fillDeletion(o.RequestDeletion(ctx, retake.DeletionRequest{Workspace: cp.Workspace, Refs: []string{string(cp.ID)}, Why: in.Why}))
	})
	handleOffice(a, newOperation(http.MethodPost, "/v1/snapshots/{snapshot}/restore", "restore-snapshot", "Restore a snapshot"), a.restoreSnapshot)
}

// workspaceOrDefault returns ws, or the namespace's default workspace if it is empty.
func workspaceOrDefault(ctx context.Context, o retake.Office, ws retake.WorkspaceID) (retake.WorkspaceID, error) {
	if ws != "" {
		return ws, nil
	}
	ns, err := o.Namespace(ctx)
	return ns.Default, err
}

func (a *api) makeSnapshot(ctx context.Context, o retake.Office, in *makeSnapshotInput) (snapshot, error) {
	var b wire.SnapshotBody
	if in.Body != nil {
		b = *in.Body
	}
	ws, err := workspaceOrDefault(ctx, o, b.Workspace)
	if err != nil {
		return snapshot{}, err
	}
	ctx, end := a.workContext(ctx)
	defer end()
	res, err := a.Save(ctx, retake.SaveRequest{Workspace: ws, ID: checkpointIDFor(ctx, b.ID), Intent: b.Label, Trigger: retake.TriggerManual})
	return snapshotOf(&res.Checkpoint), err
}

// listSnapshots returns one page of snapshots.
func (a *api) listSnapshots(ctx context.Context, o retake.Office, in *snapshotsQuery) (page[snapshot], error) {
	ws, err := workspaceOrDefault(ctx, o, in.Workspace)
	if err != nil {
		return page[snapshot]{}, err
	}
	filter := "snapshots " + string(ws)
	before, err := a.cursorNumber(filter, in.Cursor, 0)
	if err != nil {
		return page[snapshot]{}, err
	}
	limit := (&pageQuery{Limit: in.Limit}).pageLimit()
	tl, err := a.Log(ctx, retake.LogQuery{Workspace: ws, Before: before, Limit: limit + 1})
	if err != nil {
		return page[snapshot]{}, err
	}
	all := make([]snapshot, len(tl.Checkpoints))
	for i := range tl.Checkpoints {
		all[i] = snapshotOf(&tl.Checkpoints[i])
	}
	return pageFromFetched(a, filter, limit, all, func(s *snapshot) string { return strconv.FormatInt(s.Number, 10) }), nil
}

// findSnapshot finds a snapshot by its ID alone: in the default workspace first, then in all
// others.
func (a *api) findSnapshot(ctx context.Context, o retake.Office, ws retake.WorkspaceID, id retake.CheckpointID) (retake.Checkpoint, error) {
	if _, err := retake.ParseCheckpointID(string(id)); err != nil {
		return retake.Checkpoint{}, &retake.Error{Kind: retake.NotFound, What: "there is no such snapshot", Safe: unchanged, Err: err}
	}
	first, err := workspaceOrDefault(ctx, o, ws)
	if err != nil {
		return retake.Checkpoint{}, err
	}
	cp, err := a.Find(ctx, first, string(id))
	if ws != "" || !retake.IsKind(err, retake.NotFound) {
		return cp, err
	}
	all, lerr := a.Workspaces(ctx)
	if lerr != nil {
		return cp, lerr
	}
	for i := range all {
		if all[i].ID == first {
			continue
		}
		if cp, ferr := a.Find(ctx, all[i].ID, string(id)); !retake.IsKind(ferr, retake.NotFound) {
			return cp, ferr
		}
	}
	return cp, err
}

// restoreSnapshot restores a snapshot without a plan. It asks for confirmation only if something
// would be lost.
func (a *api) restoreSnapshot(ctx context.Context, o retake.Office, in *restoreSnapshotInput) (restored, error) {
	var b wire.RestoreSnapshotBody
	if in.Body != nil {
		b = *in.Body
	}
	cp, err := a.findSnapshot(ctx, o, in.Workspace, in.ID)
	if err != nil {
		return restored{}, err
	}
	res, err := a.planAndApply(ctx, retake.ApplyRequest{
		PlanRequest: retake.PlanRequest{Workspace: cp.Workspace, Course: retake.CourseRestore, Ref: string(cp.ID), Paths: b.Paths},
		Accept:      b.Accept, ID: checkpointIDFor(ctx, b.ID),
	}, confirmIfLost)
	return restored{
		Restored: res.Written + res.Merged, Deleted: res.Deleted, Left: len(res.Failed), ID: cp.ID, Safety: res.Safety.ID, Now: res.Checkpoint.ID,
	}, err
}
