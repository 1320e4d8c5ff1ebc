package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog"
	"github.com/retake-dev/retake/internal/storage/store"
)

// Above these sizes a directory is probably not a project, and Init asks for consent.
const (
	giantFiles = 1_500_000
	giantBytes = 200 << 30
)

// The limits when nobody asked: reading more would slow the machine down behind a user's back.
const (
	automaticFiles = 200_000
	automaticBytes = 20 << 30
	automaticWait  = time.Second
)

// Init protects a directory: it checks for consent, writes the marker, and takes the first
// checkpoint. If that fails the marker is removed again.
func (s *Checkpoints) Init(ctx context.Context, req retake.InitRequest) (retake.SaveResult, error) {
	if !req.Automatic {
		return s.protectDir(ctx, req)
	}
	type result struct {
		res retake.SaveResult
		err error
	}
	done := make(chan result, 1)
	s.workspaces.Work.Go(func() {
		r := result{err: errors.New("protecting the directory broke off")}
		s.workspaces.RunTask(workspace.TaskSaves, func() error {
			res, err := s.protectDir(context.WithoutCancel(ctx), req)
			r = result{res, err}
			if retake.IsKind(err, retake.Denied) || retake.IsKind(err, retake.Exists) {
				return diag.ErrSkipped // nothing failed: it is not done
			}
			return err
		})
		done <- r
	})
	select {
	case r := <-done:
		return r.res, r.err
	case <-ctx.Done():
		return retake.SaveResult{}, ctx.Err()
	case <-time.After(automaticWait):
		return retake.SaveResult{Warnings: []retake.Warning{{Code: "later", Text: "the first checkpoint goes on in the background"}}}, nil
	}
}

// protectDir is Init, whoever asked for it.
func (s *Checkpoints) protectDir(ctx context.Context, req retake.InitRequest) (retake.SaveResult, error) {
	path, err := workspace.RealPath(req.Dir)
	if err != nil {
		return retake.SaveResult{}, workspace.WrapError("there is no directory "+req.Dir, workspace.Unchanged, err)
	}
	root, err := s.workspaces.FS.OpenRoot(path)
	if err != nil {
		return retake.SaveResult{}, workspace.WrapError("the directory cannot be opened", workspace.Unchanged, err)
	}
	defer root.Close() //nolint:errcheck // a directory handle
	if err := s.checkConsent(ctx, path, root, &req); err != nil {
		return retake.SaveResult{}, err
	}
	if _, err := s.workspaces.Store(ctx); retake.IsKind(err, retake.Damaged) { // "protected already" would help nobody
		return retake.SaveResult{}, err
	}
	ws, err := s.identifyWorkspace(ctx, path, root, req)
	if err != nil {
		return retake.SaveResult{}, workspace.WrapError("not protected", workspace.Unchanged, err)
	}
	if _, err := s.workspaces.OpenOrCreateStore(ctx, true); err != nil {
		return retake.SaveResult{}, workspace.WrapError("the store cannot be opened", workspace.Unchanged, err)
	}
	before, err := marker.Read(root)
	if err == nil {
		err = marker.Write(root, ws.ID)
	}
	if err != nil {
		return retake.SaveResult{}, workspace.WrapError("the directory cannot be marked", workspace.Unchanged, err)
	}
	_ = s.workspaces.SaveEnvironment(ws.ID, req.Env) // context only: checks have less environment
	res, err := s.saveFirst(ctx, ws, root, req)
	if errors.Is(err, store.ErrInDoubt) { // the marker stays, because the workspace may exist
		return res, workspace.WrapError("not protected", workspace.Unchanged, err)
	}
	if err != nil {
		return res, errors.Join(workspace.WrapError("not protected", workspace.Unchanged, err), restoreMark(root, before))
	}
	if before != "" && before != ws.ID && s.isForeign(ctx, before) {
		res.Warnings = append(res.Warnings, retake.Warning{Code: "other-installation", Text: "another installation of Retake protected this directory until now: its history stays there, and it takes no more checkpoints of it"})
	}
	return res, nil
}

// isForeign reports whether a mark is not of this installation.
func (s *Checkpoints) isForeign(ctx context.Context, mark retake.WorkspaceID) bool {
	_, err := s.workspaces.LoadWorkspace(ctx, mark)
	return errors.Is(err, catalog.ErrNotFound)
}

// findDisplaced finds the workspace that was in this very directory before another installation
// marked it: its history continues.
func (s *Checkpoints) findDisplaced(ctx context.Context, path string, i fsx.Info, choice retake.MarkChoice) (retake.Workspace, bool, error) {
	if choice == retake.MarkNew {
		return retake.Workspace{}, false, nil
	}
	all, err := s.workspaces.Catalog.Workspaces(ctx)
	for _, w := range all {
		if err == nil && w.Root == path && w.Dev == i.Dev && w.Ino == i.Ino && w.Ended == nil {
			return w.Workspace, true, nil
		}
	}
	return retake.Workspace{}, false, err
}

// restoreMark restores the marker that the directory had before.
func restoreMark(root fsx.Dir, before retake.WorkspaceID) error {
	if before == "" {
		return marker.Remove(root)
	}
	return marker.Write(root, before)
}

// identifyWorkspace returns the workspace for a directory: a new one, or one whose
// protection had ended.
func (s *Checkpoints) identifyWorkspace(ctx context.Context, path string, root fsx.Dir, req retake.InitRequest) (retake.Workspace, error) {
	i, err := root.Stat()
	if err != nil {
		return retake.Workspace{}, err
	}
	mark, err := marker.Read(root)
	if err != nil {
		return retake.Workspace{}, err
	}
	if mark != "" && req.Mark != retake.MarkCopy {
		ws, err := s.workspaces.LoadWorkspace(ctx, mark)
		if err != nil && !errors.Is(err, catalog.ErrNotFound) {
			return ws, err
		}
		if err == nil {
			return s.reuseMarked(ctx, ws, path, i, req)
		}
		if ws, ok, err := s.findDisplaced(ctx, path, i, req.Mark); ok || err != nil {
			return ws, err
		}
	}
	if mark == "" {
		if ws, found, err := s.findFormerWorkspace(ctx, path, i, req.Mark); found || err != nil {
			ws.Root, ws.Dev, ws.Ino, ws.Ended = path, i.Dev, i.Ino, nil
			return ws, err
		}
	}
	id, err := workspace.NewWorkspaceID()
	if err != nil {
		return retake.Workspace{}, err
	}
	return retake.Workspace{ID: id, Name: cmp.Or(req.Name, filepath.Base(path)), Root: path, Dev: i.Dev, Ino: i.Ino, Created: s.workspaces.Clock.Now()}, nil
}

// findFormerWorkspace finds the workspace whose history continues in a directory without a
// marker. A workspace that ended in this very directory continues by itself. One whose
// directory was deleted or replaced does not: whether to restore its files, to continue it
// with the new files or to start anew is for the user to decide.
func (s *Checkpoints) findFormerWorkspace(ctx context.Context, path string, i fsx.Info, choice retake.MarkChoice) (found retake.Workspace, ok bool, err error) {
	if choice == retake.MarkCopy || choice == retake.MarkNew {
		return found, false, nil
	}
	all, err := s.workspaces.Catalog.Workspaces(ctx)
	if err != nil {
		return found, false, err
	}
	var lost, begun retake.WorkspaceState // begun: its init failed before the first checkpoint
	for _, w := range all {
		switch {
		case w.Root != path:
		case w.Ended == nil && w.Count == 0:
			begun = w
		case w.Ended == nil && (lost.ID == "" || w.Created.After(lost.Created)):
			lost = w
		case w.Ended == nil:
		case choice != retake.MarkContinue && (w.Dev != i.Dev || w.Ino != i.Ino):
		case !ok || w.Ended.After(*found.Ended):
			found, ok = w.Workspace, true
		}
	}
	switch {
	case lost.ID != "" && choice == retake.MarkContinue:
		return lost.Workspace, true, nil
	case lost.ID != "":
		return found, false, workspace.LostWorkspaceError(lost, all)
	case begun.ID != "":
		return begun.Workspace, true, nil
	case !ok && choice == retake.MarkContinue:
		return found, false, &retake.Error{Kind: retake.NotFound, What: "no workspace was at " + path, Safe: workspace.Unchanged, Hint: "protect it: retake init " + termtext.ShellWord(path)}
	}
	return found, ok, nil
}

// reuseMarked returns the workspace of a directory with a known marker.
func (s *Checkpoints) reuseMarked(ctx context.Context, ws retake.Workspace, path string, i fsx.Info, req retake.InitRequest) (retake.Workspace, error) {
	if ws.Ended == nil && req.Mark != retake.MarkMoved {
		if _, _, err := s.workspaces.ResolveRelocated(ctx, ws, path, i); err != nil {
			return ws, err
		}
		return ws, &retake.Error{Kind: retake.Exists, What: fmt.Sprintf("%s is protected already, as %s", path, ws.Name), Safe: workspace.Unchanged, Hint: "list its checkpoints: retake log"}
	}
	ws.Root, ws.Dev, ws.Ino, ws.Ended = path, i.Dev, i.Ino, nil
	return ws, nil
}

// saveFirst registers the workspace and takes its first checkpoint.
func (s *Checkpoints) saveFirst(ctx context.Context, ws retake.Workspace, root fsx.Dir, req retake.InitRequest) (retake.SaveResult, error) {
	l := s.workspaces.CacheFor(ws.ID)
	l.LockAndCancelCheck()
	defer l.Mu.Unlock()
	l.LastUsed = s.workspaces.Clock.Now()
	l.IsSaving.Store(true)
	defer l.IsSaving.Store(false)
	t, err := s.BeginCheckpoint(ctx, l, ws, root)
	if err != nil {
		return retake.SaveResult{}, err
	}
	defer s.workspaces.RequestUpkeep()
	defer t.Close() //nolint:errcheck // upkeep only
	if err := s.workspaces.Catalog.PutWorkspace(ctx, ws); err != nil {
		return retake.SaveResult{}, err
	}
	if t.Writer.Head().Seq > 0 {
		if err := t.Writer.Amend(ctx, ws, t.Writer.Head().Pins); err != nil {
			return retake.SaveResult{}, err
		}
	}
	return t.saveCheckpoint(ctx, retake.SaveRequest{Workspace: ws.ID, Trigger: retake.TriggerInit, Progress: req.Progress})
}

// Estimate measures a directory and lists what needs consent.
func (s *Checkpoints) Estimate(ctx context.Context, dir string) (retake.Estimate, error) {
	path, err := workspace.RealPath(dir)
	if err != nil {
		return retake.Estimate{}, workspace.WrapError("there is no directory "+dir, workspace.Unchanged, err)
	}
	root, err := s.workspaces.FS.OpenRoot(path)
	if err != nil {
		return retake.Estimate{}, workspace.WrapError("the directory cannot be opened", workspace.Unchanged, err)
	}
	defer root.Close() //nolint:errcheck // only looked
	skip, err := s.workspaces.StoreDirIDs()
	if err != nil {
		return retake.Estimate{}, workspace.WrapError("the store cannot be found", workspace.Unchanged, err)
	}
	m, err := capture.MeasureTree(ctx, root, skip, nil)
	if err != nil {
		return retake.Estimate{}, workspace.WrapError("the directory cannot be measured", workspace.Unchanged, err)
	}
	e := retake.Estimate{Root: path, Files: m.Files, Dirs: m.Dirs, Bytes: m.Bytes, Gaps: m.Gaps, Danger: s.findDangers(ctx, path, m)}
	if m.Files > 0 {
		e.Heaviest, e.Share = m.Heaviest, float64(m.HeaviestFiles)/float64(m.Files)
	}
	if free, floor, err := s.workspaces.DiskSpace(); err == nil {
		e.Free, e.Floor = free, floor
	}
	return e, nil
}

// checkConsent refuses a directory with dangers that were not accepted. A home directory is refused
// without being measured.
func (s *Checkpoints) checkConsent(ctx context.Context, path string, root fsx.Dir, req *retake.InitRequest) error {
	if err := refuseDangers(path, s.findDangers(ctx, path, capture.Measurement{}), req.Accept); err != nil {
		return err
	}
	files, bytes := int64(giantFiles), int64(giantBytes)
	if req.Automatic {
		files, bytes = automaticFiles, automaticBytes
	}
	stop := func(m capture.Measurement) bool { return m.Files > files || m.Bytes > bytes }
	skip, err := s.workspaces.StoreDirIDs()
	if err != nil {
		return workspace.WrapError("the store cannot be found", workspace.Unchanged, err)
	}
	m, err := capture.MeasureTree(ctx, root, skip, stop)
	if err != nil {
		return workspace.WrapError("the directory cannot be measured", workspace.Unchanged, err)
	}
	if req.Automatic && stop(m) {
		return refuseDangers(path, []retake.Danger{{Class: retake.DangerGiant, Text: fmt.Sprintf("%s has more than %d files or %d GB", path, files, bytes>>30)}}, nil)
	}
	return refuseDangers(path, s.findDangers(ctx, path, m), req.Accept)
}

// refuseDangers returns an error if one of the dangers was not accepted.
func refuseDangers(path string, dangers []retake.Danger, accepted []string) error {
	var open, texts []string
	for _, d := range dangers {
		if !slices.Contains(accepted, d.Class) {
			open, texts = append(open, d.Class), append(texts, d.Text)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return &retake.Error{
		Kind: retake.Denied, What: strings.Join(texts, "; "), Safe: workspace.Unchanged, Accept: open,
		Hint: "preview: retake estimate " + path + "\ngo ahead: retake init --accept " + strings.Join(open, ","),
	}
}

// findDangers lists why protecting a directory needs consent: a home or system directory, a
// giant one, or one inside another workspace.
func (s *Checkpoints) findDangers(ctx context.Context, path string, m capture.Measurement) []retake.Danger {
	homes := []string{s.workspaces.HomeDir}
	if real, err := workspace.RealPath(s.workspaces.HomeDir); err == nil { // it may be a link, and path is without links
		homes = append(homes, real)
	}
	out := retake.PlaceDangers(path, homes...)
	if m.Files > giantFiles || m.Bytes > giantBytes {
		out = append(out, retake.Danger{Class: retake.DangerGiant, Text: fmt.Sprintf("%s is larger than a project: over %d files or %d GB", path, giantFiles, giantBytes>>30)})
	}
	if outer, found := s.enclosingWorkspace(ctx, path); found {
		out = append(out, retake.Danger{Class: retake.DangerNested, Text: fmt.Sprintf(
			"%s is inside the protected workspace %s (%s). Commands and agents started in it would use a second timeline", path, outer.Name, outer.Root)})
	}
	return out
}

// enclosingWorkspace finds the nearest workspace above a directory. A directory that is
// itself a workspace has none: Init reports that it is protected.
func (s *Checkpoints) enclosingWorkspace(ctx context.Context, path string) (retake.Workspace, bool) {
	if _, found := s.workspaceRootedAt(ctx, path); found {
		return retake.Workspace{}, false
	}
	for at := filepath.Dir(path); ; at = filepath.Dir(at) {
		if ws, found := s.workspaceRootedAt(ctx, at); found || at == filepath.Dir(at) {
			return ws, found
		}
	}
}

// workspaceRootedAt returns the workspace whose root is exactly this directory. Unlike
// Locate it never records a move.
func (s *Checkpoints) workspaceRootedAt(ctx context.Context, path string) (retake.Workspace, bool) {
	root, err := s.workspaces.FS.OpenRoot(path)
	if err != nil {
		return retake.Workspace{}, false
	}
	defer root.Close() //nolint:errcheck // only looked
	id, err := marker.Read(root)
	if err != nil || id == "" {
		return retake.Workspace{}, false
	}
	ws, err := s.workspaces.LoadWorkspace(ctx, id)
	return ws, err == nil && ws.Ended == nil
}
