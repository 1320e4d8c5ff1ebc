package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNoManager means that the user has no running service manager.
var ErrNoManager = errors.New("no service manager of this user")

// systemdRunPaths are the fixed paths of systemd-run. PATH is not used, because it could lead
// anywhere.
var systemdRunPaths = []string{"/usr/bin/systemd-run", "/bin/systemd-run"}

// SpawnUnit lets the service manager of the user start the process, so that it belongs to no
// login session. runtime is the runtime directory of the user. It returns when the manager has
// started the process; there is no starter pipe.
func SpawnUnit(ctx context.Context, runtime, unit string, d Detached) error {
	runner, err := findSystemdRun(runtime)
	if err != nil {
		return err
	}
	args := []string{
		"--user", "--quiet", "--collect", "--unit=" + unit, "--service-type=exec", "--working-directory=/",
		"--property=KillMode=mixed", "--property=TimeoutStopSec=90",
	}
	for _, pair := range d.Env {
		args = append(args, "--setenv="+pair)
	}
	cmd := exec.CommandContext(ctx, runner, append(append(args, "--", d.Path), d.Args...)...)
	cmd.Dir = "/"
	cmd.Env = append([]string{}, d.Env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ask the service manager: %w: %.200s", err, out)
	}
	return nil
}

// findSystemdRun returns the path of systemd-run if the user's service manager is running.
func findSystemdRun(runtime string) (string, error) {
	if !filepath.IsAbs(runtime) {
		return "", ErrNoManager
	}
	if i, err := os.Stat(filepath.Join(runtime, "systemd", "private")); err != nil || i.Mode()&os.ModeSocket == 0 {
		return "", ErrNoManager
	}
	for _, r := range systemdRunPaths {
		if _, err := os.Stat(r); err == nil {
			return r, nil
		}
	}
	return "", ErrNoManager
}

// EnableUnit reloads the units of the user's manager, then enables and starts one.
func EnableUnit(ctx context.Context, env []string, unit string) error {
	for _, args := range [][]string{{"--user", "daemon-reload"}, {"--user", "enable", "--now", unit}} {
		if err := runTool(ctx, env, "/usr/bin/systemctl", args...); err != nil {
			return err
		}
	}
	return nil
}

// EnableSystemUnit does that in root's manager.
func EnableSystemUnit(ctx context.Context, unit string) error {
	for _, args := range [][]string{{"daemon-reload"}, {"enable", "--now", unit}} {
		if err := runTool(ctx, nil, "/usr/bin/systemctl", args...); err != nil {
			return err
		}
	}
	return nil
}

// AddSystemUser adds a user without a shell and a group of the same name.
func AddSystemUser(ctx context.Context, name, home string) error {
	return runTool(ctx, nil, "/usr/sbin/useradd", "--system", "--user-group", "--no-create-home", "--home-dir", home, "--shell", "/usr/sbin/nologin", name)
}

// runTool runs a program of the system.
func runTool(ctx context.Context, env []string, path string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = "/", append([]string{}, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s: %w: %.200s", filepath.Base(path), err, out)
	}
	return nil
}
