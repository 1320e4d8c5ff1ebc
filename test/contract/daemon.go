//go:build linux

package contract

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/ui/httpapi"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/serverbed"
)

// daemonOnly are operations that a server refuses. What they do is held against a daemon.
var daemonOnly = []string{"forget", "plan-purge", "purge", "erase", "resume", "attach", "add-remote", "remove-remote", "sync-remotes", "check-remote"}

// unmet are operations whose examples need more than these beds have, so that they are answered
// with a listed error: a git remote, which test/seeds has, another place, or an agent, which test/agents has.
var unmet = []string{"set-backup", "backup", "back-up", "drop-backup", "conversation", "spoken", "resume", "approve",
	"attach", "add-remote", "remove-remote", "sync-remotes", "check-remote"}

// daemon is a service without tenants, asked over HTTP.
type daemon struct {
	svc  retake.Service
	http *httptest.Server
	ws   retake.WorkspaceID
	root string
}

func openDaemon(dir string) (*daemon, error) {
	d := &daemon{root: filepath.Join(dir, "shop")}
	set, err := config.Load(filepath.Join(dir, "config.json"))
	if err != nil {
		return nil, err
	}
	c := config.Config{DataDir: filepath.Join(dir, "data"), Home: "/nobody", BootID: "this run"}
	svc, err := assemble.OpenService(context.Background(), c, set, assemble.Options{Derivation: harness.Derivation})
	if err != nil {
		return nil, err
	}
	d.svc = svc
	d.http = httptest.NewServer(httpapi.New(d.svc, httpapi.Options{}))
	if err := d.furnish(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *daemon) furnish() error {
	if err := os.MkdirAll(d.root, 0o755); err != nil {
		return err
	}
	res, err := d.svc.Init(context.Background(), retake.InitRequest{Dir: d.root})
	if err != nil {
		return err
	}
	d.ws = res.Workspace.ID
	for n := range newest {
		if err := plantLogin(d.root, n); err != nil {
			return err
		}
		if _, err := d.svc.Save(context.Background(), retake.SaveRequest{Workspace: d.ws, Trigger: retake.TriggerManual}); err != nil {
			return err
		}
	}
	return nil
}

func (d *daemon) close() error {
	d.http.Close()
	return d.svc.Close()
}

// plantLogin writes the file of the examples, and one with a secret.
func plantLogin(root string, n int) error {
	return errors.Join(
		serverbed.PlantFile(filepath.Join(root, "src", "login.ts"), fmt.Sprintf("export function login() {} // %d\n", n)),
		serverbed.PlantFile(filepath.Join(root, ".env"), fmt.Sprintf("TOKEN=%d\n", n)))
}

func (o *operation) isDaemonOnly() bool { return slices.Contains(daemonOnly, o.OperationID) }
