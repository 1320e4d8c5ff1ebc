package service

import (
	"context"
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/capture"
	"github.com/retake-dev/retake/internal/catalog"
	"github.com/retake-dev/retake/internal/fsx"
	"github.com/retake-dev/retake/internal/store"
)

// Save records the workspace as it is now. When a budget runs out, what was read
// is sealed as a partial checkpoint, and the capture goes on to a complete one.
func (s *Service) Save(ctx context.Context, req retake.SaveRequest) (retake.SaveResult, error) {
	ws, root, err := s.openRoot(ctx, req.Workspace)
	if err != nil {
		return retake.SaveResult{}, err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	if req.Trigger == "" {
		req.Trigger = retake.TriggerManual
	}
	t, err := s.begin(ctx, ws, root)
	if err != nil {
		return retake.SaveResult{}, fault("not saved", notSaved, err)
	}
	res, err := t.save(ctx, req)
	if cerr := t.close(); cerr != nil {
		res.Warnings = append(res.Warnings, retake.Warning{Code: "upkeep", Text: cerr.Error()})
	}
	if err != nil {
		return res, fault("not saved", notSaved, err)
	}
	if req.Pin != "" {
		if _, err := s.Pin(ctx, ws.ID, string(res.Checkpoint.ID), req.Pin); err != nil {
			res.Warnings = append(res.Warnings, retake.Warning{Code: "pin", Text: err.Error()})
		}
	}
	return res, nil
}

// taking is one workspace that is being written: its line is ours until close.
type taking struct {
	s      *Service
	ws     retake.Workspace
	root   fsx.Dir
	w      store.Writer
	parent *retake.Checkpoint
	warn   []retake.Warning
}

// begin takes the line and brings the catalog up to it.
func (s *Service) begin(ctx context.Context, ws retake.Workspace, root fsx.Dir) (*taking, error) {
	free, floor, err := s.room()
	if err != nil {
		return nil, err
	}
	if free < floor {
		return nil, lowDisk(free, floor)
	}
	st, err := s.store(ctx)
	if err != nil {
		return nil, err
	}
	wait, cancel := context.WithTimeout(ctx, s.p.Wait)
	defer cancel()
	w, err := st.Begin(wait, ws)
	if err != nil {
		return nil, err
	}
	t := &taking{s: s, ws: ws, root: root, w: w}
	if err := s.follow(ctx, st, w.Head()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if t.parent, err = s.tip(ctx, st, w.Head()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return t, nil
}

// tip is the newest checkpoint of a line, from the store: what a save builds on
// must be what the store holds, whatever the catalog says. A catalog that says
// otherwise followed a store that is not there any more, and is made again.
func (s *Service) tip(ctx context.Context, st store.Store, h store.Head) (*retake.Checkpoint, error) {
	row, err := s.p.Catalog.Latest(ctx, h.Workspace.ID, 0)
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
	leaf, lerr := st.Leaf(ctx, h.Workspace.ID, h.Latest)
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

func (t *taking) close() error { return t.w.Close() }

func (t *taking) save(ctx context.Context, req retake.SaveRequest) (retake.SaveResult, error) {
	cp, created, err := t.take(ctx, req)
	if err != nil {
		return retake.SaveResult{}, err
	}
	res := retake.SaveResult{Workspace: t.ws, Checkpoint: cp, Created: created}
	if cp.Coverage.Count()[retake.ReasonBudget] > 0 {
		req.Budget, req.Trigger = 0, retake.TriggerComplete
		whole, more, err := t.take(ctx, req)
		if err != nil { // the partial one stands
			t.warn = append(t.warn, retake.Warning{Code: "incomplete", Text: "the rest was not saved: " + err.Error()})
		} else {
			res.Partial, res.Checkpoint, res.Created = &cp, whole, created || more
		}
	}
	res.Warnings = append([]retake.Warning{}, t.warn...)
	return res, nil
}

// take is the sacred line: capture, seal, row.
func (t *taking) take(ctx context.Context, req retake.SaveRequest) (retake.Checkpoint, bool, error) {
	res, err := t.read(ctx, req)
	if err != nil {
		return retake.Checkpoint{}, false, err
	}
	cp, err := t.checkpoint(res, req)
	if err != nil {
		return cp, false, err
	}
	card := retake.Card{V: retake.CardVersion, Checkpoint: cp}
	if err := t.w.Seal(ctx, store.Sealing{Card: card, Files: res.Files}); err != nil {
		return cp, false, err
	}
	// ---- the checkpoint exists; from here on there are only warnings ----
	created := t.parent == nil || t.parent.Content != cp.Content
	t.parent = &cp
	t.note(ctx, cp, res.Draft)
	return cp, created, nil
}

// read captures by what the index knows.
func (t *taking) read(ctx context.Context, req retake.SaveRequest) (*capture.Result, error) {
	o, err := t.s.captureOptions(t.ws.ID, req.Budget, req.Progress)
	if err != nil {
		return nil, err
	}
	x, err := t.s.index(ctx, t.ws.ID, t.parent)
	if err != nil {
		return nil, err
	}
	return capture.Read(ctx, t.root, x, t.w, o)
}

func (t *taking) checkpoint(res *capture.Result, req retake.SaveRequest) (retake.Checkpoint, error) {
	id, err := newCheckpointID()
	if err != nil {
		return retake.Checkpoint{}, fmt.Errorf("make id: %w", err)
	}
	cp := retake.Checkpoint{
		ID: id, Workspace: t.ws.ID, Number: t.w.Head().Latest + 1,
		Time: t.s.p.Clock.Now(), Trigger: req.Trigger, Intent: req.Intent,
		Tree: res.Files.Object, Content: res.Content, Coverage: res.Coverage,
		Files: res.Files.Sum.Files + res.Files.Sum.Symlinks, Dirs: res.Files.Sum.Dirs,
		Bytes: res.Files.Sum.Bytes, NewBytes: res.NewBytes, Changed: res.Changed,
		Policy: t.s.p.Policy(t.ws.ID),
	}
	if t.parent != nil {
		cp.Parent = t.parent.ID
	}
	return cp, nil
}

// note writes what follows from a seal: the row, how far the catalog follows, the
// stat index. None of it can take the checkpoint back.
func (t *taking) note(ctx context.Context, cp retake.Checkpoint, d *capture.Draft) {
	if err := t.s.p.Catalog.Append(ctx, cp); err != nil {
		t.warn = append(t.warn, retake.Warning{Code: "unlisted", Text: "saved, but not listed yet; the next command lists it: " + err.Error()})
	} else if err := t.s.followed(ctx, t.w.Head()); err != nil {
		t.warn = append(t.warn, retake.Warning{Code: "catalog", Text: err.Error()})
	}
	if err := t.s.saveIndex(t.ws.ID, d, cp); err != nil {
		t.warn = append(t.warn, retake.Warning{Code: "index", Text: "the next save reads every file again: " + err.Error()})
	}
}

func (s *Service) saveIndex(ws retake.WorkspaceID, d *capture.Draft, cp retake.Checkpoint) error {
	dir, err := s.p.FS.OpenRoot(s.p.Indexes)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // a directory handle
	return d.Save(dir, indexName(ws), capture.Seal{Checkpoint: cp.ID, Number: cp.Number, Tree: cp.Tree})
}

// index loads the stat index as far as the store vouches for it. Without one the
// last tree tells what changed, and every file is read.
func (s *Service) index(ctx context.Context, ws retake.WorkspaceID, parent *retake.Checkpoint) (*capture.Index, error) {
	if parent == nil {
		return capture.NewIndex(), nil
	}
	st, err := s.store(ctx)
	if err != nil {
		return nil, err
	}
	if dir, err := s.p.FS.OpenRoot(s.p.Indexes); err == nil {
		x, lerr := capture.Load(dir, indexName(ws), func(seal capture.Seal) bool {
			return seal.Checkpoint == parent.ID && seal.Tree == parent.Tree
		})
		if err := dir.Close(); err == nil && lerr == nil && x.Seal().Checkpoint != "" {
			return x, nil
		}
	}
	leaf, err := st.Leaf(ctx, ws, parent.Number)
	if err != nil {
		return nil, err
	}
	return capture.IndexOfTree(ctx, st, leaf.Files, capture.Seal{Checkpoint: parent.ID, Number: parent.Number, Tree: parent.Tree})
}

func lowDisk(free, floor int64) error {
	return &retake.Error{
		Kind: retake.Limit,
		What: fmt.Sprintf("not saved: the disk is down to %d MB, and the floor is %d MB", free/1e6, floor/1e6),
		Safe: notSaved,
		Hint: "free some: retake space --free     lower the floor: retake config floor SIZE",
	}
}
