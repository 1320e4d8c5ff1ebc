// Package program is what the two programs share: it reads the environment, wires the command
// line, the terminal and the hooks, and runs one command.
//
// `retake` has no Engine: it speaks to the daemon, and hands what needs the store in its own
// process over to `retaked`: work without a daemon, the daemon itself, the server, mounts,
// MCP, the full-screen view and the demo. It may read and write archives that the user names, and start programs that the
// user asks for. It never decides a use case.
package program

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"syscall"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/assembly/daemonctl"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// Engine is what only the engine's program can do.
type Engine struct {
	// OpenSolo opens the service in this process, for the length of one command.
	OpenSolo func(ctx context.Context, c config.Config, s *config.Settings) (retake.Service, error)
	// RunDaemon is the daemon; starter is the descriptor on which it says that it is ready.
	RunDaemon func(ctx context.Context, c config.Config, s *config.Settings, starter int) error
	// RunSystem is the daemon of a user that runs as another one; the process begins as root.
	RunSystem func(ctx context.Context, uid int) error
	Servers   func(c config.Config, s *config.Settings) cli.Servers
	// RecoveryKeys makes and uses what opens the store when its keys are lost.
	RecoveryKeys func(c config.Config) cli.RecoveryKeys
	Mount        func(ctx context.Context, dir string, ws retake.Workspace, s retake.Service, ready func()) error
	// Screen fills the terminal with a workspace until somebody leaves.
	Screen func(ctx context.Context, c config.Config, x cli.Screen) error
	// MCP serves the tools for agents on our input and output until they end.
	MCP func(ctx context.Context, s retake.Service, dir string) error
}

// program is one run of one of the programs.
type program struct {
	args    []string
	version string
	engine  *Engine // nil in the small program
	conf    config.Config
}

// Run runs one command and returns its exit code. A main program calls proc.Inner before it.
func Run(args []string, version string, e *Engine) int {
	p := &program{args: args, version: version, engine: e}
	agent, isHook := hookAgent(args)
	var err error
	if p.conf, err = config.Read(); err != nil {
		if isHook {
			return 0 // must never fail the agent
		}
		fmt.Fprintln(os.Stderr, "retake:", err)
		return 1
	}
	if e != nil {
		if p.args, err = daemonctl.CutForVersion(args, version, p.conf.Executable); err != nil {
			return p.refuseVersion(err)
		}
		agent, isHook = hookAgent(p.args)
	}
	if isHook {
		return p.runHook(agent)
	}
	p.conf.Debug = p.conf.Debug || hasFlag(p.args, "--debug")
	return p.runCommand()
}

// hasFlag looks for a flag before the command line is parsed.
func hasFlag(args []string, flag string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, flag)
}

// refuseVersion ends an engine that was started by a program of another version.
func (p *program) refuseVersion(err error) int {
	if _, isHook := hookAgent(p.args); isHook {
		return 0
	}
	if i := slices.Index(p.args, "--starter"); i >= 0 && i+1 < len(p.args) {
		fd, aerr := strconv.Atoi(p.args[i+1])
		text, jerr := json.Marshal(daemonctl.StartError{Error: retake.AsError(err), Cause: err.Error()})
		if aerr == nil && jerr == nil {
			_ = proc.OpenStarterPipe(fd).SendLine(string(text)) // the starter also sees that we ended
		}
	}
	e := retake.AsError(err)
	fmt.Fprintf(os.Stderr, "retaked: %s\n%s\n", e.What, e.Hint)
	return e.Exit()
}

// runHook answers an agent. Whatever happens must never fail the agent, which may end us at
// any time.
func (p *program) runHook(agent string) int {
	signal.Ignore(syscall.SIGPIPE) // it does not have to read the answer
	if p.engine == nil && p.worksInProcess() {
		if exit, err := p.handOverToEngine(); err == nil {
			return exit
		}
	}
	return p.handleHook(context.Background(), agent)
}

// worksInProcess reports whether this process must do the work itself.
func (p *program) worksInProcess() bool {
	return p.conf.System == 0 && (p.conf.Solo || !proc.CanDetach || daemonctl.IsReadOnly(p.conf))
}

func (p *program) runCommand() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	conf := p.conf
	settings, err := config.Load(conf.SettingsFile)
	if err != nil {
		fmt.Fprintln(os.Stderr, "retake:", err)
		return retake.AsError(err).Exit()
	}
	if err := settings.Damage(); err != nil {
		e := retake.AsError(err)
		fmt.Fprintf(os.Stderr, "retake: warning: %s, so %s: %s\n", e.What, settings.Fallback(), e.Hint)
	}
	deps := cli.Deps{
		Open: func(ctx context.Context, solo bool) (retake.Service, error) {
			return p.openService(ctx, settings, solo)
		},
		HandOver:      p.handOverToEngine,
		EverProtected: func() bool { return conf.HasStore() },
		HasMark:       func(dir string) bool { return marker.HasMarkAbove(fsx.OS(), dir) },
		Daemon:        daemonAdapter{p, settings},
		Settings:      settings,
		Remote: func(url, key string) cli.RemoteServer {
			return client.New(client.Options{URL: url, Key: key, Version: p.version})
		},
		RemoteConfig: remoteFromEnv(),
		RemoteAccess: conf.RemoteAccess,
		RecoveryKey:  config.RecoveryKey(),
		Archives:     archiveFiles{settings.Floor},
		Report:       p.collectReport,
		Run:          newProgramRunner(conf), NewScratchDir: newScratchDirs(conf), OpenBrowser: newBrowserOpener(conf),
		Hook:   func(ctx context.Context, agent string) int { return p.handleHook(ctx, agent) },
		Places: newAgentPlaces(conf),
		In:     os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: conf.InTTY, OutTTY: conf.OutTTY, ErrTTY: conf.ErrTTY,
		Width: conf.Width, Height: conf.Height, Pager: newPager(conf), Color: conf.Color, ASCII: conf.ASCII, Solo: p.worksInProcess(),
		Dir: conf.WorkDir, Home: conf.Home, Env: conf.VerifyEnv, Clock: clock.Wall, Version: p.version,
	}
	if p.engine != nil {
		deps.HandOver, deps.Servers, deps.Mount, deps.MCP = nil, p.engine.Servers(conf, settings), p.engine.Mount, p.engine.MCP
		deps.RecoveryKeys = p.engine.RecoveryKeys(conf)
		deps.Screen = func(ctx context.Context, x cli.Screen) error { return p.engine.Screen(ctx, conf, x) }
	}
	return cli.Run(ctx, p.args, deps)
}

// openService returns the service: that of the daemon, which is started on first use and
// replaced if it is older than this program; or, in the engine, one in this process.
func (p *program) openService(ctx context.Context, s *config.Settings, solo bool) (retake.Service, error) {
	if solo && p.conf.System > 0 {
		return nil, daemonctl.ErrOnlySystem
	}
	if solo || !proc.CanDetach {
		if p.engine == nil {
			return nil, daemonctl.ErrNoEngine // the command line hands over before it opens
		}
		return p.engine.OpenSolo(ctx, p.conf, s)
	}
	if err := p.conf.CheckSocketDir(); err != nil {
		return nil, err
	}
	d := p.daemonController()
	if err := d.TakeOver(ctx); err != nil {
		return nil, err
	}
	return client.New(client.Options{Socket: p.conf.Socket, Version: p.version, Revive: d.EnsureRunning, Trace: p.requestTracer()}), nil
}

// requestTracer writes each request to standard error when the user asked for it.
func (p *program) requestTracer() func(method, path string) func(status int, err error) {
	if !p.conf.Debug {
		return nil
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	return func(method, path string) func(int, error) {
		begun := clock.Wall.Now()
		return func(status int, err error) {
			log.Debug("asked the daemon", "method", method, "path", path, "status", status, "took", clock.Wall.Now().Sub(begun), "err", err)
		}
	}
}

func (p *program) daemonController() *daemonctl.Controller { return daemonctl.New(p.conf, p.version) }

// handOverToEngine lets the engine's program do this command in our place, with our arguments,
// environment and terminal. It returns only when that is not possible, or on a system where a
// process cannot become another program.
func (p *program) handOverToEngine() (exit int, err error) {
	engine := daemonctl.FindEngine(p.conf)
	if engine == "" {
		return 0, daemonctl.ErrNoEngine
	}
	return proc.Become(engine, append([]string{daemonctl.ForVersion(p.version)}, p.args...), p.conf.Environ)
}

// remoteFromEnv is the server that the environment names.
func remoteFromEnv() cli.RemoteConfig {
	env := config.ReadServer()
	return cli.RemoteConfig{URL: env.URL, Key: env.Key, Workspace: env.Workspace}
}
