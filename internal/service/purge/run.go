package purge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Purge removes content from the history and then verifies that it is gone.
func (s *Purger) Purge(ctx context.Context, req retake.PurgeRequest) (retake.PurgeReport, error) {
	const partly = "Every checkpoint that is listed can be read. Run it again to finish."
	var rep retake.PurgeReport
	p, err := s.newPurgeRun(ctx, req)
	if err != nil {
		return rep, err
	}
	if err := p.checkNotHeld(ctx); err != nil {
		return rep, err
	}
	if rep.Plan, err = p.buildPlan(ctx); err != nil {
		return rep, workspace.WrapError("the history cannot be searched", workspace.Unchanged, err)
	}
	ctx = context.WithoutCancel(ctx) // a purge must not stop halfway
	for _, w := range p.family {
		if err := p.rewriteHistory(ctx, w); err != nil {
			return rep, workspace.WrapError("purged in part", partly, err)
		}
	}
	if rep.Sweep, err = p.svc.maintenance.SweepAndWipe(ctx, p.store); err == nil {
		err = p.removeCopies(ctx)
	}
	if err != nil {
		return rep, workspace.WrapError("purged in part", partly, err)
	}
	err = p.verifyRemoved(ctx, &rep)
	return rep, workspace.WrapError("purged, but the search afterwards did not end", partly, err)
}

// checkNotHeld refuses a purge while a legal hold or an interrupted restore needs the
// history.
func (p *purgeRun) checkNotHeld(ctx context.Context) error {
	for _, w := range p.family {
		pins, err := p.svc.workspaces.Catalog.Pins(ctx, w.ID)
		if err != nil {
			return workspace.WrapError("the pins cannot be listed", workspace.Unchanged, err)
		}
		if i := slices.IndexFunc(pins, func(pin retake.Pin) bool { return strings.HasPrefix(pin.Name, retake.HoldPrefix) }); i >= 0 {
			return &retake.Error{Kind: retake.Denied, What: fmt.Sprintf("checkpoint %d of %s is under a legal hold, so nothing can be purged", pins[i].Number, w.Name), Safe: workspace.Unchanged, Hint: "release the hold first"}
		}
		if cut, err := p.svc.workspaces.ReadInterrupted(w.ID); err != nil || cut != nil {
			return &retake.Error{Kind: retake.Busy, What: "a restore of " + w.Name + " was interrupted and still needs this data", Safe: workspace.Unchanged, Hint: "finish it: retake restore --finish", Err: err}
		}
	}
	return nil
}

// revisePiece is how many checkpoints are changed in one step.
const reviseBatchSize = 64

// rewriteHistory cleans the checkpoints of one workspace. The workspace is locked
// meanwhile, and everything in memory is dropped afterwards.
func (p *purgeRun) rewriteHistory(ctx context.Context, w retake.WorkspaceState) error {
	l := p.svc.workspaces.CacheFor(w.ID)
	l.LockAndCancelCheck()
	defer l.Mu.Unlock()
	err := p.svc.workspaces.WithWriter(ctx, w.Workspace, func(out store.Writer) error {
		p.writer = out
		defer func() { p.writer = nil }()
		var piece []store.Record
		flush := func() error {
			if len(piece) == 0 {
				return nil
			}
			err := out.Revise(ctx, piece)
			piece = nil
			return err
		}
		err := p.store.Records(ctx, w.ID, 0, func(leaf *store.Record, _ *retake.Tombstone) error {
			if leaf == nil {
				return nil
			}
			next, changed, err := p.cleanRecord(ctx, *leaf)
			if err != nil || !changed {
				return err
			}
			if piece = append(piece, next); len(piece) < reviseBatchSize {
				return nil
			}
			return flush()
		})
		if err == nil {
			err = flush()
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		err = nil // nothing is stored yet
	}
	l.Index, l.Tip, l.Gaps, l.LastPlan = nil, nil, nil, nil
	l.RescanReason = "the history was purged"
	l.DirCache.Reset()
	return err
}

// removeCopies removes the copies outside the store: catalog rows and summaries, agent
// state, trash, stat indexes, queued signals, and the local side of the git backup.
func (p *purgeRun) removeCopies(ctx context.Context) error {
	p.svc.insight.ForgetCaptures()
	if _, err := p.svc.workspaces.Rebuild(ctx); err != nil {
		return err
	}
	for _, w := range p.family {
		p.clearTrash(w)
		if err := p.svc.removeFile(p.svc.workspaces.IndexDir, workspace.IndexFileName(w.ID)); err != nil {
			return err
		}
		if err := p.maskSessions(w.ID); err != nil {
			return err
		}
		if p.svc.opts.Uploads != nil {
			p.svc.opts.Uploads.OnPurge(w.ID)
		}
		if p.svc.opts.Backup != nil {
			if err := p.svc.opts.Backup.Forget(ctx, w.ID); err != nil {
				return err
			}
		}
	}
	if p.matcher != nil {
		for _, dir := range []string{p.svc.workspaces.SignalDir, p.svc.workspaces.SessionDir} {
			if err := p.maskFiles(dir); err != nil {
				return err
			}
		}
	}
	return p.svc.workspaces.Catalog.Wipe(ctx)
}

// maskFiles masks the content in the small files of a directory of ours.
func (p *purgeRun) maskFiles(dir string) error {
	if dir == "" {
		return nil
	}
	return p.svc.eachFile(dir, func(at fsx.Dir, path string) error {
		name := filepath.Base(path)
		f, err := at.OpenFile(name)
		if err != nil {
			return ignoreNotExist(err)
		}
		b, err := io.ReadAll(io.LimitReader(f, workspace.MaxStateFile))
		if err = errors.Join(err, f.Close()); err != nil || !p.matcher.matches(b) {
			return err
		}
		return fsx.ReplaceIn(at, name, p.matcher.mask(b))
	})
}

// clearTrash removes all trash of a workspace, whatever its age: the safety checkpoints
// have all of it that may stay.
func (p *purgeRun) clearTrash(w retake.WorkspaceState) {
	for _, dir := range []string{filepath.Join(p.svc.workspaces.RestoreDir, string(w.ID)), filepath.Join(w.Root, marker.Dir)} {
		at, err := p.svc.workspaces.FS.OpenRoot(dir)
		if err != nil {
			continue
		}
		names, _ := at.Names() // nothing to clear where nothing can be listed
		for _, name := range names {
			if strings.HasPrefix(name, retake.CheckpointPrefix) {
				_ = restore.EmptyTrash(at, name) // the verification finds what is left
			}
		}
		_ = at.Close() // a directory handle
	}
}

// maskSessions masks the content in the agent state, in memory and on disk.
func (p *purgeRun) maskSessions(id retake.WorkspaceID) error {
	if p.matcher == nil {
		return nil
	}
	p.svc.workspaces.SyncNextSessionFiles() // both copies lose it
	return p.svc.agents.StateOf(id).Rewrite(func(st *session.State) (bool, error) {
		changed := false
		for i := range st.Sessions {
			if x := &st.Sessions[i]; p.matcher.matches(x.Talk.Tail) {
				x.Talk.Tail, changed = nil, true // without it the transcript continues at its length
			}
		}
		b, err := json.Marshal(st)
		if err != nil {
			return false, err
		}
		text := p.matcher.mask(p.replaceObjectIDs(b))
		if bytes.Equal(text, b) {
			return changed, nil
		}
		var masked session.State
		if err := json.Unmarshal(text, &masked); err != nil {
			return false, err
		}
		*st = masked
		return true, nil
	})
}
