package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/session"
	"github.com/retake-dev/retake/internal/engine/restore"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Purge removes content from the history and then verifies that it is gone.
func (s *Service) Purge(ctx context.Context, req retake.PurgeRequest) (retake.PurgeReport, error) {
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
		return rep, wrapError("the history cannot be searched", unchanged, err)
	}
	ctx = context.WithoutCancel(ctx) // a purge must not stop halfway
	for _, w := range p.family {
		if err := p.rewriteHistory(ctx, w); err != nil {
			return rep, wrapError("purged in part", partly, err)
		}
	}
	if rep.Sweep, err = p.svc.sweepAndWipe(ctx, p.store); err == nil {
		err = p.removeCopies(ctx)
	}
	if err != nil {
		return rep, wrapError("purged in part", partly, err)
	}
	err = p.verifyRemoved(ctx, &rep)
	return rep, wrapError("purged, but the search afterwards did not end", partly, err)
}

// checkNotHeld refuses a purge while a legal hold or an interrupted restore needs the
// history.
func (p *purgeRun) checkNotHeld(ctx context.Context) error {
	for _, w := range p.family {
		pins, err := p.svc.parts.Catalog.Pins(ctx, w.ID)
		if err != nil {
			return wrapError("the pins cannot be listed", unchanged, err)
		}
		if i := slices.IndexFunc(pins, func(pin retake.Pin) bool { return strings.HasPrefix(pin.Name, retake.HoldPrefix) }); i >= 0 {
			return &retake.Error{Kind: retake.Denied, What: fmt.Sprintf("checkpoint %d of %s is under a legal hold, so nothing can be purged", pins[i].Number, w.Name), Safe: unchanged, Hint: "release the hold first"}
		}
		if cut, err := p.svc.readInterrupted(w.ID); err != nil || cut != nil {
			return &retake.Error{Kind: retake.Busy, What: "a restore of " + w.Name + " was interrupted and still needs this data", Safe: unchanged, Hint: "finish it: retake restore --finish", Err: err}
		}
	}
	return nil
}

// revisePiece is how many checkpoints are changed in one step.
const reviseBatchSize = 64

// rewriteHistory cleans the checkpoints of one workspace. The workspace is locked
// meanwhile, and everything in memory is dropped afterwards.
func (p *purgeRun) rewriteHistory(ctx context.Context, w retake.WorkspaceState) error {
	l := p.svc.cacheFor(w.ID)
	l.lockAndCancelCheck()
	defer l.mu.Unlock()
	err := p.svc.withWriter(ctx, w.Workspace, func(out store.Writer) error {
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
	l.index, l.tip, l.gaps, l.lastPlan = nil, nil, nil, nil
	l.rescanReason = "the history was purged"
	l.dirCache.reset()
	return err
}

// sweepAndWipe removes what no checkpoint needs, and leaves none of its bytes in the
// remaining files.
func (s *Service) sweepAndWipe(ctx context.Context, st store.Store) (retake.SweepReport, error) {
	b := &s.retention
	if end := b.cancelCleanup.Load(); end != nil {
		(*end)() // the background cleanup
	}
	b.cleanupMu.Lock()
	defer b.cleanupMu.Unlock()
	return s.sweepAndRecord(ctx, st, store.SweepOptions{Wipe: true}, new(bool))
}

// removeCopies removes the copies outside the store: catalog rows and summaries, agent
// state, trash, stat indexes, queued signals, and the local side of the git backup.
func (p *purgeRun) removeCopies(ctx context.Context) error {
	p.svc.summarizer.dropMemory()
	if _, err := p.svc.Rebuild(ctx); err != nil {
		return err
	}
	for _, w := range p.family {
		p.clearTrash(w)
		if err := p.svc.removeFile(p.svc.parts.IndexDir, indexFileName(w.ID)); err != nil {
			return err
		}
		if err := p.maskSessions(w.ID); err != nil {
			return err
		}
		if p.svc.parts.Backup != nil {
			if err := p.svc.parts.Backup.Forget(ctx, w.ID); err != nil {
				return err
			}
		}
	}
	if p.matcher != nil {
		for _, dir := range []string{p.svc.parts.SignalDir, p.svc.parts.SessionDir} {
			if err := p.maskFiles(dir); err != nil {
				return err
			}
		}
	}
	return p.svc.parts.Catalog.Wipe(ctx)
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
		b, err := io.ReadAll(io.LimitReader(f, maxStateFile))
		if err = errors.Join(err, f.Close()); err != nil || !p.matcher.matches(b) {
			return err
		}
		return replaceFile(at, name, p.matcher.mask(b))
	})
}

// clearTrash removes all trash of a workspace, whatever its age: the safety checkpoints
// have all of it that may stay.
func (p *purgeRun) clearTrash(w retake.WorkspaceState) {
	for _, dir := range []string{filepath.Join(p.svc.parts.RestoreDir, string(w.ID)), filepath.Join(w.Root, marker.Dir)} {
		at, err := p.svc.parts.FS.OpenRoot(dir)
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
	h := p.svc.agentStateOf(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.state.Sessions {
		if x := &h.state.Sessions[i]; p.matcher.matches(x.Talk.Tail) {
			x.Talk.Tail = nil // without it the transcript continues at its length
		}
	}
	b, err := json.Marshal(h.state)
	if err != nil {
		return err
	}
	text := p.matcher.mask(p.replaceObjectIDs(b))
	if bytes.Equal(text, b) {
		return nil
	}
	var st session.State
	if err := json.Unmarshal(text, &st); err != nil {
		return err
	}
	h.state = st
	return h.writeState()
}

// verifyRemoved reads everything that is kept and lists each copy that is left.
func (p *purgeRun) verifyRemoved(ctx context.Context, rep *retake.PurgeReport) error {
	rep.Left = []string{}
	if p.matcher == nil {
		return p.verifyPathsRemoved(ctx, rep)
	}
	n := 0
	err := p.store.Contents(ctx, func(b []byte) error {
		rep.Searched++
		rep.Bytes += int64(len(b))
		if p.matcher.matchesDeep(b, 0) {
			n++
		}
		return nil
	})
	if n > 0 {
		rep.Left = append(rep.Left, fmt.Sprintf("%d stored pieces of the history", n))
	}
	if err != nil {
		return err
	}
	p.matcher.checked = map[retake.ObjectID]bool{} // read everything again
	again := &purgeRun{svc: p.svc, store: p.store, req: p.req, matcher: p.matcher, family: p.family, cleanedDirs: map[retake.ObjectID]cleanedDir{}, removedFiles: map[retake.ObjectID]int64{}, removedPaths: map[string]bool{}, maskedParts: map[retake.ObjectID]retake.Entry{}}
	plan, err := again.buildPlan(ctx)
	if err != nil {
		return err
	}
	if rep.Searched += again.filesRead; plan.Checkpoints > 0 {
		rep.Left = append(rep.Left, fmt.Sprintf("%d checkpoints", plan.Checkpoints))
	}
	return p.verifyFilesRemoved(rep)
}

// verifyPathsRemoved searches for the paths in every checkpoint, and for the bytes that
// were there.
func (p *purgeRun) verifyPathsRemoved(ctx context.Context, rep *retake.PurgeReport) error {
	again := &purgeRun{svc: p.svc, store: p.store, req: p.req, family: p.family, removedFiles: map[retake.ObjectID]int64{}, removedPaths: map[string]bool{}, maskedParts: map[retake.ObjectID]retake.Entry{}}
	plan, err := again.buildPlan(ctx)
	if err != nil {
		return err
	}
	if plan.Checkpoints > 0 {
		rep.Left = append(rep.Left, fmt.Sprintf("%d checkpoints", plan.Checkpoints))
	}
	same := 0
	for id := range p.removedFiles {
		rep.Searched++
		r, err := p.store.File(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err == nil {
			err = r.Close()
		}
		if err != nil {
			return err
		}
		same++
	}
	if same > 0 {
		rep.Left = append(rep.Left, fmt.Sprintf("the bytes of %d of the files, under other paths: to remove them too: retake purge --content", same))
	}
	return nil
}

// verifyFilesRemoved searches every file in the data directory.
func (p *purgeRun) verifyFilesRemoved(rep *retake.PurgeReport) error {
	return p.svc.eachFile(p.svc.parts.DataDir, func(at fsx.Dir, path string) error {
		f, err := at.OpenFile(filepath.Base(path))
		if err != nil {
			return ignoreNotExist(err)
		}
		defer f.Close() //nolint:errcheck // only read
		i, err := f.Stat()
		if err != nil {
			return err
		}
		rep.Searched, rep.Bytes = rep.Searched+1, rep.Bytes+i.Size
		found, err := p.matcher.matchesFile(io.NewSectionReader(f, 0, i.Size))
		if found {
			rep.Left = append(rep.Left, "the file "+path)
		}
		return err
	})
}

// eachFile calls f for every regular file below a directory of ours.
func (s *Service) eachFile(dir string, f func(at fsx.Dir, path string) error) error {
	root, err := s.parts.FS.OpenRoot(dir)
	if err != nil {
		return ignoreNotExist(err)
	}
	defer root.Close() //nolint:errcheck // only listed
	return walkFiles(root, dir, f)
}

// walkFiles is eachFile for an open directory. Links are not followed, and files that
// vanish meanwhile are ignored.
func walkFiles(at fsx.Dir, dir string, f func(at fsx.Dir, path string) error) error {
	names, err := at.Names()
	if err != nil {
		return ignoreNotExist(err)
	}
	for _, name := range names {
		i, err := at.Lstat(name)
		switch {
		case err != nil:
			err = ignoreNotExist(err) // it was removed meanwhile
		case i.Type == fsx.Regular:
			err = f(at, filepath.Join(dir, name))
		case i.Type == fsx.Directory:
			var below fsx.Dir
			if below, err = at.OpenDir(name); err == nil {
				err = errors.Join(walkFiles(below, filepath.Join(dir, name), f), below.Close())
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeFile removes a file of ours if it exists.
func (s *Service) removeFile(dir, name string) error {
	at, err := s.parts.FS.OpenRoot(dir)
	if err != nil {
		return ignoreNotExist(err)
	}
	return errors.Join(ignoreNotExist(at.Remove(name)), at.Close())
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Erase ends a workspace and removes its whole history.
func (s *Service) Erase(ctx context.Context, id retake.WorkspaceID) (retake.PurgeReport, error) {
	rep := retake.PurgeReport{Left: []string{}}
	ws, err := s.loadWorkspace(ctx, id)
	if err != nil {
		return rep, wrapError("no such workspace", unchanged, err)
	}
	if s.parts.RefuseWhenFull {
		return rep, &retake.Error{Kind: retake.Denied, What: "a history cannot be erased on a server yet", Safe: unchanged, Hint: "remove checkpoints: POST /v1/deletions"}
	}
	st, err := s.store(ctx)
	if err != nil {
		return rep, wrapError("the store cannot be opened", unchanged, err)
	}
	p := &purgeRun{svc: s, store: st, family: []retake.WorkspaceState{{Workspace: ws}}}
	if err := p.checkNotHeld(ctx); err != nil {
		return rep, err
	}
	if ws.Ended == nil {
		if _, err := s.Deinit(ctx, id); err != nil {
			return rep, err
		}
	}
	ctx = context.WithoutCancel(ctx)
	const partly = "The workspace is no longer protected. Run it again to erase the rest."
	if s.parts.Backup != nil {
		if b, err := s.parts.Backup.State(id); err == nil && b.Pushed != nil {
			rep.Left = append(rep.Left, fmt.Sprintf("the git backup %s, branch %s: what was pushed is not removed there", b.URL, b.Branch))
		}
	}
	live, _, err := s.parts.Catalog.Counts(ctx, id)
	if err != nil {
		return rep, wrapError("not erased", partly, err)
	}
	rep.Plan = retake.PurgePlan{Checkpoints: live, Workspaces: []retake.PurgeScope{{Workspace: id, Name: ws.Name, Checkpoints: live}}, Gaps: []retake.Gap{}, Live: []string{}, Beyond: []string{}}
	if err := st.Erase(ctx, id); err != nil {
		return rep, wrapError("not erased", partly, err)
	}
	if rep.Sweep, err = s.sweepAndWipe(ctx, st); err == nil {
		err = p.removeCopies(ctx)
	}
	for _, dir := range []string{s.parts.SessionDir, s.parts.SignalDir} {
		if dir != "" && err == nil {
			err = s.removeWorkspaceFiles(dir, id)
		}
	}
	return rep, wrapError("erased in part", partly, err)
}

// removeWorkspaceFiles removes the files whose name starts with the ID of a workspace.
func (s *Service) removeWorkspaceFiles(dir string, id retake.WorkspaceID) error {
	return s.eachFile(dir, func(at fsx.Dir, path string) error {
		if name := filepath.Base(path); strings.HasPrefix(name, string(id)) {
			return at.Remove(name)
		}
		return nil
	})
}
