//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

const commandLimit = 60 * time.Second

// bed is one repository in use, with the configuration and the caches that belong to it.
type bed struct {
	dir, ws  string
	env      []string
	said     bytes.Buffer      // what all commands printed
	ids      map[string]string // of snapshots, by the name of their state
	timedOut int
}

func (b *bed) repo() string  { return filepath.Join(b.dir, "repo") }
func (b *bed) local() string { return filepath.Join(b.dir, "local") }
func (b *bed) out() string   { return filepath.Join(b.dir, "out") }
func (b *bed) point() string { return filepath.Join(b.dir, "mount") }

// fresh makes an empty directory.
func fresh(dir string) error {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return fmt.Errorf("make directory: %w", err)
	}
	return nil
}

// environment is what every tool gets: nothing of the caller's.
func (b *bed) environment() []string {
	return append([]string{
		"HOME=" + b.local(), "TMPDIR=" + b.local(), "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
		"LC_ALL=C.UTF-8", "TZ=UTC", "TERM=dumb",
	}, b.env...)
}

func (b *bed) command(ctx context.Context, dir string, argv []string) *exec.Cmd {
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env = dir, b.environment()
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	c.WaitDelay = 2 * time.Second
	return c
}

// run runs one command of the tool in dir and returns what it printed to standard output.
func (b *bed) run(ctx context.Context, dir string, argv ...string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	c := b.command(limited, dir, argv)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if errors.Is(err, exec.ErrWaitDelay) { // a daemon that it started kept the pipe
		err = nil
	}
	fmt.Fprintf(&b.said, "$ %q\n%s%s", argv[1:], out.Bytes(), errs.Bytes())
	if limited.Err() != nil {
		b.timedOut++
	}
	if err != nil {
		fmt.Fprintf(&b.said, "[%v]\n", err)
		return out.String(), fmt.Errorf("%s %s: %w: %.500s", filepath.Base(argv[0]), argv[1], err, errs.Bytes())
	}
	return out.String(), nil
}
