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

// Purge removes content from history, and searches for it afterwards.
func (s *Service) Purge(ctx context.Context, req retake.PurgeRequest) (retake.PurgeReport, error) {
	const partly = "Every checkpoint that is listed can be read. Run it again to finish."
	var rep retake.PurgeReport
	p, err := s.newPurging(ctx, req)
	if err != nil {
		return rep, err
	}
	if err := p.free(ctx); err != nil {
		return rep, err
	}
	if rep.Plan, err = p.plan(ctx); err != nil {
		return rep, fault("the history cannot be searched", unchanged, err)
	}
	ctx = context.WithoutCancel(ctx) // half a purge is none
	for _, w := range p.family {
		if err := p.line(ctx, w); err != nil {
			return rep, fault("purged in part", partly, err)
		}
	}
	if rep.Sweep, err = p.s.wipe(ctx, p.st); err == nil {
		err = p.rest(ctx)
	}
	if err != nil {
		return rep, fault("purged in part", partly, err)
	}
	err = p.prove(ctx, &rep)
	return rep, fault("purged, but the search afterwards did not end", partly, err)
}

// free refuses when something keeps the history as it is: a legal hold, or a restore
// that was interrupted.
func (p *purging) free(ctx context.Context) error {
	for _, w := range p.family {
		pins, err := p.s.p.Catalog.Pins(ctx, w.ID)
		if err != nil {
			return fault("the pins cannot be listed", unchanged, err)
		}
		if i := slices.IndexFunc(pins, func(pin retake.Pin) bool { return strings.HasPrefix(pin.Name, retake.HoldPrefix) }); i >= 0 {
			return &retake.Error{Kind: retake.Denied, What: fmt.Sprintf("checkpoint %d of %s is under a legal hold, so nothing can be purged", pins[i].Number, w.Name), Safe: unchanged, Hint: "release the hold first"}
		}
		if cut, err := p.s.cutOff(w.ID); err != nil || cut != nil {
			return &retake.Error{Kind: retake.Busy, What: "a restore of " + w.Name + " was interrupted and still needs this data", Safe: unchanged, Hint: "finish it: retake restore --finish", Err: err}
		}
	}
	return nil
}

// revisePiece is how many checkpoints are changed in one step.
const revisePiece = 64

// line changes the checkpoints of one workspace. Nobody saves or restores meanwhile.
func (p *purging) line(ctx context.Context, w retake.WorkspaceState) error {
	l := p.s.liveOf(w.ID)
	l.lock()
	defer l.mu.Unlock()
	err := p.s.onLine(ctx, w.Workspace, func(out store.Writer) error {
		p.w = out
		defer func() { p.w = nil }()
		var piece []store.Record
		flush := func() error {
			if len(piece) == 0 {
				return nil
			}
			err := out.Revise(ctx, piece)
			piece = nil
			return err
		}
		err := p.st.Records(ctx, w.ID, 0, func(leaf *store.Record, _ *retake.Tombstone) error {
			if leaf == nil {
				return nil
			}
			next, changed, err := p.leaf(ctx, *leaf)
			if err != nil || !changed {
				return err
			}
			if piece = append(piece, next); len(piece) < revisePiece {
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
		err = nil // it has no line yet
	}
	l.x, l.tip, l.gaps, l.shown = nil, nil, nil, nil
	l.doubt = "the history was purged"
	l.lists.drop()
	return err
}

// wipe drops what no checkpoint needs, and leaves none of its bytes in what stays.
func (s *Service) wipe(ctx context.Context, st store.Store) (retake.SweepReport, error) {
	b := &s.bounds
	if end := b.running.Load(); end != nil {
		(*end)() // the one that nobody asked for
	}
	b.tidying.Lock()
	defer b.tidying.Unlock()
	return s.sweepNoted(ctx, st, store.SweepOptions{Wipe: true}, new(bool))
}

// rest removes the copies beside the store: rows and what was found out from them, what
// is known of sessions, replaced files, stat indexes, what waits to be heard, and the
// local side of the git backup.
func (p *purging) rest(ctx context.Context) error {
	p.s.teller.forgetAll()
	if _, err := p.s.Rebuild(ctx); err != nil {
		return err
	}
	for _, w := range p.family {
		p.clearTrash(w)
		if err := p.s.removeIn(p.s.p.Indexes, indexName(w.ID)); err != nil {
			return err
		}
		if err := p.sessions(w.ID); err != nil {
			return err
		}
		if p.s.p.Backup != nil {
			if err := p.s.p.Backup.Forget(ctx, w.ID); err != nil {
				return err
			}
		}
	}
	if p.match != nil {
		for _, dir := range []string{p.s.p.Signals, p.s.p.Sessions} {
			if err := p.maskFiles(dir); err != nil {
				return err
			}
		}
	}
	return p.s.p.Catalog.Wipe(ctx)
}

// maskFiles masks the content in the small files of a directory of ours.
func (p *purging) maskFiles(dir string) error {
	if dir == "" {
		return nil
	}
	return p.s.eachFile(dir, func(at fsx.Dir, path string) error {
		name := filepath.Base(path)
		f, err := at.OpenFile(name)
		if err != nil {
			return ignoreGone(err)
		}
		b, err := io.ReadAll(io.LimitReader(f, maxHearing))
		if err = errors.Join(err, f.Close()); err != nil || !p.match.in(b) {
			return err
		}
		return replaceSmall(at, name, p.match.mask(b))
	})
}

// clearTrash removes what restores replaced, whatever its age: the checkpoints before
// these restores hold all of it that may stay.
func (p *purging) clearTrash(w retake.WorkspaceState) {
	for _, dir := range []string{filepath.Join(p.s.p.Returns, string(w.ID)), filepath.Join(w.Root, marker.Dir)} {
		at, err := p.s.p.FS.OpenRoot(dir)
		if err != nil {
			continue
		}
		names, _ := at.Names() // nothing to clear where nothing can be listed
		for _, name := range names {
			if strings.HasPrefix(name, retake.CheckpointPrefix) {
				_ = restore.EmptyTrash(at, name) // the search afterwards finds what is left
			}
		}
		_ = at.Close() // a directory handle
	}
}

// sessions masks what is known of agents, in memory and on disk.
func (p *purging) sessions(id retake.WorkspaceID) error {
	if p.match == nil {
		return nil
	}
	h := p.s.hearingOf(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.state.Sessions {
		if x := &h.state.Sessions[i]; p.match.in(x.Talk.Tail) {
			x.Talk.Tail = nil // without it the rest of the conversation is read on from its length
		}
	}
	b, err := json.Marshal(h.state)
	if err != nil {
		return err
	}
	text := p.match.mask(p.renamed(b))
	if bytes.Equal(text, b) {
		return nil
	}
	var st session.State
	if err := json.Unmarshal(text, &st); err != nil {
		return err
	}
	h.state = st
	return h.store()
}

// prove reads everything that is kept, and names each copy that is left.
func (p *purging) prove(ctx context.Context, rep *retake.PurgeReport) error {
	rep.Left = []string{}
	if p.match == nil {
		return p.provePaths(ctx, rep)
	}
	n := 0
	err := p.st.Contents(ctx, func(b []byte) error {
		rep.Searched++
		rep.Bytes += int64(len(b))
		if p.match.bytes(b, 0) {
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
	p.match.known = map[retake.ObjectID]bool{} // read again, whatever was found before
	again := &purging{s: p.s, st: p.st, req: p.req, match: p.match, family: p.family, dirs: map[retake.ObjectID]cleaned{}, gone: map[retake.ObjectID]int64{}, where: map[string]bool{}, masked: map[retake.ObjectID]retake.Entry{}}
	plan, err := again.plan(ctx)
	if err != nil {
		return err
	}
	if rep.Searched += again.read; plan.Checkpoints > 0 {
		rep.Left = append(rep.Left, fmt.Sprintf("%d checkpoints", plan.Checkpoints))
	}
	return p.proveFiles(rep)
}

// provePaths looks for the paths in every checkpoint, and for the bytes that were there.
func (p *purging) provePaths(ctx context.Context, rep *retake.PurgeReport) error {
	again := &purging{s: p.s, st: p.st, req: p.req, family: p.family, gone: map[retake.ObjectID]int64{}, where: map[string]bool{}, masked: map[retake.ObjectID]retake.Entry{}}
	plan, err := again.plan(ctx)
	if err != nil {
		return err
	}
	if plan.Checkpoints > 0 {
		rep.Left = append(rep.Left, fmt.Sprintf("%d checkpoints", plan.Checkpoints))
	}
	same := 0
	for id := range p.gone {
		rep.Searched++
		r, err := p.st.File(ctx, id)
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

// proveFiles reads every file that we keep, as it is on disk.
func (p *purging) proveFiles(rep *retake.PurgeReport) error {
	return p.s.eachFile(p.s.p.Data, func(at fsx.Dir, path string) error {
		f, err := at.OpenFile(filepath.Base(path))
		if err != nil {
			return ignoreGone(err)
		}
		defer f.Close() //nolint:errcheck // only read
		i, err := f.Stat()
		if err != nil {
			return err
		}
		rep.Searched, rep.Bytes = rep.Searched+1, rep.Bytes+i.Size
		found, err := p.match.inside(io.NewSectionReader(f, 0, i.Size))
		if found {
			rep.Left = append(rep.Left, "the file "+path)
		}
		return err
	})
}

// eachFile calls f for every regular file below a directory of ours, with the directory
// that it is in and its whole path.
func (s *Service) eachFile(dir string, f func(at fsx.Dir, path string) error) error {
	root, err := s.p.FS.OpenRoot(dir)
	if err != nil {
		return ignoreGone(err)
	}
	defer root.Close() //nolint:errcheck // only listed
	return walkFiles(root, dir, f)
}

func walkFiles(at fsx.Dir, dir string, f func(at fsx.Dir, path string) error) error {
	names, err := at.Names()
	if err != nil {
		return ignoreGone(err)
	}
	for _, name := range names {
		i, err := at.Lstat(name)
		switch {
		case err != nil:
			err = ignoreGone(err) // it went meanwhile
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

// removeIn removes a file of ours that may not be there.
func (s *Service) removeIn(dir, name string) error {
	at, err := s.p.FS.OpenRoot(dir)
	if err != nil {
		return ignoreGone(err)
	}
	return errors.Join(ignoreGone(at.Remove(name)), at.Close())
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Erase ends a workspace and removes its whole history.
func (s *Service) Erase(ctx context.Context, id retake.WorkspaceID) (retake.PurgeReport, error) {
	rep := retake.PurgeReport{Left: []string{}}
	ws, err := s.row(ctx, id)
	if err != nil {
		return rep, fault("no such workspace", unchanged, err)
	}
	if s.p.Steadfast {
		return rep, &retake.Error{Kind: retake.Denied, What: "a history cannot be erased on a server yet", Safe: unchanged, Hint: "remove checkpoints: POST /v1/deletions"}
	}
	st, err := s.store(ctx)
	if err != nil {
		return rep, fault("the store cannot be opened", unchanged, err)
	}
	p := &purging{s: s, st: st, family: []retake.WorkspaceState{{Workspace: ws}}}
	if err := p.free(ctx); err != nil {
		return rep, err
	}
	if ws.Ended == nil {
		if _, err := s.Deinit(ctx, id); err != nil {
			return rep, err
		}
	}
	ctx = context.WithoutCancel(ctx)
	const partly = "The workspace is no longer protected. Run it again to erase the rest."
	if s.p.Backup != nil {
		if b, err := s.p.Backup.State(id); err == nil && b.Pushed != nil {
			rep.Left = append(rep.Left, fmt.Sprintf("the git backup %s, branch %s: what was pushed is not removed there", b.URL, b.Branch))
		}
	}
	live, _, err := s.p.Catalog.Counts(ctx, id)
	if err != nil {
		return rep, fault("not erased", partly, err)
	}
	rep.Plan = retake.PurgePlan{Checkpoints: live, Workspaces: []retake.PurgeScope{{Workspace: id, Name: ws.Name, Checkpoints: live}}, Gaps: []retake.Gap{}, Live: []string{}, Beyond: []string{}}
	if err := st.Erase(ctx, id); err != nil {
		return rep, fault("not erased", partly, err)
	}
	if rep.Sweep, err = s.wipe(ctx, st); err == nil {
		err = p.rest(ctx)
	}
	for _, dir := range []string{s.p.Sessions, s.p.Signals} {
		if dir != "" && err == nil {
			err = s.removeOf(dir, id)
		}
	}
	return rep, fault("erased in part", partly, err)
}

// removeOf removes the files that a directory keeps under the id of a workspace.
func (s *Service) removeOf(dir string, id retake.WorkspaceID) error {
	return s.eachFile(dir, func(at fsx.Dir, path string) error {
		if name := filepath.Base(path); strings.HasPrefix(name, string(id)) {
			return at.Remove(name)
		}
		return nil
	})
}
