package program

import (
	"context"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/daemonctl"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// keeper looks after the daemon for the command line. Finding out which build
// this is waits until somebody wants to know.
type keeper struct {
	*program
	settings *config.Settings
}

func (k keeper) Start(ctx context.Context) (cli.DaemonState, error) {
	if !proc.CanDetach {
		return cli.DaemonState{}, &retake.Error{Kind: retake.Invalid, What: "there is no daemon on this system: every command does its own work"}
	}
	if err := k.daemon().TakeOver(ctx); err != nil {
		return cli.DaemonState{}, err
	}
	for range 3 { // somebody may end it in the moment between
		if err := k.daemon().Revive(ctx); err != nil {
			return cli.DaemonState{}, err
		}
		if st, ok, err := k.Status(ctx); ok || err != nil {
			return st, err
		}
	}
	return cli.DaemonState{}, &retake.Error{Kind: retake.Away, What: "the daemon ends as soon as it is started", Safe: "Nothing was changed.", Hint: "its log: retake daemon status"}
}

func (k keeper) Stop(ctx context.Context) (int, error) { return k.daemon().Stop(ctx) }

func (k keeper) Status(ctx context.Context) (cli.DaemonState, bool, error) {
	st, ok, err := k.daemon().State(ctx)
	return cli.DaemonState(st), ok, err
}

func (k keeper) Console(ctx context.Context, ws retake.WorkspaceID) (cli.ConsoleOpening, error) {
	o, err := k.daemon().Console(ctx, ws)
	return cli.ConsoleOpening(o), err
}

func (k keeper) Units() []cli.DaemonUnit { return units(k.daemon().Units()) }

func (k keeper) Install(ctx context.Context, now bool) ([]cli.DaemonUnit, error) {
	u, err := k.daemon().Install(ctx, now)
	return units(u), err
}

func units(us []daemonctl.Unit) []cli.DaemonUnit {
	var out []cli.DaemonUnit
	for _, u := range us {
		out = append(out, cli.DaemonUnit(u))
	}
	return out
}

// Run is the daemon; the small program hands over before it comes here.
func (k keeper) Run(ctx context.Context, starter int) error {
	if k.engine == nil {
		return daemonctl.ErrNoEngine
	}
	return k.engine.RunDaemon(ctx, k.conf, k.settings, starter)
}
