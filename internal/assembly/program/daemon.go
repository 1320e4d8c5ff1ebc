package program

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/daemonctl"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// daemonAdapter controls the daemon for the command line. Finding out which build this is is
// put off until it is needed.
type daemonAdapter struct {
	*program
	settings *config.Settings
}

func (k daemonAdapter) Start(ctx context.Context) (cli.DaemonState, error) {
	if !proc.CanDetach {
		return cli.DaemonState{}, &retake.Error{Kind: retake.Invalid, What: "there is no daemon on this system: every command does its own work"}
	}
	if err := k.daemonController().TakeOver(ctx); err != nil {
		return cli.DaemonState{}, err
	}
	for range 3 { // somebody may end it in the moment between
		if err := k.daemonController().EnsureRunning(ctx); err != nil {
			return cli.DaemonState{}, err
		}
		if st, ok, err := k.Status(ctx); ok || err != nil {
			return st, err
		}
	}
	return cli.DaemonState{}, &retake.Error{Kind: retake.Away, What: "the daemon ends as soon as it is started", Safe: "Nothing was changed.", Hint: "its log: retake daemon status"}
}

func (k daemonAdapter) Stop(ctx context.Context) (int, error) { return k.daemonController().Stop(ctx) }

func (k daemonAdapter) Status(ctx context.Context) (cli.DaemonState, bool, error) {
	st, ok, err := k.daemonController().State(ctx)
	return cli.DaemonState(st), ok, err
}

func (k daemonAdapter) Console(ctx context.Context, ws retake.WorkspaceID) (cli.ConsoleOpening, error) {
	o, err := k.daemonController().Console(ctx, ws)
	return cli.ConsoleOpening(o), err
}

func (k daemonAdapter) Units() []cli.DaemonUnit { return toDaemonUnits(k.daemonController().Units()) }

func (k daemonAdapter) InstallSystem(ctx context.Context, user string, now bool) (cli.SystemDaemon, error) {
	d, err := k.daemonController().InstallSystem(ctx, user, now)
	return cli.SystemDaemon{Units: toDaemonUnits(d.Units), Socket: d.Socket, OldStore: d.OldStore}, err
}

func (k daemonAdapter) Install(ctx context.Context, now bool) ([]cli.DaemonUnit, error) {
	u, err := k.daemonController().Install(ctx, now)
	return toDaemonUnits(u), err
}

func toDaemonUnits(us []daemonctl.Unit) []cli.DaemonUnit {
	var out []cli.DaemonUnit
	for _, u := range us {
		out = append(out, cli.DaemonUnit(u))
	}
	return out
}

// Run is the daemon; the small program hands over before it comes here.
func (k daemonAdapter) Run(ctx context.Context, starter, system int) error {
	if k.engine == nil {
		return daemonctl.ErrNoEngine
	}
	if system > 0 {
		return k.engine.RunSystem(ctx, system)
	}
	return k.engine.RunDaemon(ctx, k.conf, k.settings, starter)
}
