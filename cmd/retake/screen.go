package main

import (
	"context"
	"os"

	"github.com/retake-dev/retake/internal/cli"
	"github.com/retake-dev/retake/internal/clock"
	"github.com/retake-dev/retake/internal/config"
	"github.com/retake-dev/retake/internal/tui"
)

// screenOf shows a workspace in our terminal.
func screenOf(conf config.Config) func(context.Context, cli.Screen) error {
	return func(ctx context.Context, x cli.Screen) error {
		return tui.Run(ctx, tui.Options{
			Service: x.Service, Workspace: x.Workspace, In: os.Stdin, Out: os.Stdout, Env: conf.Environ, Clock: clock.Wall,
			Home: conf.Home, ASCII: x.ASCII, Color: x.Color, ForkTo: x.ForkTo, At: x.At,
		})
	}
}
