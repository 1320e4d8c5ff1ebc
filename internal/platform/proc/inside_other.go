//go:build !linux

package proc

import "context"

// RunInside runs a program in Dir and answers its exit code, with ErrElsewhere
// when it was asked for another path.
func RunInside(ctx context.Context, p Inside) (exit int, err error) {
	rel, err := p.stand()
	if err != nil {
		return -1, err
	}
	exit, err = p.plain(ctx, rel)
	if err == nil && p.moves() {
		err = ErrElsewhere
	}
	return exit, err
}

// Inner is no part of this system.
func Inner([]string) (handled bool, exit int) { return false, 0 }
