//go:build unix

package proc_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/retake-dev/retake/internal/platform/proc"
)

func TestAwaitEndReturnsWhenTheProcessEnds(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- proc.WaitForExit(t.Context(), cmd.Process.Pid) }()
	select {
	case err := <-ended:
		t.Fatalf("the process runs, and AwaitEnd answers %v", err)
	default:
	}
	_ = in.Close() // it ends; nobody has collected it yet
	if err := <-ended; err != nil {
		t.Errorf("AwaitEnd: %v", err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := proc.WaitForExit(t.Context(), cmd.Process.Pid); err != nil {
		t.Errorf("a process that is gone: %v", err)
	}
}

func TestAwaitEndGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- proc.WaitForExit(ctx, os.Getpid()) }()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("AwaitEnd of a process that runs: %v", err)
	}
}
