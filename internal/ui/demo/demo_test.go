package demo_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/ui/demo"
)

// The test program is also the child that reads what files mean.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "xray" {
		proc.EnterSandbox(xray.Cage)
		if xray.Serve(os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// openService is a service as the daemon has it.
func openService(t *testing.T) retake.Service {
	t.Helper()
	home := t.TempDir()
	set, err := config.Load(filepath.Join(home, "config.json"))
	must(t, err)
	must(t, set.Set("floor", "1KB"))
	self, err := os.Executable()
	must(t, err)
	c := config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "this run", Executable: self}
	s, err := assemble.OpenService(t.Context(), c, set, assemble.Options{Exclusive: true, Derivation: derivation})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// check runs the check of the shop as the command line does.
func check(ctx context.Context, dir string) (retake.Attestation, error) {
	c := exec.CommandContext(ctx, "sh", "-c", demo.CheckLine)
	c.Dir = dir
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return retake.Attestation{}, err
	}
	return retake.Attestation{Exit: c.ProcessState.ExitCode(), Output: string(out), Where: retake.OnLive, Started: clock.Wall.Now()}, nil
}

func request(dir string) demo.Request {
	return demo.Request{Dir: dir, Clock: clock.Wall, Check: check}
}

func TestOccupiedIsRefused(t *testing.T) {
	t.Parallel()
	s := openService(t)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "mine"), []byte("x"), 0o600))
	if _, err := demo.Make(t.Context(), s, request(dir)); !errors.Is(err, demo.ErrOccupied) {
		t.Errorf("it says %v", err)
	}
	names, err := os.ReadDir(dir)
	must(t, err)
	if len(names) != 1 || demo.IsUnfinished(dir) {
		t.Errorf("the directory holds %v", names)
	}
	if all, err := s.Workspaces(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("workspaces are %v, %v", all, err)
	}
}

func TestCutOffSaysSo(t *testing.T) {
	t.Parallel()
	s := openService(t)
	dir := filepath.Join(t.TempDir(), "demo")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req := request(dir)
	req.OnStep = func(step string) {
		if strings.HasPrefix(step, "sell") {
			cancel()
		}
	}
	if _, err := demo.Make(ctx, s, req); !errors.Is(err, context.Canceled) {
		t.Errorf("it says %v", err)
	}
	b, err := os.ReadFile(filepath.Join(dir, demo.Unfinished))
	if err != nil || !strings.Contains(string(b), "interrupted") || !demo.IsUnfinished(dir) {
		t.Errorf("the mark says %q, %v", b, err)
	}
	if err := demo.CheckFree(dir); !errors.Is(err, demo.ErrOccupied) {
		t.Errorf("it is free: %v", err)
	}
}
