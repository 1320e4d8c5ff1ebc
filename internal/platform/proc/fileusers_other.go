//go:build !linux

package proc

import "context"

// FindFileUsers finds nothing: it is not supported here.
func FindFileUsers(context.Context, map[Inode]bool) ([]FileUser, int, error) { return nil, 0, nil }
