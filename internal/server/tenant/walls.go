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
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/pattern"
	"github.com/retake-dev/retake/internal/service"
)

// confinedService is a service that keeps inside the directories of its namespace: a path from
// outside is looked at before anybody else sees it.
type confinedService struct {
	*service.Service
	fsys             fsx.FS
	dirs             Dirs
	currentNamespace func() retake.Namespace
	clock            clock.Clock

	storeSizeMu sync.Mutex
	storeSize   int64        // guarded by sizeMu; of the store when it was measured
	storeSizeAt time.Time    // guarded by sizeMu
	savedSince  atomic.Int64 // since
}

var _ retake.Service = (*confinedService)(nil)

// resolveDir answers the real path of a directory that is the namespace's. What lies
// elsewhere is not told from what is not there.
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

func isWithin(path, root string) bool {
	return path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/")
}

var workspacePattern = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// makeHostedDir makes a directory for a workspace of that name, below the namespace's own files.
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

// removeHostedDir takes a directory away again that nothing came into.
func (w *confinedService) removeHostedDir(dir string) error {
	files, err := w.fsys.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer files.Close() //nolint:errcheck // a directory handle
	return files.Remove(filepath.Base(dir))
}

// checkWorkspaceLimit refuses one workspace more than the limit.
func (w *confinedService) checkWorkspaceLimit(ctx context.Context) error {
	most := w.currentNamespace().Limits.Workspaces
	if most <= 0 {
		return nil
	}
	all, err := w.Service.Workspaces(ctx) // all of them, whatever the key is good for
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
	req.Env = nil // nothing of a workspace is run here
	res, err := w.Service.Init(ctx, req)
	if err != nil && made {
		err = errors.Join(err, w.removeHostedDir(req.Dir))
	}
	return res, err
}

// Save pins for those who may decide what stays, and refuses one checkpoint more when the
// namespace has used up its room.
func (w *confinedService) Save(ctx context.Context, req retake.SaveRequest) (retake.SaveResult, error) {
	if req.Pin != "" {
		if err := w.checkMayPin(ctx, req.Pin); err != nil {
			return retake.SaveResult{}, err
		}
	}
	if err := w.checkStoreLimit(ctx); err != nil {
		return retake.SaveResult{}, err
	}
	res, err := w.Service.Save(ctx, req)
	if err != nil {
		return res, err
	}
	w.savedSince.Add(res.Checkpoint.NewBytes)
	return res, checkListed(res.Warnings)
}

// checkListed: what is acknowledged here is also in the rows, or nobody would be told of it.
// The checkpoint is stored all the same; the same request again finds it and lists it.
func checkListed(warnings []retake.Warning) error {
	for _, w := range warnings {
		if w.Code == "unlisted" {
			return &retake.Error{Kind: retake.Away, What: "the checkpoint is stored, and its row cannot be written: " + w.Text,
				Safe: "It is stored, and is listed when the database answers.", Hint: "ask again with the same idempotency key"}
		}
	}
	return nil
}

func (w *confinedService) Pin(ctx context.Context, ws retake.WorkspaceID, ref, name string) (retake.Pin, error) {
	if err := w.checkMayPin(ctx, name); err != nil {
		return retake.Pin{}, err
	}
	return w.Service.Pin(ctx, ws, ref, name)
}

func (w *confinedService) checkMayPin(ctx context.Context, name string) error {
	if a, ok := retake.ActorOf(ctx); ok && !a.Kind.Has(retake.PowerDecide) {
		return &retake.Error{Kind: retake.Denied, What: "an API key with the role " + string(a.Kind) + " may not pin", Safe: unchanged, Hint: "this needs an API key with the role operator"}
	}
	if strings.HasPrefix(name, retake.HoldPrefix) {
		return &retake.Error{Kind: retake.Denied, What: fmt.Sprintf("%s is the name of a legal hold", name), Safe: unchanged, Hint: "put it on hold: POST /v1/workspaces/{ws}/holds"}
	}
	return nil
}

// sizeAge is how long a measured size is good for; what was saved since is added to it.
const storeSizeMaxAge = time.Minute

// checkStoreLimit refuses when the store has reached its limit. What is there stays.
func (w *confinedService) checkStoreLimit(ctx context.Context) error {
	most := w.currentNamespace().Limits.Store
	if most <= 0 {
		return nil
	}
	w.storeSizeMu.Lock()
	defer w.storeSizeMu.Unlock()
	if now := w.clock.Now(); now.Sub(w.storeSizeAt) > storeSizeMaxAge {
		st, err := w.Space(ctx)
		if err == nil { // else the last one serves: not to know is no reason to refuse
			w.storeSize = st.Bytes
			w.savedSince.Store(0)
		}
		w.storeSizeAt = now
	}
	if w.storeSize+w.savedSince.Load() < most {
		return nil
	}
	return &retake.Error{Kind: retake.Limit, What: fmt.Sprintf("not saved: the history takes %d MB, the limit of the namespace", most/1e6), Safe: unchanged,
		Hint: "keep checkpoints for a shorter time, ask for deletions, or ask for a higher limit"}
}

func (w *confinedService) Estimate(ctx context.Context, dir string) (retake.Estimate, error) {
	real, err := w.resolveDir(dir)
	if err != nil {
		return retake.Estimate{}, err
	}
	return w.Service.Estimate(ctx, real)
}

func (w *confinedService) Locate(ctx context.Context, dir string) (retake.Workspace, error) {
	real, err := w.resolveDir(dir)
	if err != nil {
		return retake.Workspace{}, err
	}
	return w.Service.Locate(ctx, real)
}

// Workspaces lists those that the key is good for.
func (w *confinedService) Workspaces(ctx context.Context) ([]retake.WorkspaceState, error) {
	all, err := w.Service.Workspaces(ctx)
	return filterAllowed(ctx, all), err
}

// Forks lists those that the key is good for.
func (w *confinedService) Forks(ctx context.Context, ws retake.WorkspaceID) ([]retake.WorkspaceState, error) {
	all, err := w.Service.Forks(ctx, ws)
	return filterAllowed(ctx, all), err
}

func filterAllowed(ctx context.Context, all []retake.WorkspaceState) []retake.WorkspaceState {
	return slices.DeleteFunc(all, func(w retake.WorkspaceState) bool { return !retake.MayLoad(ctx, w.ID) })
}

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
	res, err := w.Service.Fork(ctx, req)
	if err != nil && made {
		_ = w.removeHostedDir(req.Dir) // not empty: somebody else's by now
	}
	return res, err
}

// Observe hears signals about directories of the namespace. Conversations lie with the
// agent, on another machine: what is said of their place here is not followed.
func (w *confinedService) Observe(ctx context.Context, s retake.Signal) (retake.Reaction, error) {
	real, err := w.resolveDir(s.Dir)
	if err != nil {
		return retake.Reaction{}, err
	}
	s.Dir = real
	s.Transcript = ""
	return w.Service.Observe(ctx, s)
}

// Resume writes into the home of an agent, which is not here.
func (w *confinedService) Resume(context.Context, retake.ResumeRequest) (retake.Resumption, error) {
	return retake.Resumption{}, &retake.Error{Kind: retake.Denied, What: "conversations continue on the agent's machine", Safe: unchanged,
		Hint: "read it here, and resume it there"}
}

// Unpin leaves holds alone: they end by Release.
func (w *confinedService) Unpin(ctx context.Context, ws retake.WorkspaceID, name string) error {
	if strings.HasPrefix(name, retake.HoldPrefix) {
		return &retake.Error{Kind: retake.Denied, What: fmt.Sprintf("%s is a hold", name), Safe: unchanged, Hint: "release it: DELETE /v1/workspaces/{ws}/holds?name=NAME"}
	}
	return w.Service.Unpin(ctx, ws, name)
}

// Forget is the end of a deletion whose grace is over, and nobody else's.
func (w *confinedService) Forget(ctx context.Context, ws retake.WorkspaceID, refs []string) ([]retake.Tombstone, error) {
	if a, ok := retake.ActorOf(ctx); ok && a.Kind != retake.KeyMaintainer {
		return nil, &retake.Error{Kind: retake.Denied, What: "nothing is deleted at once here", Safe: unchanged, Hint: "ask for it: POST /v1/deletions"}
	}
	return w.Service.Forget(ctx, ws, refs)
}

// MakeHostedDir makes an empty directory for a workspace of that name, and says how to take it
// away again with all that was put there.
func (t *Tenant) MakeHostedDir(name string) (string, func(), error) {
	w := t.confined
	dir, err := w.makeHostedDir(name)
	return dir, func() { _ = os.RemoveAll(dir) }, err // what is left is never looked at
}

// Hold pins a checkpoint under the name of a hold.
func (t *Tenant) Hold(ctx context.Context, ws retake.WorkspaceID, ref, name string) (retake.Pin, error) {
	return t.confined.Service.Pin(ctx, ws, ref, name)
}

// Release takes off a pin that is a hold.
func (t *Tenant) Release(ctx context.Context, ws retake.WorkspaceID, name string) error {
	return t.confined.Service.Unpin(ctx, ws, name)
}
