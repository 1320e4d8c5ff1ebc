//go:build !linux

package proc

import "context"

// RunMounted runs a program in Dir and answers its exit code, with ErrElsewhere
// when it was asked for another path.
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

// RunHelper is no part of this system.
func RunHelper([]string) (handled bool, exit int) { return false, 0 }
