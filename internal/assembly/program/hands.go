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

// newProgramRunner runs a program with our terminal. An interrupt is the program's own affair; only
// a request to end ends it.
func newProgramRunner(conf config.Config) func(context.Context, cli.Command) (int, error) {
	return func(ctx context.Context, c cli.Command) (int, error) {
		if c.Output != nil {
			return runWatched(ctx, conf, c)
		}
		ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM)
		defer stop()
		out := os.Stdout
		if c.ToStderr {
			out = os.Stderr
		}
		exit, err := proc.RunMounted(ctx, proc.MountedCommand{
			Args: c.Args, Dir: c.Dir, MountPath: c.BindOver, Cwd: c.Subdir, Env: conf.Environ,
			In: os.Stdin, Out: out, Err: os.Stderr,
		})
		if errors.Is(err, proc.ErrNotMounted) {
			err = fmt.Errorf("%w: %w", cli.ErrOtherPath, err)
		}
		return exit, err
	}
}

// runWatched runs a program away from our terminal. It ends with ctx, and so do all processes
// it started.
func runWatched(ctx context.Context, conf config.Config, c cli.Command) (int, error) {
	args := c.Args
	if c.Subdir != "" {
		args = append([]string{"sh", "-c", `cd "$0" && exec "$@"`, "./" + c.Subdir}, args...)
	}
	end, err := proc.RunIsolated(ctx, proc.IsolatedCommand{Args: args, Dir: c.Dir, MountPath: c.BindOver, Env: conf.Environ, Out: c.Output})
	if err == nil && end.NotMounted {
		err = fmt.Errorf("%w: its directory could not be shown at %s", cli.ErrOtherPath, c.BindOver)
	}
	return end.Exit, err
}

// newScratchDirs makes an empty directory for a fork that nobody keeps, beside the store.
func newScratchDirs(conf config.Config) func() (string, func() error, error) {
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
