// Command retaked is the engine of Retake: the daemon, the server, and what works without a
// daemon. Users run retake, which starts it.
package main

import (
	"context"
	"errors"
	"net"
	"os"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/mcp"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/assembly/daemon"
	"github.com/retake-dev/retake/internal/assembly/program"
	"github.com/retake-dev/retake/internal/engine/mount"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/diag"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/ui/cli"
	"github.com/retake-dev/retake/internal/ui/tui"
)

// version is set by a release at build time.
var version = program.Unversioned

func main() {
	if handled, exit := proc.RunHelper(os.Args[1:]); handled {
		os.Exit(exit)
	}
	if len(os.Args) == 2 && os.Args[1] == xrayWord {
		os.Exit(xrayed())
	}
	version = program.Version(version)
	os.Exit(program.Run(os.Args[1:], version, &program.Engine{
		OpenSolo:     assemble.OpenWithoutDaemon,
		RunDaemon:    runDaemon,
		RunSystem:    runSystemDaemon,
		Servers:      func(c config.Config, s *config.Settings) cli.Servers { return servers{c, s} },
		RecoveryKeys: func(c config.Config) cli.RecoveryKeys { return recoveryKeys{c} },
		Mount:        mountAt,
		Screen:       showScreen,
		MCP: func(ctx context.Context, s retake.Service, dir string) error {
			return mcp.Serve(ctx, s, os.Stdin, os.Stdout, mcp.Options{Dir: dir, Version: version, Clock: clock.Wall})
		},
	}))
}

// recoveryKeys are those of the user's store.
type recoveryKeys struct{ conf config.Config }

func (k recoveryKeys) Make() ([]byte, error) { return assemble.RecoveryKey(k.conf) }
func (k recoveryKeys) Restore(ctx context.Context, key []byte) (bool, error) {
	return assemble.RestoreKeys(ctx, k.conf, key)
}
func (k recoveryKeys) Copies() (string, error) { return assemble.CopyKey(k.conf) }
func (k recoveryKeys) Confirm() error          { return assemble.ConfirmKey(k.conf) }

// runDaemon is the daemon. That another one lives is no error: the starter is told, and asks
// that one.
func runDaemon(ctx context.Context, c config.Config, s *config.Settings, starter int) error {
	return runDaemonAt(ctx, c, s, starter, nil)
}

// runSystemDaemon is the daemon of a user that runs as another one. This process is root.
func runSystemDaemon(ctx context.Context, uid int) error {
	c, at, err := daemon.BecomeSystem(uid)
	if err != nil {
		return err
	}
	s, err := config.Load(c.SettingsFile)
	if err != nil {
		return err
	}
	return runDaemonAt(ctx, c, s, 0, at)
}

func runDaemonAt(ctx context.Context, c config.Config, s *config.Settings, starter int, at *net.UnixListener) error {
	news := daemon.NewEventBuffer(clock.Wall)
	err := daemon.Run(ctx, daemon.Options{
		Conf: c, Settings: s, Version: version, Clock: clock.Wall, Events: news, Listener: at,
		Open: func(ctx context.Context, rec *diag.Recorder) (retake.Service, error) {
			return assemble.OpenService(ctx, c, s, assemble.Options{Exclusive: true, OnEvent: news.Add, Diag: rec})
		},
		ReportReady: proc.OpenStarterPipe(starter).SendLine,
		Detach: func() string {
			proc.ResetUmask()
			return proc.LeaveCgroup(s.LeavesCgroup())
		},
	})
	if errors.Is(err, daemon.ErrAlive) {
		return nil
	}
	return err
}

func mountAt(ctx context.Context, dir string, ws retake.Workspace, s retake.Service, ready func()) error {
	return mount.Serve(ctx, dir, mount.Options{Workspace: ws, Service: s, Clock: clock.Wall}, ready)
}

// showScreen shows a workspace in our terminal.
func showScreen(ctx context.Context, conf config.Config, x cli.Screen) error {
	return tui.Run(ctx, tui.Options{
		Service: x.Service, Workspace: x.Workspace, In: os.Stdin, Out: os.Stdout, Env: conf.Environ, Clock: clock.Wall,
		Home: conf.Home, ASCII: x.ASCII, Color: x.Color, ProposeForkDir: x.ProposeForkDir, ResolveDir: x.ResolveDir,
	})
}
