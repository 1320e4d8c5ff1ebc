package checkpoint

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Save records the workspace as it is now. When the time budget runs out, a partial
// checkpoint is sealed first and the capture continues to a complete one.
func (s *Checkpoints) Save(ctx context.Context, req retake.SaveRequest) (retake.SaveResult, error) {
	if req.ID != "" {
		if _, err := retake.ParseCheckpointID(string(req.ID)); err != nil {
			return retake.SaveResult{}, &retake.Error{Kind: retake.Invalid, What: "not a valid checkpoint ID", Safe: workspace.NotSaved, Err: err}
		}
	}
	ws, root, err := s.workspaces.OpenRoot(ctx, req.Workspace)
	if err != nil {
		return retake.SaveResult{}, err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	if req.Trigger == "" {
		req.Trigger = retake.TriggerManual
	}
	l := s.workspaces.CacheFor(ws.ID)
	l.LockAndCancelCheck()
	defer l.Mu.Unlock()
	l.LastUsed = s.workspaces.Clock.Now()
	l.IsSaving.Store(true)
	defer l.IsSaving.Store(false)
	res, err := s.SaveIfChanged(ctx, l, ws, root, req, Options{})
	if err != nil {
		return res, workspace.WrapSaveError(err)
	}
	if req.Pin != "" {
		if _, err := s.history.Pin(ctx, ws.ID, string(res.Checkpoint.ID), req.Pin); err != nil {
			res.Warnings = append(res.Warnings, retake.Warning{Code: "pin", Text: err.Error()})
		}
	}
	if s.Hooks.Warnings != nil {
		res.Warnings = append(res.Warnings, s.Hooks.Warnings(ws.ID)...)
	}
	return res, nil
}

// SaveIfChanged saves, unless IfChanged is set and the tracker shows that nothing changed.
func (s *Checkpoints) SaveIfChanged(ctx context.Context, l *workspace.Cache, ws retake.Workspace, root fsx.Dir, req retake.SaveRequest, a Options) (retake.SaveResult, error) {
	if req.IfChanged && (l.Tip == nil || l.Tip.ID != req.ID) { // otherwise it is a repeated request
		if s.workspaces.DrainTracker(l, ws.Root); l.IsUnchanged(s.workspaces.EffectivePolicy(ws.ID, ws.Root)) {
			l.NoteSave(nil) // all there is was saved
			return retake.SaveResult{Workspace: ws, Checkpoint: *l.Tip, Warnings: []retake.Warning{}}, nil
		}
	}
	return s.SaveNow(ctx, l, ws, root, req, a)
}

// Options are options of a save that only the service itself uses.
type Options struct {
	Exact    bool                     // with IfChanged: times and owners count too
	Describe func(*retake.Checkpoint) // adds to the checkpoint before it is sealed
	State    AgentFiles               // what is stored of the agent; nil: nothing
	Rescue   OutsideFiles             // what is stored of files outside the workspace; nil: nothing
}

// OutsideFiles stores files outside of the workspace with a checkpoint. It cannot fail: what it does
// not store it names. The entry is nil if nothing was stored.
type OutsideFiles interface {
	Store(ctx context.Context, w store.Writer) (*retake.Entry, []retake.Rescue)
}

// AgentFiles is what a checkpoint stores of an agent: documents by name, and entries whose
// bytes are in the store already. With an error the documents are stored without the entries.
type AgentFiles interface {
	StoredState(ctx context.Context, w store.Writer) (documents map[string][]byte, stored []retake.Entry, err error)
}

// Hooks is what others do about a save. None of them may fail or delay it.
type Hooks struct {
	Describe func(*retake.Checkpoint)                        // before the seal: adds who did it
	Sealed   func(cp retake.Checkpoint, res *capture.Result) // the checkpoint exists
	Recorded func(cp retake.Checkpoint, res *capture.Result) // and its row too
	Warnings func(ws retake.WorkspaceID) []retake.Warning    // for the answer of a save
}

// SaveNow takes a checkpoint, or returns the one that a repeated request made. After a
// panic the cache is dropped and the writer closed. The caller holds the lock of the cache.
func (s *Checkpoints) SaveNow(ctx context.Context, l *workspace.Cache, ws retake.Workspace, root fsx.Dir, req retake.SaveRequest, a Options) (res retake.SaveResult, err error) {
	t, err := s.BeginCheckpoint(ctx, l, ws, root)
	if err != nil {
		l.NoteSave(workspace.WrapSaveError(err))
		return retake.SaveResult{}, err
	}
	t.Options = a
	whole := false
	defer func() {
		if !whole { // after a panic the cache is not valid, and the writer must be closed
			l.Index, l.Tip, l.RescanReason = nil, nil, "a save broke off"
			_ = t.Close()
		}
	}()
	res, known, err := t.findRepeated(ctx, req)
	if err == nil && !known {
		res, err = t.saveCheckpoint(ctx, req)
	}
	whole = true
	l.NoteSave(workspace.WrapSaveError(err))
	if cerr := t.Close(); cerr != nil {
		res.Warnings = append(res.Warnings, retake.Warning{Code: "upkeep", Text: cerr.Error()})
	}
	if l.TrackerDistrusted {
		res.Warnings = append(res.Warnings, retake.Warning{Code: "tracker", Text: l.NoWatchReason + "; every save looks at every file until the daemon is started again"})
	}
	s.workspaces.RequestUpkeep()
	return res, err
}

// Writer saves one workspace. It owns the store's writer until close.
type Writer struct {
	Options
	svc      *Checkpoints
	cache    *workspace.Cache // locked by the caller
	ws       retake.Workspace
	root     fsx.Dir
	Writer   store.Writer
	parent   *retake.Checkpoint
	policy   retake.Policy // of the last capture; the user may change it meanwhile
	healed   func()        // to be called when the last capture is durable; nil: the store is not damaged
	warnings []retake.Warning

	rescues     []retake.Rescue // what was stored of Options.Rescue, once for all checkpoints of this writer
	rescueEntry *retake.Entry
}

// BeginCheckpoint opens the writer of a workspace and syncs the catalog. It refuses when
// the disk is below its minimum.
func (s *Checkpoints) BeginCheckpoint(ctx context.Context, l *workspace.Cache, ws retake.Workspace, root fsx.Dir) (*Writer, error) {
	free, floor, err := s.workspaces.DiskSpace()
	if err != nil {
		return nil, err
	}
	if free < floor {
		s.workspaces.RequestUpkeep() // space may be freed
		return nil, workspace.LowDiskError(free, floor)
	}
	st, err := s.workspaces.Store(ctx)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, s.workspaces.LockWait)
	defer cancel()
	w, err := st.Begin(wait, ws)
	if err != nil {
		return nil, err
	}
	t := &Writer{svc: s, cache: l, ws: ws, root: root, Writer: w}
	if err := s.workspaces.SyncCatalog(ctx, st, w.Head()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if l.Tip != nil && s.workspaces.Exclusive && l.Tip.Number == w.Head().Latest {
		t.parent = l.Tip // this service is the only writer
	} else if t.parent, err = s.loadTip(ctx, st, w.Head(), l); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return t, nil
}

// loadTip returns the newest checkpoint from the store: a save must build on what the store
// holds. If the catalog disagrees, it followed another store and is rebuilt.
func (s *Checkpoints) loadTip(ctx context.Context, st store.Store, h store.Head, l *workspace.Cache) (*retake.Checkpoint, error) {
	last, err := s.workspaces.LastNumber(ctx, h.Workspace.ID)
	if err != nil {
		return nil, err
	}
	l.Last = last
	row, err := s.workspaces.Catalog.Latest(ctx, h.Workspace.ID, 0)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return nil, err
	}
	if h.Latest == 0 {
		if err == nil {
			_, err := s.workspaces.Rebuild(ctx)
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
		_, err = s.workspaces.Rebuild(ctx)
		return &cp, err
	}
	return &cp, nil
}

func (t *Writer) Close() error { return t.Writer.Close() }

// saveCheckpoint takes a checkpoint, and completes it if the time budget ran out.
func (t *Writer) saveCheckpoint(ctx context.Context, req retake.SaveRequest) (retake.SaveResult, error) {
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
func (t *Writer) captureAndSeal(ctx context.Context, req retake.SaveRequest) (cp retake.Checkpoint, recorded bool, err error) {
	res, x, err := t.captureFiles(ctx, req)
	if err != nil {
		t.cache.RescanReason = failedSaveReason
		return retake.Checkpoint{}, false, err
	}
	if req.IfChanged && t.isUnchanged(res) {
		if err = t.flushHealed(ctx); err == nil {
			t.acceptUnchanged(res, x)
			return *t.parent, false, nil
		}
	} else if err = t.svc.workspaces.CheckTreeSize(res.Files.Sum.Bytes); err == nil {
		t.storeOutsideFiles(ctx)
		cp, err = t.newCheckpoint(ctx, res, req)
	}
	if err == nil {
		card := retake.Card{V: retake.CardVersion, Checkpoint: cp}
		documents, stored := t.storedAgentFiles(ctx)
		if t.rescueEntry != nil {
			stored = append(stored, *t.rescueEntry)
		}
		err = t.Writer.Seal(ctx, store.SealRequest{Card: card, Files: res.Files, State: documents, StoredState: stored})
	}
	if err != nil {
		res.Draft.Discard()
		t.cache.RescanReason = failedSaveReason
		t.cache.TipInDoubt = t.cache.TipInDoubt || errors.Is(err, store.ErrInDoubt)
		return cp, false, err
	}
	t.cache.TipInDoubt = false // this seal made earlier ones durable too
	t.markHealed()
	// ---- the checkpoint exists; from here on there are only warnings ----
	res.Draft.Accept(capture.Seal{Checkpoint: cp.ID, Number: cp.Number, Tree: cp.Tree})
	t.cache.SetTip(x, cp)
	t.parent = &cp
	if f := t.svc.Hooks.Sealed; f != nil {
		f(cp, res)
	}
	t.recordSealed(ctx, cp, res.Draft)
	if f := t.svc.Hooks.Recorded; f != nil {
		f(cp, res)
	}
	return cp, true, nil
}

// storeOutsideFiles stores what the call may destroy elsewhere, before the seal that holds it.
func (t *Writer) storeOutsideFiles(ctx context.Context) {
	if t.Rescue != nil {
		t.rescueEntry, t.rescues = t.Rescue.Store(ctx, t.Writer)
		t.Rescue = nil // a second checkpoint of the same call has the same files
	}
}

// storedAgentFiles returns what the checkpoint stores of the agent. Without it the checkpoint is
// still complete.
func (t *Writer) storedAgentFiles(ctx context.Context) (map[string][]byte, []retake.Entry) {
	if t.State == nil {
		return nil, nil
	}
	documents, stored, err := t.State.StoredState(ctx, t.Writer)
	if err != nil {
		t.warnings = append(t.warnings, retake.Warning{Code: "state", Text: "the conversation is not kept with this checkpoint: " + err.Error()})
	}
	return documents, stored
}

// failedSaveReason forces a full scan: after a failed save the dirty set may be incomplete.
const failedSaveReason = "the save before did not work out"

// isUnchanged reports whether a capture is as the checkpoint before it.
func (t *Writer) isUnchanged(res *capture.Result) bool {
	p := t.parent
	return p != nil && p.Content == res.Content && p.Coverage.Grade == res.Coverage.Grade && (!t.Exact || p.Tree == res.Files.Object) && !t.cache.TipInDoubt
}

// acceptUnchanged ends a capture that is not recorded. If it found the very tree of the
// parent, the dirty set is clean; else only times changed, and the dirty set stays.
func (t *Writer) acceptUnchanged(res *capture.Result, x *capture.Index) {
	if p := t.parent; p.Tree == res.Files.Object {
		res.Draft.Accept(capture.Seal{Checkpoint: p.ID, Number: p.Number, Tree: p.Tree})
		t.cache.SetTip(x, *p)
		t.cache.Gaps, t.cache.Policy = res.Coverage.Gaps, t.policy
		return
	}
	res.Draft.Discard()
	t.cache.Index = x
}

// captureFiles captures the files with the help of the index and the dirty set.
func (t *Writer) captureFiles(ctx context.Context, req retake.SaveRequest) (*capture.Result, *capture.Index, error) {
	o, err := t.svc.workspaces.CaptureOptions(t.ws.ID, t.ws.Root, req.Budget, req.Progress)
	if err != nil {
		return nil, nil, err
	}
	t.policy = o.Policy
	x, err := t.svc.workspaces.IndexFor(ctx, t.cache, t.ws.ID, t.parent)
	if err != nil {
		return nil, nil, err
	}
	t.svc.workspaces.DrainTracker(t.cache, t.ws.Root)
	t.healed = t.cache.DistrustDamage(t.svc.workspaces.StoreIfOpen(), x)
	t.cache.LimitToDirty(&o)
	res, err := capture.Read(ctx, t.root, x, t.Writer, o)
	return res, x, err
}

// newCheckpoint returns the checkpoint of a capture, not sealed yet.
func (t *Writer) newCheckpoint(ctx context.Context, res *capture.Result, req retake.SaveRequest) (retake.Checkpoint, error) {
	id, err := req.ID, error(nil)
	if id == "" {
		id, err = workspace.NewCheckpointID()
	}
	if err != nil {
		return retake.Checkpoint{}, fmt.Errorf("make id: %w", err)
	}
	cp := retake.Checkpoint{
		ID: id, Workspace: t.ws.ID, Number: max(t.Writer.Head().Latest, t.cache.Last) + 1,
		Time: t.svc.workspaces.Clock.Now(), Trigger: req.Trigger, Intent: req.Intent,
		Tree: res.Files.Object, Content: res.Content, Coverage: res.Coverage,
		Files: res.Files.Sum.Files + res.Files.Sum.Symlinks, Dirs: res.Files.Sum.Dirs,
		Bytes: res.Files.Sum.Bytes, NewBytes: res.NewBytes, Changed: res.Changed,
		Policy: t.policy, Rescues: t.rescues,
	}
	if a, ok := retake.ActorOf(ctx); ok {
		cp.Key = a.Key
	}
	if t.parent != nil {
		cp.Parent = t.parent.ID
	}
	if t.Describe != nil {
		t.Describe(&cp)
	}
	if f := t.svc.Hooks.Describe; f != nil {
		f(&cp)
	}
	if cp.Intent == "" && (cp.Trigger == retake.TriggerManual || cp.Trigger == retake.TriggerQuiet) {
		cp.Intent = t.commitSubject(res)
	}
	return cp, nil
}

// recordSealed writes what follows from a seal: the row, the sync mark and the stat index.
// None of it can undo the checkpoint.
func (t *Writer) recordSealed(ctx context.Context, cp retake.Checkpoint, d *capture.Draft) {
	if err := t.svc.workspaces.Catalog.Append(ctx, cp, workspace.SyncedMark(t.Writer.Head())); err != nil {
		t.warnings = append(t.warnings, retake.Warning{Code: "unlisted", Text: "saved, but not listed yet; the next command lists it: " + err.Error()})
	}
	if err := t.svc.workspaces.SaveIndex(t.ws.ID, d); err != nil {
		t.warnings = append(t.warnings, retake.Warning{Code: "index", Text: "the next save reads every file again: " + err.Error()})
	}
}
