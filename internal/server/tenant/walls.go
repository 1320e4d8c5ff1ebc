package tenant

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/pattern"
	"github.com/retake-dev/retake/internal/service"
)

// confinedService is a service that is confined to the directories of its namespace. It checks
// every path and every limit before the request reaches the inner service, which it does not embed:
// what passes without a check is listed in passed.go.
type confinedService struct {
	inner            *service.Service
	fsys             fsx.FS
	dirs             Dirs
	currentNamespace func() retake.Namespace
	clock            clock.Clock
	onScrub          func(ctx context.Context, own Dirs, rep retake.ScrubReport, err error)

	noRemotes
	meter meter
}

var _ retake.Service = (*confinedService)(nil)

// Scrub refuses a repair: it would save every workspace of the namespace, past its limits and with
// the rights of whoever may only look after the store.
func (w *confinedService) Scrub(ctx context.Context, q retake.ScrubQuery) (retake.ScrubReport, error) {
	if q.Repair {
		return retake.ScrubReport{}, &retake.Error{Kind: retake.Denied, What: "a server does not repair its store on request", Safe: unchanged, Hint: "save the workspaces: what they still have is stored again"}
	}
	rep, err := w.inner.Scrub(ctx, q)
	if w.onScrub != nil && ctx.Err() == nil {
		w.onScrub(ctx, w.dirs, rep, err)
	}
	return rep, err
}

// resolveDir returns the real path of a directory inside the namespace. A directory outside
// gets the same error as one that does not exist, so that a tenant cannot probe for paths.
func (w *confinedService) resolveDir(dir string) (string, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		for _, root := range append([]string{w.dirs.Files}, w.currentNamespace().Roots...) {
			root, err := filepath.EvalSymlinks(root)
			if err == nil && isWithin(real, root) {
				return real, nil
			}
		}
	}
	return "", &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("%s is no directory of this namespace", dir), Safe: unchanged,
		Hint: "leave dir out: the server makes one by name"}
}

// isWithin reports whether path is root or below it. Both must be clean and resolved.
func isWithin(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

var workspacePattern = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// makeHostedDir creates a directory for a new workspace below the namespace's files.
func (w *confinedService) makeHostedDir(name string) (string, error) {
	if !workspacePattern().MatchString(name) {
		return "", &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%q is not a valid workspace name", name), Safe: unchanged,
			Hint: "letters, digits, dots, dashes and underscores, at most 100, a letter or digit first"}
	}
	files, err := w.fsys.OpenRoot(w.dirs.Files)
	if err != nil {
		return "", fmt.Errorf("open the files of a namespace: %w", err)
	}
	defer files.Close() //nolint:errcheck // a directory handle
	if err := files.Mkdir(name, 0o700); errors.Is(err, fs.ErrExist) {
		return "", &retake.Error{Kind: retake.Exists, What: fmt.Sprintf("there is a workspace %s already", name), Safe: unchanged}
	} else if err != nil {
		return "", fmt.Errorf("make the directory of a workspace: %w", err)
	}
	return filepath.Join(w.dirs.Files, name), nil
}

// removeHostedDir removes a hosted directory if it is empty.
func (w *confinedService) removeHostedDir(dir string) error {
	files, err := w.fsys.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer files.Close() //nolint:errcheck // a directory handle
	return files.Remove(filepath.Base(dir))
}

// checkWorkspaceLimit returns an error if the namespace has reached its limit of workspaces.
func (w *confinedService) checkWorkspaceLimit(ctx context.Context) error {
	most := w.currentNamespace().Limits.Workspaces
	if most <= 0 {
		return nil
	}
	all, err := w.inner.Workspaces(ctx) // all of them, not only those that the key may access
	if err != nil {
		return err
	}
	var live int64
	for i := range all {
		if all[i].Ended == nil {
			live++
		}
	}
	if live < most {
		return nil
	}
	return &retake.Error{Kind: retake.Limit, What: fmt.Sprintf("the namespace has %d workspaces, its limit", live), Safe: unchanged, Hint: "end one, or ask for a higher limit"}
}

// Init protects a directory of the namespace, or a new one if none is named.
func (w *confinedService) Init(ctx context.Context, req retake.InitRequest) (retake.SaveResult, error) {
	if err := w.checkWorkspaceLimit(ctx); err != nil {
		return retake.SaveResult{}, err
	}
	made := req.Dir == ""
	var err error
	if made {
		req.Dir, err = w.makeHostedDir(req.Name)
	} else {
		req.Dir, err = w.resolveDir(req.Dir)
	}
	if err != nil {
		return retake.SaveResult{}, err
	}
	req.Env = nil // a server runs no commands of a workspace
	res, err := w.inner.Init(ctx, req)
	if err != nil && made {
		err = errors.Join(err, w.removeHostedDir(req.Dir))
	}
	w.meter.expire() // it may be the second workspace, and shares begin to count
	return res, err
}

// Save takes a checkpoint. It refuses a pin that the key may not set, and any checkpoint once
// the store has reached its limit, or the workspace or the key its share. The shares do not stop an
// operator who saves with a pin.
func (w *confinedService) Save(ctx context.Context, req retake.SaveRequest) (retake.SaveResult, error) {
	if req.Pin != "" {
		if err := w.checkMayPin(ctx, req.Pin); err != nil {
			return retake.SaveResult{}, err
		}
	}
	who, _ := retake.ActorOf(ctx)
	if err := w.meter.checkMayAdd(ctx, req.Workspace, who, req.Pin != ""); err != nil {
		return retake.SaveResult{}, err
	}
	res, err := w.inner.Save(ctx, req)
	if err != nil {
		return res, err
	}
	if res.Recorded {
		w.meter.countSaved(ctx, res.Checkpoint)
	}
	return res, checkListed(res.Warnings)
}

// checkListed returns an error if a checkpoint was stored but not listed. An acknowledged
// checkpoint must have its row, or no event would be sent for it. A retry of the same request
// finds the stored checkpoint and lists it.
func checkListed(warnings []retake.Warning) error {
	for _, w := range warnings {
		if w.Code == "unlisted" {
			return &retake.Error{Kind: retake.Away, What: "the checkpoint is stored, and its row cannot be written: " + w.Text,
				Safe: "It is stored, and is listed when the database answers.", Hint: "ask again with the same idempotency key"}
		}
	}
	return nil
}

// Pin pins a checkpoint if the key may do so.
func (w *confinedService) Pin(ctx context.Context, ws retake.WorkspaceID, ref, name string) (retake.Pin, error) {
	if err := w.checkMayPin(ctx, name); err != nil {
		return retake.Pin{}, err
	}
	return w.inner.Pin(ctx, ws, ref, name)
}

// checkMayPin returns an error if the key may not pin, or if the name is one of a legal hold.
func (w *confinedService) checkMayPin(ctx context.Context, name string) error {
	if a, ok := retake.ActorOf(ctx); ok && !a.Kind.Has(retake.PowerDecide) {
		return &retake.Error{Kind: retake.Denied, What: "an API key with the role " + string(a.Kind) + " may not pin", Safe: unchanged, Hint: "this needs an API key with the role operator"}
	}
	if strings.HasPrefix(name, retake.HoldPrefix) {
		return &retake.Error{Kind: retake.Denied, What: fmt.Sprintf("%s is the name of a legal hold", name), Safe: unchanged, Hint: "put it on hold: POST /v1/workspaces/{ws}/holds"}
	}
	return nil
}

// Estimate counts what a directory of the namespace contains.
func (w *confinedService) Estimate(ctx context.Context, dir string) (retake.Estimate, error) {
	real, err := w.resolveDir(dir)
	if err != nil {
		return retake.Estimate{}, err
	}
	return w.inner.Estimate(ctx, real)
}

// Locate finds the workspace of a directory of the namespace.
func (w *confinedService) Locate(ctx context.Context, dir string) (retake.Workspace, error) {
	real, err := w.resolveDir(dir)
	if err != nil {
		return retake.Workspace{}, err
	}
	return w.inner.Locate(ctx, real)
}

// Workspaces lists the workspaces that the key may access.
func (w *confinedService) Workspaces(ctx context.Context) ([]retake.WorkspaceState, error) {
	all, err := w.inner.Workspaces(ctx)
	return filterAllowed(ctx, all), err
}

// Forks lists the forks that the key may access.
func (w *confinedService) Forks(ctx context.Context, ws retake.WorkspaceID) ([]retake.WorkspaceState, error) {
	all, err := w.inner.Forks(ctx, ws)
	return filterAllowed(ctx, all), err
}

// filterAllowed removes the workspaces that the key of the request may not access.
func filterAllowed(ctx context.Context, all []retake.WorkspaceState) []retake.WorkspaceState {
	return slices.DeleteFunc(all, func(w retake.WorkspaceState) bool { return !retake.MayLoad(ctx, w.ID) })
}

// Fork creates a fork in a directory of the namespace, or in a new one if none is named. An
// agent cannot choose the directory.
func (w *confinedService) Fork(ctx context.Context, req retake.ForkRequest) (retake.ForkResult, error) {
	if err := w.checkWorkspaceLimit(ctx); err != nil {
		return retake.ForkResult{}, err
	}
	if a, ok := retake.ActorOf(ctx); ok && a.Kind == retake.KeyAgent && req.Dir != "" {
		return retake.ForkResult{}, &retake.Error{Kind: retake.Denied, What: "a fork of an agent goes where the server puts it", Safe: unchanged, Hint: "give it a name, and no dir"}
	}
	made := req.Dir == ""
	var err error
	if made {
		req.Dir, err = w.makeHostedDir(req.Name)
	} else {
		var parent string
		parent, err = w.resolveDir(filepath.Dir(req.Dir))
		req.Dir = filepath.Join(parent, filepath.Base(req.Dir))
	}
	if err != nil {
		return retake.ForkResult{}, err
	}
	res, err := w.inner.Fork(ctx, req)
	w.meter.expire()
	if err != nil && made {
		_ = w.removeHostedDir(req.Dir) // fails if something is in it, which must not be deleted
	}
	return res, err
}

// Observe handles a signal about a directory of the namespace. The transcript is dropped: its
// path is one on the agent's machine and must not be opened here.
func (w *confinedService) Observe(ctx context.Context, s retake.Signal) (retake.Reaction, error) {
	real, err := w.resolveDir(s.Dir)
	if err != nil {
		return retake.Reaction{}, err
	}
	s.Dir = real
	s.Transcript = ""
	return w.inner.Observe(ctx, s)
}

// Resume is refused: it writes to the home of the agent, which is on another machine.
func (w *confinedService) Resume(context.Context, retake.ResumeRequest) (retake.Resumption, error) {
	return retake.Resumption{}, &retake.Error{Kind: retake.Denied, What: "conversations continue on the agent's machine", Safe: unchanged,
		Hint: "read it here, and resume it there"}
}

// Unpin removes a pin. A legal hold is removed by Release only.
func (w *confinedService) Unpin(ctx context.Context, ws retake.WorkspaceID, name string) error {
	if strings.HasPrefix(name, retake.HoldPrefix) {
		return &retake.Error{Kind: retake.Denied, What: fmt.Sprintf("%s is a hold", name), Safe: unchanged, Hint: "release it: DELETE /v1/workspaces/{ws}/holds?name=NAME"}
	}
	return w.inner.Unpin(ctx, ws, name)
}

// Forget deletes checkpoints. Only the scheduler may call it, for a deletion whose grace period
// has ended.
func (w *confinedService) Forget(ctx context.Context, ws retake.WorkspaceID, refs []string) ([]retake.Tombstone, error) {
	if a, ok := retake.ActorOf(ctx); ok && a.Kind != retake.KeyMaintainer {
		return nil, &retake.Error{Kind: retake.Denied, What: "nothing is deleted at once here", Safe: unchanged, Hint: "ask for it: POST /v1/deletions"}
	}
	stones, err := w.inner.Forget(ctx, ws, refs)
	w.meter.remeasure(ctx)
	return stones, err
}

// MakeHostedDir creates an empty directory for a new workspace. The returned function removes
// it with everything in it.
func (t *Tenant) MakeHostedDir(name string) (string, func(), error) {
	w := t.confined
	dir, err := w.makeHostedDir(name)
	return dir, func() { _ = os.RemoveAll(dir) }, err // files that remain are not part of any workspace
}

// OpenRoot opens the directory of a live workspace that the key may access.
func (t *Tenant) OpenRoot(ctx context.Context, ws retake.WorkspaceID) (fsx.Dir, error) {
	found, err := t.Service.Log(ctx, retake.LogQuery{Workspace: ws, Limit: 1})
	if err != nil {
		return nil, err
	}
	if found.Workspace.Ended != nil {
		return nil, &retake.Error{Kind: retake.NotFound, What: "the workspace is not protected any more", Safe: unchanged}
	}
	root, err := t.confined.resolveDir(found.Workspace.Root)
	if err != nil {
		return nil, err
	}
	return t.confined.fsys.OpenRoot(root)
}

// Hold pins a checkpoint under the name of a legal hold.
func (t *Tenant) Hold(ctx context.Context, ws retake.WorkspaceID, ref, name string) (retake.Pin, error) {
	return t.confined.inner.Pin(ctx, ws, ref, name)
}

// Release removes the pin of a legal hold.
func (t *Tenant) Release(ctx context.Context, ws retake.WorkspaceID, name string) error {
	return t.confined.inner.Unpin(ctx, ws, name)
}
