package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// RunPager shows text in a program that reads it on standard input and has our terminal, and
// returns when the program has ended. An error means that it did not start.
func RunPager(args, env []string, text string) error {
	if len(args) == 0 {
		return errors.New("start pager: none is named")
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = env, strings.NewReader(text), os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start pager: %w", err)
	}
	_ = cmd.Wait() // the exit code of a pager means nothing to us
	return nil
}
