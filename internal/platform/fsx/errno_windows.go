package fsx

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// nativeErrorKind maps the error codes of Windows. The E* constants are invented by Go there.
func nativeErrorKind(errno syscall.Errno) error {
	switch errno {
	case windows.ERROR_DISK_FULL, windows.ERROR_HANDLE_DISK_FULL, windows.ERROR_DISK_QUOTA_EXCEEDED:
		return ErrNoSpace
	case windows.ERROR_NOT_SAME_DEVICE:
		return ErrOtherMount
	case windows.ERROR_DIRECTORY:
		return ErrNotDir
	case windows.ERROR_DIR_NOT_EMPTY:
		return ErrNotEmpty
	}
	return nil
}
