package rewind

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/fork"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// outsideWriter writes files outside of the workspace: all of them into a directory of its own, which
// is then durable, and each of them to its place by a rename. What it adds never replaces anything.
type outsideWriter struct {
	*outsideRestore
	result   *retake.RestoreResult
	progress func(retake.Progress)
	units    []retake.Step // the topmost paths: all below an added directory come with it
}

func (w *outsideWriter) write(ctx context.Context) error {
	var added string
	for _, s := range w.plan.Writes {
		if added != "" && strings.HasPrefix(s.Path, added+"/") {
			continue
		}
		added = ""
		if w.units = append(w.units, s); s.What == retake.Added && s.Then.Kind == retake.KindDir {
			added = s.Path
		}
	}
	if len(w.units) == 0 {
		return nil
	}
	to, err := w.openTarget()
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // it is synced by then
	name := ".retake-restore-" + strings.TrimPrefix(string(w.target.ID), retake.CheckpointPrefix)
	stage, err := openStage(to, name)
	if err == nil {
		err = w.build(ctx, stage)
	}
	if err == nil {
		err = w.place(to, stage)
	}
	if stage != nil {
		err = errors.Join(err, fork.ClearDir(stage), stage.Close())
	}
	return errors.Join(err, to.RemoveDir(name), to.Sync())
}

// openStage makes an empty directory. A restore that was interrupted may have left it, with copies of
// what is stored; no other restore of this workspace runs now.
func openStage(to fsx.Dir, name string) (fsx.Dir, error) {
	if err := to.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	stage, err := to.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return stage, fork.ClearDir(stage)
}

// openTarget opens the directory that is written to, and creates it if it does not exist.
func (w *outsideWriter) openTarget() (fsx.Dir, error) {
	files := w.svc.workspaces.FS
	at, missing := w.to, []string(nil)
	for {
		real, err := workspace.RealPath(at)
		if err == nil {
			at = real
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return nil, err
		}
		missing, at = append(missing, filepath.Base(at)), filepath.Dir(at)
	}
	dir, err := files.OpenRoot(at)
	for n := len(missing) - 1; n >= 0 && err == nil; n-- {
		if err = dir.Mkdir(missing[n], 0o755); err != nil {
			break
		}
		var next fsx.Dir
		next, err = dir.OpenDir(missing[n])
		err = errors.Join(err, dir.Sync(), dir.Close())
		dir = next
	}
	return dir, err
}

// unitsRoot is the object ID of the directory that has all units, which is in no store.
const unitsRoot retake.ObjectID = "units"

// unitTrees are the stored trees, with the units below one root, each named after its number.
type unitTrees struct {
	store.Trees
	units []retake.Entry
}

func (t unitTrees) Dir(ctx context.Context, id retake.ObjectID) ([]retake.Entry, error) {
	if id == unitsRoot {
		return t.units, nil
	}
	return t.Trees.Dir(ctx, id)
}

// build writes all units into the stage.
func (w *outsideWriter) build(ctx context.Context, stage fsx.Dir) error {
	t := unitTrees{Trees: w.trees}
	for n, s := range w.units {
		e := *s.Then
		e.Name = strconv.Itoa(n)
		t.units = append(t.units, e)
	}
	rep, err := fork.Build(ctx, fork.Job{Trees: t, Want: retake.Entry{Kind: retake.KindDir, Mode: 0o700, Object: unitsRoot}, To: stage, Progress: w.progress})
	w.result.Written = int(rep.Files)
	w.result.Warnings = append(w.result.Warnings, rep.Warnings...)
	return err
}

// place renames the units to their places. One that something has taken meanwhile is left.
func (w *outsideWriter) place(to, stage fsx.Dir) error {
	for n, s := range w.units {
		err := w.placeUnit(to, stage, strconv.Itoa(n), s)
		if errors.Is(err, fs.ErrExist) {
			w.result.Failed = append(w.result.Failed, retake.Failure{Path: s.Path, Why: "something else is there now"})
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// placeUnit renames one unit to its place. Directories on the way to it are created if they are missing,
// and no link among them is followed.
func (w *outsideWriter) placeUnit(to, stage fsx.Dir, name string, s retake.Step) error {
	dir, err := openBelow(to, path.Dir(s.Path))
	if err != nil {
		return err
	}
	if dir != to {
		defer dir.Close() //nolint:errcheck // it is synced by then
	}
	rename := stage.RenameNoReplace
	if s.What == retake.Edited {
		rename = stage.Rename
	}
	if err := rename(name, dir, path.Base(s.Path)); err != nil {
		return err
	}
	return dir.Sync()
}

// openBelow opens a directory below another, which it returns itself for ".".
func openBelow(top fsx.Dir, below string) (fsx.Dir, error) {
	dir := top
	if below == "." {
		return dir, nil
	}
	for element := range strings.SplitSeq(below, "/") {
		next, err := dir.OpenDir(element)
		if errors.Is(err, fs.ErrNotExist) {
			if err = dir.Mkdir(element, 0o755); err == nil {
				next, err = dir.OpenDir(element)
				err = errors.Join(err, dir.Sync())
			}
		}
		if dir != top {
			err = errors.Join(err, dir.Close())
		}
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}
