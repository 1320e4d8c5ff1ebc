package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Become runs another program with our files and terminal, and returns its exit code: a
// process cannot become another program here.
func Become(path string, args, env []string) (exit int, err error) {
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdin, os.Stdout, os.Stderr, env
	var ended *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
		return 0, fmt.Errorf("run %s: %w", path, err)
	}
	return cmd.ProcessState.ExitCode(), nil
}
