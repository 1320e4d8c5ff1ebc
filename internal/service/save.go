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

// Save records the workspace as it is now. When a budget runs out, what was read
// is sealed as a partial checkpoint, and the capture goes on to a complete one.
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
	l := s.liveOf(ws.ID)
	l.lock()
	defer l.mu.Unlock()
	l.used = s.p.Clock.Now()
	l.saving.Store(true)
	defer l.saving.Store(false)
	res, err := s.saveFor(ctx, l, ws, root, req, asking{})
	if err != nil {
		return res, fault("not saved", notSaved, err)
	}
	if req.Pin != "" {
		if _, err := s.Pin(ctx, ws.ID, string(res.Checkpoint.ID), req.Pin); err != nil {
			res.Warnings = append(res.Warnings, retake.Warning{Code: "pin", Text: err.Error()})
		}
	}
	res.Warnings = append(res.Warnings, s.backedUp(ws.ID)...)
	return res, nil
}

// saveFor saves, unless that is asked only for changes and there can be none.
func (s *Service) saveFor(ctx context.Context, l *live, ws retake.Workspace, root fsx.Dir, req retake.SaveRequest, a asking) (retake.SaveResult, error) {
	if req.IfChanged && (l.tip == nil || l.tip.ID != req.ID) { // else it is asked for the second time
		if s.drain(l, ws.Root); l.still(s.policy(ws.ID, ws.Root)) {
			return retake.SaveResult{Workspace: ws, Checkpoint: *l.tip, Warnings: []retake.Warning{}}, nil
		}
	}
	return s.saveAs(ctx, l, ws, root, req, a)
}

// asking is what only the service itself asks of a save.
type asking struct {
	exact bool                     // with IfChanged: also times and owners count
	say   func(*retake.Checkpoint) // says more of the checkpoint before it is sealed
	state map[string][]byte        // what the agent holds
	talk  *keptTalk                // its conversation, as far as that is stored already
}

func (s *Service) saveAs(ctx context.Context, l *live, ws retake.Workspace, root fsx.Dir, req retake.SaveRequest, a asking) (res retake.SaveResult, err error) {
	t, err := s.begin(ctx, l, ws, root)
	if err != nil {
		return retake.SaveResult{}, err
	}
	t.asking = a
	whole := false
	defer func() {
		if !whole { // something panicked: what is in memory is worth nothing, and the line must be given back
			l.x, l.tip, l.doubt = nil, nil, "a save broke off"
			_ = t.close()
		}
	}()
	res, known, err := t.again(ctx, req)
	if err == nil && !known {
		res, err = t.save(ctx, req)
	}
	whole = true
	if cerr := t.close(); cerr != nil {
		res.Warnings = append(res.Warnings, retake.Warning{Code: "upkeep", Text: cerr.Error()})
	}
	if l.distrusted {
		res.Warnings = append(res.Warnings, retake.Warning{Code: "tracker", Text: l.why + "; every save looks at every file until the daemon is started again"})
	}
	s.care.kick()
	return res, err
}

// taking is one workspace that is being written: its line is ours until close.
type taking struct {
	asking
	s      *Service
	l      *live // ours, by its lock
	ws     retake.Workspace
	root   fsx.Dir
	w      store.Writer
	parent *retake.Checkpoint
	policy retake.Policy // of the last capture; the user may change it meanwhile
	warn   []retake.Warning
}

// begin takes the line and brings the catalog up to it.
func (s *Service) begin(ctx context.Context, l *live, ws retake.Workspace, root fsx.Dir) (*taking, error) {
	free, floor, err := s.room()
	if err != nil {
		return nil, err
	}
	if free < floor {
		s.care.kick() // room may be made
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
	t := &taking{s: s, l: l, ws: ws, root: root, w: w}
	if err := s.follow(ctx, st, w.Head()); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if l.tip != nil && s.p.Exclusive && l.tip.Number == w.Head().Latest {
		t.parent = l.tip // nobody else writes
	} else if t.parent, err = s.tip(ctx, st, w.Head()); err != nil {
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

func (t *taking) close() error { return t.w.Close() }

func (t *taking) save(ctx context.Context, req retake.SaveRequest) (retake.SaveResult, error) {
	before := t.parent
	cp, recorded, err := t.take(ctx, req)
	if err != nil {
		return retake.SaveResult{}, err
	}
	res := retake.SaveResult{Workspace: t.ws, Checkpoint: cp, Recorded: recorded}
	if recorded && cp.Coverage.Count()[retake.ReasonBudget] > 0 {
		t.complete(ctx, req, &res)
	}
	res.Created = recorded && (before == nil || before.Content != res.Checkpoint.Content)
	res.Warnings = append([]retake.Warning{}, t.warn...)
	return res, nil
}

// take is the sacred line: capture, seal, row. With IfChanged it may find that there
// is nothing to record, and answers the parent.
func (t *taking) take(ctx context.Context, req retake.SaveRequest) (cp retake.Checkpoint, recorded bool, err error) {
	res, x, err := t.read(ctx, req)
	if err != nil {
		t.l.doubt = brokenOff
		return retake.Checkpoint{}, false, err
	}
	if p := t.parent; req.IfChanged && p != nil && p.Content == res.Content && p.Coverage.Grade == res.Coverage.Grade && (!t.exact || p.Tree == res.Files.Object) && !t.l.uncertain {
		t.pass(res, x)
		return *p, false, nil
	}
	if err = t.s.tooMuch(res.Files.Sum.Bytes); err == nil {
		cp, err = t.checkpoint(res, req)
	}
	if err == nil {
		card := retake.Card{V: retake.CardVersion, Checkpoint: cp}
		err = t.w.Seal(ctx, store.SealRequest{Card: card, Files: res.Files, State: t.state, StoredState: t.references(ctx)})
	}
	if err != nil {
		res.Draft.Discard()
		t.l.doubt = brokenOff
		t.l.uncertain = t.l.uncertain || errors.Is(err, store.ErrInDoubt)
		return cp, false, err
	}
	t.l.uncertain = false // this seal made those before it durable too
	// ---- the checkpoint exists; from here on there are only warnings ----
	res.Draft.Accept(capture.Seal{Checkpoint: cp.ID, Number: cp.Number, Tree: cp.Tree})
	t.l.settle(x, cp)
	if t.parent = &cp; res.Complete {
		t.s.care.looked(cp.Files)
	}
	t.s.told(cp)
	t.note(ctx, cp, res.Draft)
	t.s.teller.sealed(cp, res)
	t.s.runner.checkpoint(cp)
	t.s.backer.checkpoint(cp)
	return cp, true, nil
}

// brokenOff: names that a save was told of may be lost by the next one, and with them
// the way to what was written through them.
const brokenOff = "the save before did not work out"

// pass ends a capture that is not recorded. One that found the very tree of the parent
// still tells what is settled; else only times changed, and what was told of them
// stays told.
func (t *taking) pass(res *capture.Result, x *capture.Index) {
	if p := t.parent; p.Tree == res.Files.Object {
		res.Draft.Accept(capture.Seal{Checkpoint: p.ID, Number: p.Number, Tree: p.Tree})
		t.l.settle(x, *p)
		t.l.gaps, t.l.policy = res.Coverage.Gaps, t.policy
		return
	}
	res.Draft.Discard()
	t.l.x = x
}

// read captures by what the index knows and what the tracker told.
func (t *taking) read(ctx context.Context, req retake.SaveRequest) (*capture.Result, *capture.Index, error) {
	o, err := t.s.captureOptions(t.ws.ID, t.ws.Root, req.Budget, req.Progress)
	if err != nil {
		return nil, nil, err
	}
	t.policy = o.Policy
	x, err := t.s.indexFor(ctx, t.l, t.ws.ID, t.parent)
	if err != nil {
		return nil, nil, err
	}
	t.s.drain(t.l, t.ws.Root)
	t.l.narrow(&o)
	res, err := capture.Read(ctx, t.root, x, t.w, o)
	return res, x, err
}

func (t *taking) checkpoint(res *capture.Result, req retake.SaveRequest) (retake.Checkpoint, error) {
	id, err := req.ID, error(nil)
	if id == "" {
		id, err = newCheckpointID()
	}
	if err != nil {
		return retake.Checkpoint{}, fmt.Errorf("make id: %w", err)
	}
	cp := retake.Checkpoint{
		ID: id, Workspace: t.ws.ID, Number: t.w.Head().Latest + 1,
		Time: t.s.p.Clock.Now(), Trigger: req.Trigger, Intent: req.Intent,
		Tree: res.Files.Object, Content: res.Content, Coverage: res.Coverage,
		Files: res.Files.Sum.Files + res.Files.Sum.Symlinks, Dirs: res.Files.Sum.Dirs,
		Bytes: res.Files.Sum.Bytes, NewBytes: res.NewBytes, Changed: res.Changed,
		Policy: t.policy,
	}
	if t.parent != nil {
		cp.Parent = t.parent.ID
	}
	if t.say != nil {
		t.say(&cp)
	}
	t.s.attribute(&cp)
	if cp.Intent == "" && (cp.Trigger == retake.TriggerManual || cp.Trigger == retake.TriggerQuiet) {
		cp.Intent = t.subject(res)
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
	if err := t.s.saveIndex(t.ws.ID, d); err != nil {
		t.warn = append(t.warn, retake.Warning{Code: "index", Text: "the next save reads every file again: " + err.Error()})
	}
}

func (s *Service) saveIndex(ws retake.WorkspaceID, d *capture.Draft) error {
	dir, err := s.p.FS.OpenRoot(s.p.Indexes)
	if err != nil {
		return err
	}
	defer dir.Close() //nolint:errcheck // a directory handle
	return d.Save(dir, indexName(ws))
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
		x, lerr := capture.LoadIndex(dir, indexName(ws), func(seal capture.Seal) bool {
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
