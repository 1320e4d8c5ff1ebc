package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/wire"
)

type dirQuery struct {
	Dir string `query:"dir" doc:"An absolute path on the machine that answers." required:"true"`
}

type workspacePath struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
}

type workspacePage struct {
	Workspace retake.WorkspaceID `path:"ws" doc:"The workspace's ID."`
	PageParams
}

// registerWorkspaces registers the routes for workspaces.
func (a *api) registerWorkspaces() {
	handleJSON(a, newOperation(http.MethodGet, "/v1/about", "about", "Get the version and your permissions"), func(ctx context.Context, _ *struct{}) (retake.About, error) {
		return a.about(ctx), nil
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/estimate", "estimate", "Count what a directory contains"), func(ctx context.Context, in *dirQuery) (retake.Estimate, error) {
		if err := checkAbsolute(in.Dir); err != nil {
			return retake.Estimate{}, err
		}
		return a.Estimate(ctx, in.Dir)
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/locate", "locate", "Find a directory's workspace"), func(ctx context.Context, in *dirQuery) (retake.Workspace, error) {
		if err := checkAbsolute(in.Dir); err != nil {
			return retake.Workspace{}, err
		}
		return a.Locate(ctx, in.Dir)
	})
	handleJSON(a, newOperation(http.MethodGet, "/v1/workspaces", "list-workspaces", "List workspaces"), func(ctx context.Context, in *struct{ PageParams }) (wire.WorkspaceList, error) {
		all, more, err := fetchPage(a, "workspaces", in.PageParams, func(int) ([]retake.WorkspaceState, error) { return a.Workspaces(ctx) }, workspaceIDOf)
		return wire.WorkspaceList{Workspaces: all, More: more}, err
	})
	handleProgress(a, newOperation(http.MethodPost, "/v1/workspaces", "init", "Protect a directory"), a.initWorkspace)
	handleJSON(a, newOperation(http.MethodDelete, "/v1/workspaces/{ws}", "deinit", "Stop protecting a directory"), func(ctx context.Context, in *workspacePath) (retake.Workspace, error) {
		return a.Deinit(ctx, in.Workspace)
	})
}

// about describes this process, and the key of the request if there is one.
func (a *api) about(ctx context.Context) retake.About {
	about := retake.About{}
	if a.opts.About != nil {
		about = a.opts.About()
	}
	about.API = retake.APIVersion
	if k, ok := ctx.Value(bearerKey{}).(retake.Key); ok {
		about.Key = &retake.AboutKey{Kind: k.Kind, Name: k.Name, Workspaces: nonNil(k.Workspaces)}
		about.Powers = k.Kind.Powers()
	}
	return about
}

func (a *api) initWorkspace(ctx context.Context, in *body[wire.InitBody], tell func(retake.Progress)) (retake.SaveResult, error) {
	b := in.Body
	dir := textOrRaw(b.Dir, b.DirRaw)
	if err := a.checkWorkspaceDir(dir); err != nil {
		return retake.SaveResult{}, err
	}
	return a.Init(ctx, retake.InitRequest{Dir: dir, Name: textOrRaw(b.Name, b.NameRaw), Accept: b.Accept, Mark: b.Mark, Env: b.Env, Automatic: b.Automatic, Progress: tell})
}

// textOrRaw returns the exact bytes if the client sent them, otherwise the text.
func textOrRaw(text string, raw []byte) string {
	if raw != nil {
		return string(raw)
	}
	return text
}

// checkAbsolute returns an error for a relative path: client and server have different working
// directories.
func checkAbsolute(dir string) error {
	if filepath.IsAbs(dir) {
		return nil
	}
	return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%q is not the path of a directory from the root", dir), Safe: unchanged}
}

// checkWorkspaceDir checks the directory of a new workspace. A server creates one if it is empty.
func (a *api) checkWorkspaceDir(dir string) error {
	if dir == "" && a.opts.Office != nil {
		return nil
	}
	return checkAbsolute(dir)
}

// nonNil returns an empty list for nil, so that JSON has no null.
func nonNil[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

func workspaceIDOf(w *retake.WorkspaceState) string { return string(w.ID) }
