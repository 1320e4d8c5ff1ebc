//go:build unix

package parts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
)

// janitor waits until its input ends, then takes down what is mounted below a directory
// and removes it. Those that still write there are about to end.
const janitor = `cat >/dev/null
while read -r _ at _; do case "$at" in "$1"/*) umount -l "$at";; esac; done </proc/mounts 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" 2>/dev/null; [ -e "$1" ] || exit 0; sleep 0.3; done
exit 1`

// Scratch makes a directory that goes away with all that is mounted and written below it:
// by remove, or when this process ends, however that ends. Its path is short.
func Scratch(base string) (dir string, remove func() error, err error) {
	if base == "" {
		base = os.TempDir()
	}
	if len(base) > longestBase {
		base = "/tmp"
	}
	if dir, err = os.MkdirTemp(base, "parts-"); err != nil {
		return "", nil, fmt.Errorf("make a directory: %w", err)
	}
	if err := os.Chmod(dir, 0o711); err != nil { // others run in there
		return "", nil, err
	}
	cmd := exec.Command("/bin/sh", "-c", janitor, "sh", dir)
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what ends us must not end who cleans up
	line, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return "", nil, fmt.Errorf("start who cleans up: %w", errors.Join(err, os.Remove(dir)))
	}
	lines.Lock()
	lines.open = append(lines.open, line)
	lines.Unlock()
	return dir, sync.OnceValue(func() error { return errors.Join(line.Close(), cmd.Wait()) }), nil
}

// lines are held open until we end.
var lines struct {
	sync.Mutex
	open []io.Closer
}
