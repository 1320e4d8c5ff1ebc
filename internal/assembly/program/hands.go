package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// run runs a program with our terminal. An interrupt is the program's own affair; only
// a request to end ends it.
func run(conf config.Config) func(context.Context, cli.Command) (int, error) {
	return func(ctx context.Context, c cli.Command) (int, error) {
		if c.Watch != nil {
			return watch(ctx, conf, c)
		}
		ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM)
		defer stop()
		out := os.Stdout
		if c.Aside {
			out = os.Stderr
		}
		exit, err := proc.RunMounted(ctx, proc.MountedCommand{
			Args: c.Args, Dir: c.Dir, MountPath: c.Over, Cwd: c.Below, Env: conf.Environ,
			In: os.Stdin, Out: out, Err: os.Stderr,
		})
		if errors.Is(err, proc.ErrNotMounted) {
			err = fmt.Errorf("%w: %w", cli.ErrElsewhere, err)
		}
		return exit, err
	}
}

// watch runs a program away from our terminal. It ends with ctx, and so does all that
// it started.
func watch(ctx context.Context, conf config.Config, c cli.Command) (int, error) {
	args := c.Args
	if c.Below != "" {
		args = append([]string{"sh", "-c", `cd "$0" && exec "$@"`, "./" + c.Below}, args...)
	}
	end, err := proc.RunIsolated(ctx, proc.IsolatedCommand{Args: args, Dir: c.Dir, MountPath: c.Over, Env: conf.Environ, Out: c.Watch})
	if err == nil && end.NotMounted {
		err = fmt.Errorf("%w: its directory could not be shown at %s", cli.ErrElsewhere, c.Over)
	}
	return end.Exit, err
}

// scratch makes an empty directory for a fork that nobody keeps, beside the store.
func scratch(conf config.Config) func() (string, func() error, error) {
	return func() (string, func() error, error) {
		at := filepath.Join(conf.DataDir, "scratch")
		if err := os.MkdirAll(at, 0o700); err != nil {
			return "", nil, fmt.Errorf("make scratch: %w", err)
		}
		dir, err := os.MkdirTemp(at, "at-")
		if err != nil {
			return "", nil, fmt.Errorf("make scratch: %w", err)
		}
		return dir, func() error { return removeAll(dir) }, nil
	}
}

// removeAll also removes what is not writable.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // what stays closed is told by the next removal
		}
		return nil
	})
	return os.RemoveAll(dir)
}
