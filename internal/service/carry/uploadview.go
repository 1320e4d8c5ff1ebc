package carry

import (
	"context"
	"slices"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/service/workspace"
)

// describe adds to the state of a remote what this store has.
func (u *Uploads) describe(ctx context.Context, r *remote) (retake.Remote, error) {
	all, err := u.workspaces.Catalog.Workspaces(workspace.AsMaintainer(ctx))
	if err != nil {
		return retake.Remote{}, workspace.WrapError("the workspaces cannot be listed", workspace.Unchanged, err)
	}
	out := r.describe()
	out.KeyConfirmed = isKeyConfirmed(u.opts.Dir)
	for _, w := range all {
		if !r.wants(w.ID) || w.Latest == nil || !retake.MayLoad(ctx, w.ID) {
			continue
		}
		x := retake.RemoteWorkspace{Workspace: w.ID, Name: w.Name, Newest: w.Latest.Number, Uploaded: min(r.uploaded(w.ID), w.Latest.Number)}
		if x.Pending, err = u.countPending(ctx, w, x.Uploaded); err != nil {
			return out, workspace.WrapError("the timeline cannot be read", workspace.Unchanged, err)
		}
		out.Workspaces = append(out.Workspaces, x)
		out.Pending += x.Pending
	}
	return out, nil
}

// countPending counts the checkpoints of a workspace after one.
func (u *Uploads) countPending(ctx context.Context, w retake.WorkspaceState, uploaded int64) (n int64, err error) {
	switch {
	case uploaded >= w.Latest.Number:
		return 0, nil
	case uploaded == 0:
		return w.Count, nil
	}
	err = u.history.EachCheckpointPage(ctx, retake.LogQuery{Workspace: w.ID}, func(page []retake.Checkpoint) (bool, error) {
		for _, cp := range page {
			if cp.Number <= uploaded {
				return false, nil
			}
			n++
		}
		return true, nil
	})
	return n, err
}

// RemotesOf returns the remotes of a workspace, for its status. What cannot be read is left out.
func (u *Uploads) RemotesOf(ctx context.Context, id retake.WorkspaceID) []retake.Remote {
	var out []retake.Remote
	for _, r := range u.all() {
		if !r.wants(id) {
			continue
		}
		if d, err := u.describe(ctx, r); err == nil {
			d.Workspaces = slices.DeleteFunc(d.Workspaces, func(w retake.RemoteWorkspace) bool { return w.Workspace != id })
			d.Pending = 0
			for _, w := range d.Workspaces {
				d.Pending += w.Pending
			}
			out = append(out, d)
		}
	}
	return out
}

// UploadOf returns how far a workspace is at the remote that has most of it, or nil if it has none.
func (u *Uploads) UploadOf(id retake.WorkspaceID) *retake.Upload {
	var out *retake.Upload
	for _, r := range u.all() {
		if !r.wants(id) {
			continue
		}
		d := r.describe()
		if x := (retake.Upload{Remote: d.Name, Through: r.uploaded(id), Failing: d.Trouble != nil}); out == nil || x.Through > out.Through {
			out = &x
		}
	}
	return out
}

// IsLocked reports whether a remote has a workspace where nobody can delete it for a while. One without a lock
// protects from the loss of this machine, and not from who runs as its user: he may delete there, too.
func (u *Uploads) IsLocked(id retake.WorkspaceID) bool {
	return slices.ContainsFunc(u.all(), func(r *remote) bool {
		return r.wants(id) && r.uploaded(id) > 0 && r.describe().Protection.LockDays > 0
	})
}

// stallTime is how long uploads fail before people are told who did not ask.
const stallTime = 15 * time.Minute

// UploadWarnings returns a warning for a save while uploads stall.
func (u *Uploads) UploadWarnings(id retake.WorkspaceID) []retake.Warning {
	return u.warnings(id, false)
}

// StallWarnings returns the same once for each time that they stall, for who works there and does not ask.
func (u *Uploads) StallWarnings(id retake.WorkspaceID) []retake.Warning { return u.warnings(id, true) }

func (u *Uploads) warnings(id retake.WorkspaceID, once bool) (out []retake.Warning) {
	for _, r := range u.all() {
		if !r.wants(id) {
			continue
		}
		if text := r.stallText(once); text != "" {
			out = append(out, retake.Warning{Code: "upload", Text: text})
		}
	}
	return out
}

// OnErase notes that a history was erased on purpose, so that it leaves the remotes too.
func (u *Uploads) OnErase(id retake.WorkspaceID) {
	for _, r := range u.all() {
		if r.uploaded(id) > 0 {
			r.noteErased(id)
		}
	}
}

// OnPurge has what was purged removed from the remotes.
func (u *Uploads) OnPurge(id retake.WorkspaceID) {
	for _, r := range u.all() {
		if r.uploaded(id) > 0 {
			r.requestSweep()
		}
	}
}

// Holding says which remotes have a workspace, and that what is purged goes there later.
func (u *Uploads) Holding(id retake.WorkspaceID) []string {
	var out []string
	for _, r := range u.all() {
		if r.uploaded(id) > 0 {
			out = append(out, r.leftText())
		}
	}
	return out
}
