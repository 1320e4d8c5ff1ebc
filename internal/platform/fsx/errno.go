package fsx

import (
	"errors"
	"syscall"
)

// errorKind returns the error of this package that corresponds to the errno in err, or nil.
func errorKind(err error) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return nil
	}
	switch errno {
	case syscall.ENOSPC, syscall.EDQUOT:
		return ErrNoSpace
	case syscall.E2BIG, syscall.ENAMETOOLONG, syscall.EMLINK, syscall.ERANGE:
		return ErrTooLarge
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
