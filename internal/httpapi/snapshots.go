package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/retake-dev/retake"
)

// snapshot is a checkpoint in the words of those who know snapshots only.
type snapshot struct {
	ID        retake.CheckpointID `json:"snapshot_id"`
	Workspace retake.WorkspaceID  `json:"workspace_id"`
	Number    int64               `json:"number" doc:"For people; never given twice."`
	Label     string              `json:"label" doc:"Why this checkpoint was worth recording."`
	Size      int64               `json:"size_bytes" doc:"Of the whole tree."`
	Files     int64               `json:"files"`
	Complete  bool                `json:"complete" doc:"Nothing is missing."`
	Created   time.Time           `json:"created_at"`
}

func snapshotOf(cp *retake.Checkpoint) snapshot {
	return snapshot{
		ID: cp.ID, Workspace: cp.Workspace, Number: cp.Number, Label: cp.Intent, Size: cp.Bytes, Files: cp.Files,
		Complete: cp.Coverage.Grade == retake.Complete, Created: cp.Time,
	}
}

type snapshotBody struct {
	Label     string              `json:"label,omitempty" doc:"Why this checkpoint is worth recording."`
	Workspace retake.WorkspaceID  `json:"workspace_id,omitempty" doc:"Empty: the default one of the namespace."`
	ID        retake.CheckpointID `json:"snapshot_id,omitempty" doc:"Made by the asker, cp_ and a UUID, so that asking again adds nothing. Empty: made here."`
}

type makeSnapshotInput struct{ Body *snapshotBody }

type snapshotsQuery struct {
	Workspace retake.WorkspaceID `query:"workspace_id" doc:"Empty: the default one of the namespace."`
	Limit     int                `query:"limit" doc:"At most so many, and at most 1000. Absent: 50."`
	Cursor    string             `query:"cursor" doc:"The next_cursor of the part before."`
}

type snapshotPath struct {
	ID        retake.CheckpointID `path:"snapshot" doc:"The id of the snapshot."`
	Workspace retake.WorkspaceID  `query:"workspace_id" doc:"Where it is. Empty: it is looked for."`
}

type dropSnapshotInput struct {
	ID        retake.CheckpointID `path:"snapshot" doc:"The id of the snapshot."`
	Workspace retake.WorkspaceID  `query:"workspace_id" doc:"Where it is. Empty: it is looked for."`
	Why       string              `query:"why" doc:"For people, and for the audit log."`
}

type restoreSnapshotInput struct {
	ID        retake.CheckpointID `path:"snapshot" doc:"The id of the snapshot."`
	Workspace retake.WorkspaceID  `query:"workspace_id" doc:"Where it is. Empty: it is looked for."`
	Body      *restoreSnapshotBody
}

type restoreSnapshotBody struct {
	Paths  []string            `json:"paths,omitempty" nullable:"false" doc:"Below the root of the workspace. None: everything."`
	Accept []string            `json:"accept,omitempty" nullable:"false" doc:"Classes of warnings that are accepted before they are seen. Needed only for what the safety snapshot does not hold, such as uncaptured."`
	ID     retake.CheckpointID `json:"id,omitempty" doc:"Of the checkpoint of the restore, made by the asker, cp_ and a UUID, so that asking again adds nothing. Empty: made here."`
}

// restored is a retake.RestoreResult in those words.
type restored struct {
	Restored int                 `json:"files_restored" doc:"Files that were written."`
	Deleted  int                 `json:"files_deleted" doc:"Files that were not there then."`
	Left     int                 `json:"files_left" doc:"Files that could not be changed; then it is done in part."`
	ID       retake.CheckpointID `json:"snapshot_id" doc:"What was gone back to."`
	Safety   retake.CheckpointID `json:"safety_snapshot_id" doc:"All there was before."`
	Now      retake.CheckpointID `json:"current_snapshot_id" doc:"All there is now."`
}

func (a *api) snapshots() {
	offered(a, made(op(http.MethodPost, "/v1/snapshots", "make-snapshot", "Take a snapshot")), a.makeSnapshot)
	offered(a, op(http.MethodGet, "/v1/snapshots", "list-snapshots", "Snapshots of a workspace, newest first"), a.listSnapshots)
	offered(a, op(http.MethodGet, "/v1/snapshots/{snapshot}", "snapshot", "One snapshot"), func(ctx context.Context, o retake.Office, in *snapshotPath) (snapshot, error) {
		cp, err := a.sought(ctx, o, in.Workspace, in.ID)
		return snapshotOf(&cp), err
	})
	offered(a, accepted(op(http.MethodDelete, "/v1/snapshots/{snapshot}", "drop-snapshot", "Ask for the deletion of a snapshot; it is done when the grace ends")), func(ctx context.Context, o retake.Office, in *dropSnapshotInput) (retake.Deletion, error) {
		cp, err := a.sought(ctx, o, in.Workspace, in.ID)
		if err != nil {
			return retake.Deletion{}, err
		}
		return gone(o.RequestDeletion(ctx, retake.DeletionRequest{Workspace: cp.Workspace, Refs: []string{string(cp.ID)}, Why: in.Why}))
	})
	offered(a, op(http.MethodPost, "/v1/snapshots/{snapshot}/restore", "restore-snapshot", "Go back to a snapshot. What is there now is kept in a safety snapshot; what could not be kept there is refused with a plan"), a.restoreSnapshot)
}

// where is the workspace asked for, or the default one.
func where(ctx context.Context, o retake.Office, ws retake.WorkspaceID) (retake.WorkspaceID, error) {
	if ws != "" {
		return ws, nil
	}
	ns, err := o.Namespace(ctx)
	return ns.Default, err
}

func (a *api) makeSnapshot(ctx context.Context, o retake.Office, in *makeSnapshotInput) (snapshot, error) {
	var b snapshotBody
	if in.Body != nil {
		b = *in.Body
	}
	ws, err := where(ctx, o, b.Workspace)
	if err != nil {
		return snapshot{}, err
	}
	ctx, end := a.carried(ctx)
	defer end()
	res, err := a.Save(ctx, retake.SaveRequest{Workspace: ws, ID: checkpoint(ctx, b.ID), Intent: b.Label, Trigger: retake.TriggerManual})
	return snapshotOf(&res.Checkpoint), err
}

func (a *api) listSnapshots(ctx context.Context, o retake.Office, in *snapshotsQuery) (page[snapshot], error) {
	ws, err := where(ctx, o, in.Workspace)
	if err != nil {
		return page[snapshot]{}, err
	}
	filter := "snapshots " + string(ws)
	before, err := a.more(filter, in.Cursor, 0)
	if err != nil {
		return page[snapshot]{}, err
	}
	limit := (&pageQuery{Limit: in.Limit}).limit()
	tl, err := a.Log(ctx, retake.LogQuery{Workspace: ws, Before: before, Limit: limit + 1})
	if err != nil {
		return page[snapshot]{}, err
	}
	all := make([]snapshot, len(tl.Checkpoints))
	for i := range tl.Checkpoints {
		all[i] = snapshotOf(&tl.Checkpoints[i])
	}
	return part(a, filter, limit, all, func(s *snapshot) string { return strconv.FormatInt(s.Number, 10) }), nil
}

// sought finds a snapshot by its id alone: in the default workspace first, then in all.
func (a *api) sought(ctx context.Context, o retake.Office, ws retake.WorkspaceID, id retake.CheckpointID) (retake.Checkpoint, error) {
	if _, err := retake.ParseCheckpointID(string(id)); err != nil {
		return retake.Checkpoint{}, &retake.Error{Kind: retake.NotFound, What: "there is no such snapshot", Safe: unchanged, Err: err}
	}
	first, err := where(ctx, o, ws)
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

func (a *api) restoreSnapshot(ctx context.Context, o retake.Office, in *restoreSnapshotInput) (restored, error) {
	var b restoreSnapshotBody
	if in.Body != nil {
		b = *in.Body
	}
	cp, err := a.sought(ctx, o, in.Workspace, in.ID)
	if err != nil {
		return restored{}, err
	}
	res, err := a.applied(ctx, retake.ApplyRequest{
		PlanRequest: retake.PlanRequest{Workspace: cp.Workspace, Course: retake.CourseRestore, Ref: string(cp.ID), Paths: b.Paths},
		Accept:      b.Accept, ID: checkpoint(ctx, b.ID),
	}, askIfLost)
	return restored{
		Restored: res.Written + res.Merged, Deleted: res.Deleted, Left: len(res.Failed), ID: cp.ID, Safety: res.Safety.ID, Now: res.Checkpoint.ID,
	}, err
}
