//go:build linux

package g7

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/returnbed"
)

func init() { harness.Children["g7-does"] = touchChild }

// did is what a child tells.
type did struct {
	Workspace retake.WorkspaceID
	Plan      retake.Plan
	Result    retake.RestoreResult
}

// shopAt opens the service on a data directory, with the settings beside it.
func shopAt(ctx context.Context, data string) (retake.Service, error) {
	set, err := config.Load(filepath.Join(filepath.Dir(data), "settings.json"))
	if err != nil {
		return nil, err
	}
	return assemble.OpenService(ctx, config.Config{DataDir: data, Home: "/nobody", BootID: "one"}, set, assemble.Options{Derivation: harness.Derivation})
}

// touchChild does one thing to a workspace, as whoever it was started as: "save", or
// "go" back to the first checkpoint, told as JSON.
func touchChild(args []string) int {
	out, err := touch(context.Background(), args[0], args[1], args[2])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func touch(ctx context.Context, what, data, dir string) (out did, err error) {
	svc, err := shopAt(ctx, data)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, svc.Close()) }()
	if what == "save" {
		cp, err := crashbed.SaveOrInit(ctx, svc, dir)
		out.Workspace = cp.Workspace
		return out, err
	}
	ws, err := svc.Locate(ctx, dir)
	if err != nil {
		return out, err
	}
	out.Workspace = ws.ID
	out.Plan, out.Result, err = returnbed.PlanAndApply(ctx, svc, retake.PlanRequest{Workspace: ws.ID, Course: retake.CourseRestore, Ref: "1"})
	return out, err
}
