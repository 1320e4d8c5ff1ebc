//go:build unix

package parts

import "path/filepath"

// Sleeper is a process that does nothing for a long time.
func Sleeper(dir string) *Process {
	return &Process{program: program{path: "/bin/sh", args: []string{"-c", "sleep 1000 & wait"}, dir: dir, log: filepath.Join(dir, "log")}}
}

// Begin starts it.
func (p *Process) Begin() error { return p.start() }
