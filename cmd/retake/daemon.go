package main

import (
	"context"
	"errors"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/assembly/daemon"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// keeper looks after the daemon for the command line. Finding out which build
// this is waits until somebody wants to know.
type keeper struct {
	conf     config.Config
	settings *config.Settings
}

func (k keeper) hand() *daemon.Hand { return daemon.Reach(k.conf, version) }

func (k keeper) Start(ctx context.Context) (cli.DaemonState, error) {
	if !proc.CanDetach {
		return cli.DaemonState{}, &retake.Error{Kind: retake.Invalid, What: "there is no daemon on this system: every command does its own work"}
	}
	if err := k.hand().Succeed(ctx); err != nil {
		return cli.DaemonState{}, err
	}
	for range 3 { // somebody may end it in the checkpoint between
		if err := k.hand().Revive(ctx); err != nil {
			return cli.DaemonState{}, err
		}
		if st, ok, err := k.Status(ctx); ok || err != nil {
			return st, err
		}
	}
	return cli.DaemonState{}, &retake.Error{Kind: retake.Away, What: "the daemon ends as soon as it is started", Safe: "Nothing was changed.", Hint: "its log: retake daemon status"}
}

func (k keeper) Stop(ctx context.Context) (int, error) { return k.hand().Stop(ctx) }

func (k keeper) Status(ctx context.Context) (cli.DaemonState, bool, error) {
	st, ok, err := k.hand().State(ctx)
	return cli.DaemonState(st), ok, err
}

func (k keeper) Console(ctx context.Context, ws retake.WorkspaceID) (cli.ConsoleOpening, error) {
	o, err := k.hand().Console(ctx, ws)
	return cli.ConsoleOpening(o), err
}

func (k keeper) Units() []cli.DaemonUnit { return units(k.hand().Units()) }

func (k keeper) Install(ctx context.Context, now bool) ([]cli.DaemonUnit, error) {
	u, err := k.hand().Install(ctx, now)
	return units(u), err
}

func units(us []daemon.Unit) []cli.DaemonUnit {
	var out []cli.DaemonUnit
	for _, u := range us {
		out = append(out, cli.DaemonUnit(u))
	}
	return out
}

// Run is the daemon. That another one lives is no trouble: the starter is told,
// and asks that one.
func (k keeper) Run(ctx context.Context, starter int) error {
	news := daemon.NewNews(clock.Wall)
	err := daemon.Run(ctx, daemon.Options{
		Conf: k.conf, Settings: k.settings, Version: version, Clock: clock.Wall, News: news,
		Open: func(ctx context.Context) (retake.Service, error) {
			return assemble.OpenService(ctx, k.conf, k.settings, assemble.Options{Exclusive: true, Tell: news.Tell})
		},
		Say: proc.ToStarter(starter).Say,
		Settle: func() string {
			proc.Settle()
			return proc.LeaveCgroup(k.settings.LeavesCgroup())
		},
	})
	if errors.Is(err, daemon.ErrAlive) {
		return nil
	}
	return err
}
