//go:build unix

package proc

import (
	"fmt"
	"syscall"
)

// Become replaces this process by another program, with our files, terminal and process id.
// It returns only when that is not possible.
func Become(path string, args, env []string) (exit int, err error) {
	err = syscall.Exec(path, append([]string{path}, args...), env)
	return 0, fmt.Errorf("run %s: %w", path, err)
}
