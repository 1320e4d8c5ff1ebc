package program

import (
	"context"
	"os"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/ui/cli"
	"github.com/retake-dev/retake/internal/ui/tui"
)

// newScreen shows a workspace in our terminal.
func newScreen(conf config.Config) func(context.Context, cli.Screen) error {
	return func(ctx context.Context, x cli.Screen) error {
		return tui.Run(ctx, tui.Options{
			Service: x.Service, Workspace: x.Workspace, In: os.Stdin, Out: os.Stdout, Env: conf.Environ, Clock: clock.Wall,
			Home: conf.Home, ASCII: x.ASCII, Color: x.Color, ProposeForkDir: x.ProposeForkDir, ResolveDir: x.ResolveDir,
		})
	}
}
