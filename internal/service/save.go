package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Save records the workspace as it is now. When the time budget runs out, a partial
// checkpoint is sealed first and the capture continues to a complete one.
func (s *Service) Save(ctx context.Context, req retake.SaveRequest) (retake.SaveResult, error) {
	if req.ID != "" {
		if _, err := retake.ParseCheckpointID(string(req.ID)); err != nil {
			return retake.SaveResult{}, &retake.Error{Kind: retake.Invalid, What: "not a valid checkpoint ID", Safe: notSaved, Err: err}
		}
	}
	ws, root, err := s.openRoot(ctx, req.Workspace)
	if err != nil {
		return retake.SaveResult{}, err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	if req.Trigger == "" {
		req.Trigger = retake.TriggerManual
	}
	l := s.cacheFor(ws.ID)
	l.lockAndCancelCheck()
	defer l.mu.Unlock()
	l.lastUsed = s.parts.Clock.Now()
	l.isSaving.Store(true)
	defer l.isSaving.Store(false)
	res, err := s.saveIfChanged(ctx, l, ws, root, req, saveOptions{})
	if err != nil {
		return res, wrapError("not saved", notSaved, err)
	}
	if req.Pin != "" {
		if _, err := s.Pin(ctx, ws.ID, string(res.Checkpoint.ID), req.Pin); err != nil {
			res.Warnings = append(res.Warnings, retake.Warning{Code: "pin", Text: err.Error()})
		}
	}
	if s.saveHooks.Warnings != nil {
		res.Warnings = append(res.Warnings, s.saveHooks.Warnings(ws.ID)...)
	}
	return res, nil
}

// saveIfChanged saves, unless IfChanged is set and the tracker shows that nothing changed.
func (s *Service) saveIfChanged(ctx context.Context, l *workspaceCache, ws retake.Workspace, root fsx.Dir, req retake.SaveRequest, a saveOptions) (retake.SaveResult, error) {
	if req.IfChanged && (l.tip == nil || l.tip.ID != req.ID) { // otherwise it is a repeated request
		if s.drainTracker(l, ws.Root); l.isUnchanged(s.effectivePolicy(ws.ID, ws.Root)) {
			return retake.SaveResult{Workspace: ws, Checkpoint: *l.tip, Warnings: []retake.Warning{}}, nil
		}
	}
	return s.saveNow(ctx, l, ws, root, req, a)
}

// saveOptions are options of a save that only the service itself uses.
type saveOptions struct {
	exact    bool                     // with IfChanged: times and owners count too
	describe func(*retake.Checkpoint) // adds to the checkpoint before it is sealed
	state    agentFiles               // what is stored of the agent; nil: nothing
}

// agentFiles is what a checkpoint stores of an agent: documents by name, and entries whose
// bytes are in the store already. With an error the documents are stored without the entries.
type agentFiles interface {
	storedState(ctx context.Context, w store.Writer) (documents map[string][]byte, stored []retake.Entry, err error)
}

// saveHooks is what others do about a save. None of them may fail or delay it.
type saveHooks struct {
	Describe func(*retake.Checkpoint)                        // before the seal: adds who did it
	Sealed   func(cp retake.Checkpoint, res *capture.Result) // the checkpoint exists
	Recorded func(cp retake.Checkpoint, res *capture.Result) // and its row too
	Warnings func(ws retake.WorkspaceID) []retake.Warning    // for the answer of a save
}

// saveNow takes a checkpoint, or returns the one that a repeated request made. After a
// panic the cache is dropped and the writer closed. The caller holds the lock of the cache.
func (s *Service) saveNow(ctx context.Context, l *workspaceCache, ws retake.Workspace, root fsx.Dir, req retake.SaveRequest, a saveOptions) (res retake.SaveResult, err error) {
	t, err := s.beginCheckpoint(ctx, l, ws, root)
	if err != nil {
		return retake.SaveResult{}, err
	}
	t.saveOptions = a
	whole := false
	defer func() {
		if !whole { // after a panic the cache is not valid, and the writer must be closed
			l.index, l.tip, l.rescanReason = nil, nil, "a save broke off"
			_ = t.close()
		}
	}()
	res, known, err := t.findRepeated(ctx, req)
	if err == nil && !known {
		res, err = t.saveCheckpoint(ctx, req)
	}
	whole = true
	if cerr := t.close(); cerr != nil {
		res.Warnings = append(res.Warnings, retake.Warning{Code: "upkeep", Text: cerr.Error()})
	}
	if l.trackerDistrusted {
		res.Warnings = append(res.Warnings, retake.Warning{Code: "tracker", Text: l.noWatchReason + "; every save looks at every file until the daemon is started again"})
	}
	s.requestUpkeep()
	return res, err
}

// checkpointWriter saves one workspace. It owns the store's writer until close.
type checkpointWriter struct {
	saveOptions
	svc      *Service
	cache    *workspaceCache // locked by the caller
	ws       retake.Workspace
	root     fsx.Dir
	writer   store.Writer
	parent   *retake.Checkpoint
	policy   retake.Policy // of the last capture; the user may change it meanwhile
	warnings []retake.Warning
}

// beginCheckpoint opens the writer of a workspace and syncs the catalog. It refuses when
// the disk is below its minimum.
func (s *Service) beginCheckpoint(ctx context.Context, l *workspaceCache, ws retake.Workspace, root fsx.Dir) (*checkpointWriter, error) {
	free, floor, err := s.diskSpace()
	if err != nil {
		return nil, err
	}
	if free < floor {
		s.requestUpkeep() // space may be freed
		return nil, lowDiskError(free, floor)
	}
	st, err := s.store(ctx)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, s.parts.LockWait)
	defer cancel()
	w, err := st.Begin(wait, ws)
	if err != nil {
		return nil, err
	}
	t := &checkpointWriter{svc: s, cache: l, ws: ws, root: root, writer: w}
	if err := s.syncCatalog(ctx, st, w.Head()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if l.tip != nil && s.parts.Exclusive && l.tip.Number == w.Head().Latest {
		t.parent = l.tip // this service is the only writer
	} else if t.parent, err = s.loadTip(ctx, st, w.Head()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return t, nil
}

// loadTip returns the newest checkpoint from the store: a save must build on what the store
// holds. If the catalog disagrees, it followed another store and is rebuilt.
func (s *Service) loadTip(ctx context.Context, st store.Store, h store.Head) (*retake.Checkpoint, error) {
	row, err := s.parts.Catalog.Latest(ctx, h.Workspace.ID, 0)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return nil, err
	}
	if h.Latest == 0 {
		if err == nil {
			_, err := s.Rebuild(ctx)
			return nil, err
		}
		return nil, nil
	}
	leaf, lerr := st.Record(ctx, h.Workspace.ID, h.Latest)
	if lerr != nil {
		return nil, lerr
	}
	cp := leaf.Card.Checkpoint
	if err != nil || row.ID != cp.ID {
		_, err = s.Rebuild(ctx)
		return &cp, err
	}
	return &cp, nil
}

func (t *checkpointWriter) close() error { return t.writer.Close() }

// saveCheckpoint takes a checkpoint, and completes it if the time budget ran out.
func (t *checkpointWriter) saveCheckpoint(ctx context.Context, req retake.SaveRequest) (retake.SaveResult, error) {
	before := t.parent
	cp, recorded, err := t.captureAndSeal(ctx, req)
	if err != nil {
		return retake.SaveResult{}, err
	}
	res := retake.SaveResult{Workspace: t.ws, Checkpoint: cp, Recorded: recorded}
	if recorded && cp.Coverage.Count()[retake.ReasonBudget] > 0 {
		t.completePartial(ctx, req, &res)
	}
	res.Created = recorded && (before == nil || before.Content != res.Checkpoint.Content)
	res.Warnings = append([]retake.Warning{}, t.warnings...)
	return res, nil
}

// captureAndSeal captures the files, seals the checkpoint and adds its row, in this order.
// Once sealed, the checkpoint exists and later failures are only warnings. With IfChanged
// and nothing to record it returns the parent.
func (t *checkpointWriter) captureAndSeal(ctx context.Context, req retake.SaveRequest) (cp retake.Checkpoint, recorded bool, err error) {
	res, x, err := t.captureFiles(ctx, req)
	if err != nil {
		t.cache.rescanReason = failedSaveReason
		return retake.Checkpoint{}, false, err
	}
	if p := t.parent; req.IfChanged && p != nil && p.Content == res.Content && p.Coverage.Grade == res.Coverage.Grade && (!t.exact || p.Tree == res.Files.Object) && !t.cache.tipInDoubt {
		t.acceptUnchanged(res, x)
		return *p, false, nil
	}
	if err = t.svc.checkTreeSize(res.Files.Sum.Bytes); err == nil {
		cp, err = t.newCheckpoint(res, req)
	}
	if err == nil {
		card := retake.Card{V: retake.CardVersion, Checkpoint: cp}
		documents, stored := t.agentState(ctx)
		err = t.writer.Seal(ctx, store.SealRequest{Card: card, Files: res.Files, State: documents, StoredState: stored})
	}
	if err != nil {
		res.Draft.Discard()
		t.cache.rescanReason = failedSaveReason
		t.cache.tipInDoubt = t.cache.tipInDoubt || errors.Is(err, store.ErrInDoubt)
		return cp, false, err
	}
	t.cache.tipInDoubt = false // this seal made earlier ones durable too
	// ---- the checkpoint exists; from here on there are only warnings ----
	res.Draft.Accept(capture.Seal{Checkpoint: cp.ID, Number: cp.Number, Tree: cp.Tree})
	t.cache.setTip(x, cp)
	t.parent = &cp
	if f := t.svc.saveHooks.Sealed; f != nil {
		f(cp, res)
	}
	t.recordSealed(ctx, cp, res.Draft)
	if f := t.svc.saveHooks.Recorded; f != nil {
		f(cp, res)
	}
	return cp, true, nil
}

// agentState returns what the checkpoint stores of the agent. Without it the checkpoint is
// still complete.
func (t *checkpointWriter) agentState(ctx context.Context) (map[string][]byte, []retake.Entry) {
	if t.state == nil {
		return nil, nil
	}
	documents, stored, err := t.state.storedState(ctx, t.writer)
	if err != nil {
		t.warnings = append(t.warnings, retake.Warning{Code: "state", Text: "the conversation is not kept with this checkpoint: " + err.Error()})
	}
	return documents, stored
}

// failedSaveReason forces a full scan: after a failed save the dirty set may be incomplete.
const failedSaveReason = "the save before did not work out"

// acceptUnchanged ends a capture that is not recorded. If it found the very tree of the
// parent, the dirty set is clean; else only times changed, and the dirty set stays.
func (t *checkpointWriter) acceptUnchanged(res *capture.Result, x *capture.Index) {
	if p := t.parent; p.Tree == res.Files.Object {
		res.Draft.Accept(capture.Seal{Checkpoint: p.ID, Number: p.Number, Tree: p.Tree})
		t.cache.setTip(x, *p)
		t.cache.gaps, t.cache.policy = res.Coverage.Gaps, t.policy
		return
	}
	res.Draft.Discard()
	t.cache.index = x
}

// captureFiles captures the files with the help of the index and the dirty set.
func (t *checkpointWriter) captureFiles(ctx context.Context, req retake.SaveRequest) (*capture.Result, *capture.Index, error) {
	o, err := t.svc.captureOptions(t.ws.ID, t.ws.Root, req.Budget, req.Progress)
	if err != nil {
		return nil, nil, err
	}
	t.policy = o.Policy
	x, err := t.svc.indexFor(ctx, t.cache, t.ws.ID, t.parent)
	if err != nil {
		return nil, nil, err
	}
	t.svc.drainTracker(t.cache, t.ws.Root)
	t.cache.limitToDirty(&o)
	res, err := capture.Read(ctx, t.root, x, t.writer, o)
	return res, x, err
}

// newCheckpoint returns the checkpoint of a capture, not sealed yet.
func (t *checkpointWriter) newCheckpoint(res *capture.Result, req retake.SaveRequest) (retake.Checkpoint, error) {
	id, err := req.ID, error(nil)
	if id == "" {
		id, err = newCheckpointID()
	}
	if err != nil {
		return retake.Checkpoint{}, fmt.Errorf("make id: %w", err)
	}
	cp := retake.Checkpoint{
		ID: id, Workspace: t.ws.ID, Number: t.writer.Head().Latest + 1,
		Time: t.svc.parts.Clock.Now(), Trigger: req.Trigger, Intent: req.Intent,
		Tree: res.Files.Object, Content: res.Content, Coverage: res.Coverage,
		Files: res.Files.Sum.Files + res.Files.Sum.Symlinks, Dirs: res.Files.Sum.Dirs,
		Bytes: res.Files.Sum.Bytes, NewBytes: res.NewBytes, Changed: res.Changed,
		Policy: t.policy,
	}
	if t.parent != nil {
		cp.Parent = t.parent.ID
	}
	if t.describe != nil {
		t.describe(&cp)
	}
	if f := t.svc.saveHooks.Describe; f != nil {
		f(&cp)
	}
	if cp.Intent == "" && (cp.Trigger == retake.TriggerManual || cp.Trigger == retake.TriggerQuiet) {
		cp.Intent = t.commitSubject(res)
	}
	return cp, nil
}

// recordSealed writes what follows from a seal: the row, the sync mark and the stat index.
// None of it can undo the checkpoint.
func (t *checkpointWriter) recordSealed(ctx context.Context, cp retake.Checkpoint, d *capture.Draft) {
	if err := t.svc.parts.Catalog.Append(ctx, cp); err != nil {
		t.warnings = append(t.warnings, retake.Warning{Code: "unlisted", Text: "saved, but not listed yet; the next command lists it: " + err.Error()})
	} else if err := t.svc.markCatalogSynced(ctx, t.writer.Head()); err != nil {
		t.warnings = append(t.warnings, retake.Warning{Code: "catalog", Text: err.Error()})
	}
	if err := t.svc.saveIndex(t.ws.ID, d); err != nil {
		t.warnings = append(t.warnings, retake.Warning{Code: "index", Text: "the next save reads every file again: " + err.Error()})
	}
}

func (s *Service) saveIndex(ws retake.WorkspaceID, d *capture.Draft) error {
	dir, err := s.parts.FS.OpenRoot(s.parts.IndexDir)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // a directory handle
	return d.Save(dir, indexFileName(ws))
}

// loadIndex loads the stat index if it belongs to the parent. Otherwise it is built from
// the tree, and every file is read.
func (s *Service) loadIndex(ctx context.Context, ws retake.WorkspaceID, parent *retake.Checkpoint) (*capture.Index, error) {
	if parent == nil {
		return capture.NewIndex(), nil
	}
	st, err := s.store(ctx)
	if err != nil {
		return nil, err
	}
	if dir, err := s.parts.FS.OpenRoot(s.parts.IndexDir); err == nil {
		x, lerr := capture.LoadIndex(dir, indexFileName(ws), func(seal capture.Seal) bool {
			return seal.Checkpoint == parent.ID && seal.Tree == parent.Tree
		})
		if err := dir.Close(); err == nil && lerr == nil && x.Seal().Checkpoint != "" {
			return x, nil
		}
	}
	leaf, err := st.Record(ctx, ws, parent.Number)
	if err != nil {
		return nil, err
	}
	return capture.IndexOfTree(ctx, st, leaf.Files, capture.Seal{Checkpoint: parent.ID, Number: parent.Number, Tree: parent.Tree})
}
