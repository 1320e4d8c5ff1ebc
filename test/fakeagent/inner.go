package fakeagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// innerWord is the argument of the process that is the agent.
const innerWord = "fakeagent-inner"

// task of the process that is the agent, on its stdin.
type innerPlay struct {
	Agent  string
	Places Places
	Play   string
}

// Inner is the agent when this process was started to be one. It belongs to the
// begin of the main program: an agent is a process of its own, because whoever is
// called by its hooks may look whether it still lives.
func Inner(args []string) (handled bool, exit int) {
	if len(args) != 1 || args[0] != innerWord {
		return false, 0
	}
	var p innerPlay
	err := json.NewDecoder(os.Stdin).Decode(&p)
	if err == nil {
		err = perform(context.Background(), p, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return true, 1
	}
	return true, 0
}

// Run plays a text as an agent, in a process of its own, and writes to out what
// happened.
func Run(ctx context.Context, agent string, p Places, play string, out io.Writer) error {
	steps, err := parse(play)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("play %s: %w", agent, err)
	}
	in, err := json.Marshal(innerPlay{Agent: agent, Places: p, Play: play})
	if err != nil {
		return fmt.Errorf("play %s: %w", agent, err)
	}
	cmd := exec.CommandContext(ctx, self, innerWord)
	cmd.Dir, cmd.Env = p.Dir, p.Env
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), out, &complaint
	err = cmd.Run()
	var exit *exec.ExitError
	if crashes(steps) && errors.As(err, &exit) && exit.ExitCode() < 0 {
		return nil // it was killed, as the play wants
	}
	if err != nil {
		return fmt.Errorf("play %s: %w: %s", agent, err, strings.TrimSpace(complaint.String()))
	}
	return nil
}

func crashes(steps []step) bool { return len(steps) > 0 && steps[len(steps)-1].verb == "crash" }

// die is the end of a process that cannot tell anybody.
func die() error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return fmt.Errorf("crash: %w", err)
	}
	if err := self.Kill(); err != nil {
		return fmt.Errorf("crash: %w", err)
	}
	select {}
}
