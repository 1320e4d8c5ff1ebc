package rewind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/tree"
	"github.com/retake-dev/retake/internal/service/checkpoint"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/store"
)

// outsideRestore brings files back that a checkpoint saved from outside of the workspace. It adds
// what is not there. What is there and differs is replaced only after a checkpoint has it.
type outsideRestore struct {
	svc    *Rewinder
	req    retake.PlanRequest
	ws     retake.Workspace
	target retake.Checkpoint
	saved  retake.Rescue
	names  []string // that are brought back, below saved.Dir
	to     string   // the directory that they are written to
	trees  store.Trees
	plan   retake.Plan
}

// findOutside returns the restore of files outside of the workspace that a request asks for, or nil
// if it asks for something else.
func (s *Rewinder) findOutside(ctx context.Context, req retake.PlanRequest) (*outsideRestore, error) {
	var o *outsideRestore
	var err error
	// A checkpoint that came from elsewhere may name any path: no server writes to one.
	if req.Course == retake.CourseRestore && slices.ContainsFunc(req.Paths, filepath.IsAbs) && s.rescuer.IsLocal() {
		o, err = s.lookOutside(ctx, req)
	}
	if err == nil && o == nil && req.To != "" { // else the workspace itself would be restored
		err = &retake.Error{Kind: retake.Invalid, What: "only files that were saved from outside of a workspace can be restored to another directory", Safe: workspace.Unchanged, Hint: "to have all files of a checkpoint elsewhere: retake help fork"}
	}
	return o, err
}

// lookOutside finds what the checkpoint has of the paths; nil: none of them is outside.
func (s *Rewinder) lookOutside(ctx context.Context, req retake.PlanRequest) (*outsideRestore, error) {
	cp, err := s.history.Find(ctx, req.Workspace, req.Ref)
	if err != nil {
		return nil, err
	}
	o := &outsideRestore{svc: s, req: req, target: cp}
	if o.ws, err = s.workspaces.LoadWorkspace(ctx, req.Workspace); err != nil {
		return nil, err
	}
	if o.trees, err = s.workspaces.Store(ctx); err != nil {
		return nil, err
	}
	for _, r := range cp.Rescues {
		names := namesBelow(r.Dir, req.Paths)
		if r.Tree == "" || len(names) != len(req.Paths) || !o.has(ctx, r, names) {
			continue
		}
		part := slices.Contains(names, ".") // the saved names of that directory; another one may have all of it
		if o.saved.Tree == "" || !part {
			o.saved, o.names = r, names
		}
		if !part {
			break
		}
	}
	if o.saved.Tree == "" {
		return nil, notSavedError(&cp, req.Paths)
	}
	o.to = o.saved.Dir
	if req.To != "" {
		if o.to, err = filepath.Abs(req.To); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// has reports whether a rescue has all of the names: several may be of directories above each other.
func (o *outsideRestore) has(ctx context.Context, r retake.Rescue, names []string) bool {
	root := retake.Entry{Kind: retake.KindDir, Object: r.Tree}
	return !slices.ContainsFunc(names, func(name string) bool {
		_, err := tree.Find(ctx, o.trees, root, name)
		return errors.Is(err, fs.ErrNotExist)
	})
}

// notSavedError says why files outside of the workspace cannot be brought back. It is nil if no path
// was outside: an absolute one may also be meant from the workspace's root.
func notSavedError(cp *retake.Checkpoint, paths []string) error {
	for _, r := range cp.Rescues {
		if len(namesBelow(r.Dir, paths)) == 0 {
			continue
		}
		e := &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("checkpoint %d does not have %s: %s", cp.Number, paths[0], r.NotSaved), Safe: workspace.Unchanged}
		if r.Workspace != "" && r.Checkpoint > 0 {
			e.What = fmt.Sprintf("%s is in another workspace", paths[0])
			e.Hint = fmt.Sprintf("retake restore %d --directory %s", r.Checkpoint, r.Dir)
		}
		return e
	}
	return nil
}

// namesBelow returns the paths that are below a directory, relative to it.
func namesBelow(dir string, paths []string) []string {
	var out []string
	for _, p := range paths {
		rel, err := filepath.Rel(dir, filepath.Clean(p))
		if err == nil && filepath.IsAbs(p) && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			out = append(out, filepath.ToSlash(rel))
		}
	}
	return out
}

func (o *outsideRestore) planOrNone() retake.Plan {
	if o == nil {
		return retake.Plan{}
	}
	return o.plan
}

// makePlan compares what was saved with what is there now.
func (o *outsideRestore) makePlan(ctx context.Context) error {
	o.plan = retake.Plan{
		Course: retake.CourseRestore, Workspace: o.ws.ID, Target: &o.target, Paths: o.req.Paths, To: o.to,
		Writes: []retake.Step{}, Deletes: []retake.Step{}, Merges: []retake.Step{}, Times: []retake.Step{},
		Keeps: []retake.Keep{}, Obstacles: []retake.Obstacle{}, Holders: []retake.Holder{}, Effects: []retake.Effect{},
	}
	root := retake.Entry{Kind: retake.KindDir, Object: o.saved.Tree}
	for _, name := range o.names {
		e := root
		var err error
		if name != "." {
			if e, err = tree.Find(ctx, o.trees, root, name); err != nil {
				return &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("checkpoint %d did not save %s", o.target.Number, filepath.Join(o.saved.Dir, name)), Safe: workspace.Unchanged, Err: err}
			}
		}
		if err := o.compare(ctx, name, e); err != nil {
			return err
		}
	}
	tip, err := o.svc.workspaces.Catalog.Latest(ctx, o.ws.ID, 0)
	if err != nil {
		return err
	}
	o.plan.Safety.Number = tip.Number + 1
	o.addObstacles()
	b, err := json.Marshal(o.plan)
	sum := sha256.Sum256(b)
	o.plan.Digest = hex.EncodeToString(sum[:])
	return err
}

// compare adds the steps for an entry and everything below it.
func (o *outsideRestore) compare(ctx context.Context, name string, e retake.Entry) error {
	at := filepath.Join(o.to, filepath.FromSlash(name))
	now, err := o.lookAt(at)
	switch {
	case err != nil:
		return err
	case now == nil && name == ".": // its directory is created for what is in it
	case now == nil:
		o.plan.Writes = append(o.plan.Writes, retake.Step{Path: name, What: retake.Added, Then: &e})
		o.plan.Bytes += e.Size
	case now.Kind != e.Kind:
		o.plan.Keeps = append(o.plan.Keeps, retake.Keep{Path: name, Why: retake.KeepOccupied, Then: &e})
		return nil
	case e.Kind != retake.KindDir:
		same, err := o.isSame(ctx, at, *now, e)
		if err != nil || same {
			return err
		}
		o.plan.Writes = append(o.plan.Writes, retake.Step{Path: name, What: retake.Edited, Now: now, Then: &e})
		o.plan.Bytes += e.Size
	}
	if e.Kind != retake.KindDir {
		return nil
	}
	below, err := o.trees.Dir(ctx, e.Object)
	if err != nil {
		return err
	}
	for _, b := range below {
		if err := o.compare(ctx, path.Join(name, b.Name), b); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// lookAt returns what is at a path now, or nil.
func (o *outsideRestore) lookAt(at string) (*retake.Entry, error) {
	dir, err := o.svc.workspaces.FS.OpenRoot(filepath.Dir(at))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fsx.ErrNotDir) {
		return nil, nil //nolint:nilnil // nothing is there
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // only looked
	i, err := dir.Lstat(filepath.Base(at))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing is there
	}
	kinds := map[fsx.Type]retake.Kind{fsx.Regular: retake.KindFile, fsx.Directory: retake.KindDir, fsx.Symlink: retake.KindSymlink, fsx.FIFO: retake.KindFIFO, fsx.Socket: retake.KindSocket}
	return &retake.Entry{Name: filepath.Base(at), Kind: kinds[i.Type], Mode: i.Mode, UID: i.UID, GID: i.GID, Size: i.Size, ModTime: i.Mtime}, err
}

// isSame reports whether a file has the bytes that were saved.
func (o *outsideRestore) isSame(ctx context.Context, at string, now, e retake.Entry) (bool, error) {
	if e.Kind != retake.KindFile && e.Kind != retake.KindSymlink {
		return true, nil // a FIFO or a socket has no bytes
	}
	if now.Size != e.Size && e.Kind == retake.KindFile {
		return false, nil
	}
	dir, err := o.svc.workspaces.FS.OpenRoot(filepath.Dir(at))
	if err != nil {
		return false, err
	}
	defer dir.Close() //nolint:errcheck // only read
	if e.Kind == retake.KindSymlink {
		text, err := dir.Readlink(filepath.Base(at))
		if err != nil {
			return false, err
		}
		return o.svc.history.MatchesStored(ctx, e.Object, strings.NewReader(text))
	}
	f, err := dir.OpenFile(filepath.Base(at))
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // only read
	return o.svc.history.MatchesStored(ctx, e.Object, f)
}

// addObstacles adds what has to be confirmed.
func (o *outsideRestore) addObstacles() {
	var differ, setuid []string
	for _, s := range o.plan.Writes {
		if s.What == retake.Edited {
			differ = append(differ, s.Path)
		}
		if s.Then.GrantsRights() {
			setuid = append(setuid, s.Path)
		}
	}
	if n := len(differ); n > 0 {
		o.plan.Obstacles = append(o.plan.Obstacles, retake.Obstacle{Class: retake.ObstacleChanged, Paths: differ, Text: fmt.Sprintf("%d of the files are there and differ: they are saved, then replaced", n)})
	}
	if n := len(setuid); n > 0 {
		o.plan.Obstacles = append(o.plan.Obstacles, retake.Obstacle{Class: retake.ObstacleSetuid, Paths: setuid, Text: fmt.Sprintf("%d of the files run with the rights of their owner", n)})
	}
}

// apply does the plan, if it is still the one that was shown.
func (o *outsideRestore) apply(ctx context.Context, req retake.ApplyRequest) (retake.RestoreResult, error) {
	res := retake.RestoreResult{Target: o.target, Failed: []retake.Failure{}, Warnings: []retake.Warning{}}
	if err := validateApply(req); err != nil {
		return res, err
	}
	if err := o.makePlan(ctx); err != nil {
		return res, err
	}
	if !matchesDigest(o.plan.Digest, req.Digest) {
		return res, planMovedError(retake.Plan{}, retake.Plan{})
	}
	if err := checkAccepted(o.plan, req.Accept); err != nil {
		return res, err
	}
	alone, err := o.svc.workspaces.LockForRestore(ctx, o.ws.ID)
	if err != nil {
		return res, err
	}
	defer alone()
	release, err := o.svc.workspaces.ProtectCheckpoint(ctx, o.target)
	if err != nil {
		return res, err
	}
	defer release()
	if err := o.saveReplaced(ctx, &res); err != nil {
		return res, err
	}
	w := &outsideWriter{outsideRestore: o, result: &res, progress: req.Progress}
	if err := w.write(ctx); err != nil {
		return res, err
	}
	res.Kept, res.ReadBack = len(o.plan.Keeps), false
	return res, nil
}

// saveReplaced takes a checkpoint that has the files that will be replaced.
func (o *outsideRestore) saveReplaced(ctx context.Context, res *retake.RestoreResult) error {
	var names []string
	for _, s := range o.plan.Writes {
		if top, _, _ := strings.Cut(s.Path, "/"); s.What == retake.Edited && !slices.Contains(names, top) {
			names = append(names, top)
		}
	}
	if len(names) == 0 {
		return nil
	}
	ws, root, err := o.svc.workspaces.OpenRoot(ctx, o.ws.ID)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing was written
	l := o.svc.workspaces.CacheFor(ws.ID)
	l.LockAndCancelCheck()
	defer l.Mu.Unlock()
	saved, err := o.svc.checkpoints.SaveNow(ctx, l, ws, root, retake.SaveRequest{
		Workspace: ws.ID, Trigger: retake.TriggerSafety, Intent: fmt.Sprintf("before files of %d came back to %s", o.target.Number, o.to),
	}, checkpoint.Options{Exact: true, Rescue: o.svc.rescuer.PrepareFiles(o.to, names)})
	if err != nil {
		return err
	}
	for _, r := range saved.Checkpoint.Rescues {
		if !r.IsSaved() {
			return &retake.Error{Kind: retake.Damaged, What: fmt.Sprintf("%s cannot be saved first: %s", r.Place(), r.NotSaved), Safe: workspace.Unchanged}
		}
	}
	res.Safety, res.Checkpoint = saved.Checkpoint, saved.Checkpoint
	return nil
}
