// Command retake keeps a history of a workspace that people can read.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/agents/mcp"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/ui/cli"
)

func main() {
	if handled, exit := proc.Inner(os.Args[1:]); handled {
		os.Exit(exit)
	}
	if len(os.Args) == 2 && os.Args[1] == xrayWord {
		os.Exit(xrayed())
	}
	os.Exit(Main())
}

// heard is a hook line. Whatever happens it is no trouble of the agent, which may end
// us at any time.
func heard(agent string) int {
	signal.Ignore(syscall.SIGPIPE) // it does not have to read the answer
	conf, err := config.Read()
	if err != nil {
		return 0
	}
	return hear(context.Background(), conf, agent)
}

// Main wires the parts and runs one command.
func Main() int {
	if agent, ok := hookAgent(os.Args[1:]); ok {
		return heard(agent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	conf, err := config.Read()
	if err != nil {
		fmt.Fprintln(os.Stderr, "retake:", err)
		return 1
	}
	settings, err := config.Load(conf.File)
	if err != nil {
		fmt.Fprintln(os.Stderr, "retake:", err)
		return retake.AsError(err).Exit()
	}
	return cli.Run(ctx, os.Args[1:], cli.Deps{
		Open: func(ctx context.Context, solo bool) (retake.Service, error) {
			if solo {
				return assemble.OpenWithoutDaemon(ctx, conf, settings)
			}
			return assemble.Local(ctx, conf, settings, version)
		},
		Begun:    func() bool { return assemble.Begun(conf) },
		Daemon:   keeper{conf, settings},
		Servers:  servers{conf, settings},
		Settings: settings,
		Remote: func(url, key string) cli.RemoteServer {
			return client.New(client.Options{URL: url, Key: key, Version: version})
		},
		Far:      far(),
		Archives: archives{settings.Floor},
		Run:      run(conf), Scratch: scratch(conf), Mount: mountAt, Screen: screenOf(conf), Browse: browse(conf),
		Hook:   func(ctx context.Context, agent string) int { return hear(ctx, conf, agent) },
		Places: places(conf),
		MCP: func(ctx context.Context, s retake.Service, dir string) error {
			return mcp.Serve(ctx, s, os.Stdin, os.Stdout, mcp.Options{Dir: dir, Version: version, Clock: clock.Wall})
		},
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		InTTY: conf.InTTY, OutTTY: conf.OutTTY, ErrTTY: conf.ErrTTY,
		Width: conf.Width, Height: conf.Height, Pager: pager(conf), Color: conf.Color, ASCII: conf.ASCII, Solo: conf.Solo,
		Dir: conf.Dir, Home: conf.Home, Env: conf.VerifyEnv, Clock: clock.Wall, Version: version,
	})
}

// far is the server that the environment names.
func far() cli.Far {
	env := config.ReadServer()
	return cli.Far{URL: env.URL, Key: env.Key, Workspace: env.Workspace}
}
