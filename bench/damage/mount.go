//go:build linux

package main

import (
	"context"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const mountLimit = 20 * time.Second

// mounted runs a command that mounts all snapshots in the foreground, and calls read while the mount
// is there. Without a mount, read is not called.
func (b *bed) mounted(ctx context.Context, argv []string, read func()) {
	if fresh(b.point()) != nil {
		return
	}
	limited, cancel := context.WithTimeout(ctx, mountLimit+commandLimit)
	defer cancel()
	c := b.command(limited, b.ws, argv)
	c.Stdout, c.Stderr = &b.said, &b.said
	if c.Start() != nil {
		return
	}
	ended := make(chan struct{})
	go func() {
		c.Wait() //nolint:errcheck // a mount ends when it is interrupted
		close(ended)
	}()
	if b.waitForMount(ended) {
		read()
	}
	c.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
	}
	if b.isMounted() {
		exec.Command("fusermount", "-u", "-z", b.point()).Run() //nolint:errcheck // removing the directory fails then, and says so
	}
	cancel()
	<-ended
}

func (b *bed) waitForMount(ended <-chan struct{}) bool {
	for deadline := time.Now().Add(mountLimit); time.Now().Before(deadline); {
		if b.isMounted() {
			return true
		}
		select {
		case <-ended:
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return false
}

// isMounted reports whether the mount point is on another device than its parent.
func (b *bed) isMounted() bool {
	var point, parent syscall.Stat_t
	return syscall.Stat(b.point(), &point) != nil || syscall.Stat(b.dir, &parent) == nil && point.Dev != parent.Dev
}
