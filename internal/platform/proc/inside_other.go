//go:build !linux

package proc

import "context"

// RunMounted runs a program in Dir and returns its exit code, with ErrNotMounted if another
// path was requested.
func RunMounted(ctx context.Context, p MountedCommand) (exit int, err error) {
	rel, err := p.relativeWorkDir()
	if err != nil {
		return -1, err
	}
	exit, err = p.runUnmounted(ctx, rel)
	if err == nil && p.needsMount() {
		err = ErrNotMounted
	}
	return exit, err
}

// RunHelper handles nothing: there is no helper on this system.
func RunHelper([]string) (handled bool, exit int) { return false, 0 }
