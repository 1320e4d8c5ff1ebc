package fsx

import (
	"errors"
	"syscall"
)

// errorKind answers the error of this package that an errno stands for, if any.
func errorKind(err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return nil
	}
	switch errno {
	case syscall.ENOSPC, syscall.EDQUOT:
		return ErrNoSpace
	case syscall.EXDEV:
		return ErrOtherMount
	case syscall.ENOTDIR:
		return ErrNotDir
	case syscall.ENOTEMPTY:
		return ErrNotEmpty
	default:
		return nativeErrorKind(errno)
	}
}
