package fsx

import (
	"errors"
	"syscall"
)

// IsResourceExhausted reports whether err is about this process and not about the file: it has
// no descriptors or no memory left. To go on would report good files as unreadable.
func IsResourceExhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// CauseText returns the short text of the system error in err, for people to read.
func CauseText(err error) string {
	var n syscall.Errno
	if errors.As(err, &n) {
		return n.Error()
	}
	return err.Error()
}
