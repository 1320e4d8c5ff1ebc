package rewind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/service/agentstate"
	"github.com/retake-dev/retake/internal/service/checkpoint"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// applyPlan applies the plan to the files. From here until recordResult the workspace is
// between two states; the journal says which.
func (a *restoreRun) applyPlan(ctx context.Context) (restore.Outcome, error) {
	st, err := a.svc.workspaces.Store(ctx)
	if err != nil {
		return restore.Outcome{}, err
	}
	journals, err := a.svc.workspaces.FS.OpenRoot(a.svc.workspaces.RestoreDir)
	if err != nil {
		return restore.Outcome{}, err
	}
	defer journals.Close() //nolint:errcheck // a directory handle
	id := a.req.ID
	if id == "" {
		if id, err = workspace.NewCheckpointID(); err != nil {
			return restore.Outcome{}, err
		}
	}
	a.req.ID = id
	x := a.cache.Index
	if a.isEmpty() {
		x = capture.NewIndex() // the files of the safety checkpoint are gone
	}
	stamps := x.Stamps()
	job := restore.Job{
		ID: string(id), Plan: a.plan, Root: a.root, Trees: st, InodeNumber: x.InodeNumber, LinkGroup: a.linkGroups(ctx),
		Stamp: func(path string) (restore.Stamp, bool) {
			s, ok := stamps.Of(path)
			return restore.Stamp(s), ok
		},
		TrashDirs:  []func() (fsx.Dir, error){a.openTrashBeside, a.openTrashInside},
		JournalDir: journals, JournalName: workspace.JournalName(a.ws.ID), Header: a.journalHeader(),
		Resumes: a.resolved.interrupted != nil, Clock: a.svc.workspaces.Clock, Fence: a.svc.kernelFence, Progress: a.progressFunc(),
	}
	out, err := restore.Apply(ctx, job)
	a.warnings = append(a.warnings, out.Warnings...)
	var cut *restore.InterruptedError
	if !errors.As(err, &cut) {
		return out, a.svc.workspaces.ExplainNoSpace("not restored", a.ws.Root, err)
	}
	return out, &retake.Error{
		Kind: retake.Partly, What: fmt.Sprintf("the restore stopped after %d of %d files", cut.Done, cut.Total), Err: cut.Err,
		Safe: safetyText(a.safety),
		Hint: "finish it: retake restore --finish\nroll it back: retake restore --undo",
	}
}

// safetyText says what is certain at every step of a restore.
func safetyText(safety retake.Checkpoint) string {
	return fmt.Sprintf("Nothing is lost: checkpoint %d has everything from before.", safety.Number)
}

func (a *restoreRun) journalHeader() restore.Header {
	h := restore.Header{Course: a.req.Course, Safety: a.safety, Since: a.svc.workspaces.Clock.Now()}
	if a.resolved.target != nil {
		h.Target = *a.resolved.target
	}
	return h
}

func (a *restoreRun) progressFunc() func(done, total int) {
	if a.req.Progress == nil {
		return nil
	}
	return func(done, total int) { a.req.Progress(retake.Progress{Files: int64(done), Total: int64(total)}) }
}

// linkGroups returns a function that finds the names of a hard link in the safety
// checkpoint. The whole tree is walked on the first call only.
func (a *restoreRun) linkGroups(ctx context.Context) func(string) []restore.Member {
	var known map[string][]restore.Member
	return func(group string) []restore.Member {
		if known == nil {
			known = map[string][]restore.Member{}
			st, err := a.svc.workspaces.Store(ctx)
			if err != nil || a.isEmpty() {
				return nil
			}
			root := retake.Entry{Kind: retake.KindDir, Object: a.safety.Tree}
			_ = tree.Walk(ctx, st, root, func(path string, e retake.Entry) error { // links that are not found are copied
				if e.Extra != nil && e.Extra.Group != "" {
					known[e.Extra.Group] = append(known[e.Extra.Group], restore.Member{Path: path, Entry: e})
				}
				return nil
			})
		}
		return known[group]
	}
}

// openTrashBeside opens the trash next to the store, for files on the same disk.
func (a *restoreRun) openTrashBeside() (fsx.Dir, error) {
	d, err := a.svc.workspaces.FS.OpenRoot(a.svc.workspaces.RestoreDir)
	if err != nil {
		return nil, err
	}
	defer d.Close() //nolint:errcheck // a directory handle
	return ensureDir(d, string(a.ws.ID))
}

// openTrashInside opens a trash inside the workspace, which no checkpoint includes.
func (a *restoreRun) openTrashInside() (fsx.Dir, error) {
	i, err := a.root.Stat()
	if err != nil {
		return nil, err
	}
	d, err := ensureDir(a.root, marker.Dir)
	if err != nil {
		return nil, err
	}
	if err := marker.WriteSmallFile(d, marker.HideFile, "*\n"); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, errors.Join(err, d.Close())
	}
	return d, a.root.SetMtime(i.Mtime)
}

func ensureDir(d fsx.Dir, name string) (fsx.Dir, error) {
	if err := d.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return d.OpenDir(name)
}

// recordResult reads the files back and records the restore as a checkpoint.
func (a *restoreRun) recordResult(ctx context.Context, out restore.Outcome) (retake.RestoreResult, error) {
	ctx = context.WithoutCancel(ctx) // the files are changed, so it must be recorded
	res := retake.RestoreResult{Safety: a.safety, Written: out.Written, Deleted: out.Deleted, Merged: out.Merged, Kept: len(a.plan.Keeps), Failed: out.Failed, Git: a.plan.Git}
	if a.resolved.target != nil {
		res.Target = *a.resolved.target
	}
	ret := a.returnRecord(out)
	saved, err := a.svc.checkpoints.SaveNow(ctx, a.cache, a.ws, a.root, retake.SaveRequest{Workspace: a.ws.ID, ID: a.req.ID, Trigger: retake.TriggerReturn}, checkpoint.Options{Describe: func(cp *retake.Checkpoint) {
		cp.Return = ret
		if ret.Course == retake.CourseRestore && len(ret.Paths) == 0 {
			cp.Parent = ret.Target
		}
	}})
	if err != nil {
		return res, &retake.Error{
			Kind: retake.Partly, What: "the files are restored, but the checkpoint was not recorded", Err: err,
			Safe: fmt.Sprintf("Checkpoint %d has everything from before.", a.safety.Number), Hint: "record it: retake restore --finish",
		}
	}
	res.Checkpoint = saved.Checkpoint
	changed, err := a.verifyWritten(ctx, saved.Checkpoint)
	res.Failed, res.ReadBack = append(res.Failed, changed...), err == nil
	if err != nil {
		a.warnings = append(a.warnings, retake.Warning{Code: "read-back", Text: "the files are written, but could not be compared with the store: " + err.Error()})
	}
	if res.Failed == nil {
		res.Failed = []retake.Failure{}
	}
	a.warnings = append(a.warnings, saved.Warnings...)
	if err := a.svc.workspaces.RemoveJournal(a.ws.ID); err != nil {
		a.warnings = append(a.warnings, retake.Warning{Code: "journal", Text: "all is done, but the journal stays: " + err.Error()})
	}
	a.notifyAgents(ctx, saved.Checkpoint)
	res.Holders = a.remainingHolders(out.Displaced)
	a.svc.clearOldTrash(a.openTrashBeside, a.openMarkerDir)
	res.Warnings = append([]retake.Warning{}, a.warnings...)
	return res, nil
}

// notifyAgents leaves a note for the agents that knew the files before.
func (a *restoreRun) notifyAgents(ctx context.Context, cp retake.Checkpoint) {
	var tasks []retake.Task
	if said, err := a.svc.agents.FindAgentCheckpoint(ctx, a.ws, string(cp.ID)); err == nil {
		if state, err := a.svc.agents.LoadAgentState(ctx, said); err == nil { // context
			tasks = state.Tasks
		}
	}
	p := a.plan
	p.Effects, p.Target = a.effects, a.resolved.target
	w := session.Rewind{ID: string(cp.ID), At: cp.Time, Text: agentstate.RewindNote(&p, a.describeCourse(), tasks), Number: cp.Number, Done: a.effects}
	switch t := a.resolved.target; {
	case t == nil:
	case a.req.Course == retake.CourseUndo:
		w.Taken, w.From = agentstate.DescribeItem(*t), t.Number
	case a.req.Course == retake.CourseRedo:
		w.From = t.Number
	case a.req.Course == retake.CourseRestore:
		w.From = t.Number + 1
	}
	a.svc.agents.NotifyRewind(a.ws.ID, w)
}

// remainingHolders returns the processes that had replaced or deleted files open.
func (a *restoreRun) remainingHolders(gone []restore.Displaced) []retake.Holder {
	if len(a.holders) == 0 {
		return nil
	}
	paths := map[string]bool{}
	for _, d := range gone {
		paths[d.Path] = true
	}
	return slices.DeleteFunc(slices.Clone(a.holders), func(h retake.Holder) bool { return !paths[h.Path] })
}

// returnRecord returns what the new checkpoint records of the restore. A finished restore
// is recorded as if it was never interrupted.
func (a *restoreRun) returnRecord(out restore.Outcome) *retake.Return {
	r := &retake.Return{
		Course: a.req.Course, Before: a.safety.ID, Paths: a.resolved.req.Paths, Hunks: a.resolved.hunks, Written: out.Written, Deleted: out.Deleted, Merged: out.Merged,
		Kept: len(a.plan.Keeps), Failed: out.Failed,
	}
	if a.resolved.target != nil {
		r.Target = a.resolved.target.ID
	}
	for _, cp := range a.resolved.olderItems {
		r.Also = append(r.Also, cp.ID)
	}
	if c := a.resolved.interrupted; c != nil && a.req.Course == retake.CourseFinish {
		r.Course, r.Before, r.Paths = c.Course, c.Safety.ID, c.Plan.Paths
		if m := c.Plan.Merges; len(m) == 1 && m[0].Merge != nil {
			r.Hunks = m[0].Merge.Hunks
		}
	}
	return r
}

// verifyWritten compares the files in the new checkpoint with the plan and returns those
// that differ. After an error nothing is known.
func (a *restoreRun) verifyWritten(ctx context.Context, cp retake.Checkpoint) ([]retake.Failure, error) {
	st, err := a.svc.workspaces.Store(ctx)
	if err != nil {
		return nil, err
	}
	failed := map[string]bool{}
	if cp.Return != nil {
		for _, f := range cp.Return.Failed {
			failed[f.Path] = true
		}
	}
	trees := tree.NewFinder(a.cache.DirCache.WrapTrees(st), retake.Entry{Kind: retake.KindDir, Object: cp.Tree})
	var out []retake.Failure
	for _, s := range slices.Concat(a.plan.Writes, a.plan.Merges) {
		if s.Then.Kind != retake.KindFile || failed[s.Path] {
			continue
		}
		e, err := trees.Find(ctx, s.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return out, err
		}
		same := err == nil && e.Kind == retake.KindFile
		switch {
		case same && s.Merge != nil:
			if same, err = hasDigest(ctx, st, e, s.Merge.Digest); err != nil {
				return out, err
			}
		case same:
			same = e.Object == s.Then.Object
		}
		if !same {
			out = append(out, retake.Failure{Path: s.Path, Why: "changed right after it was written"})
		}
	}
	return out, nil
}

// hasDigest reports whether a stored file has the digest of a merged text.
func hasDigest(ctx context.Context, st store.Trees, e retake.Entry, digest string) (bool, error) {
	f, err := st.File(ctx, e.Object)
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return false, err
	}
	return hex.EncodeToString(h.Sum(nil)) == digest, nil
}
