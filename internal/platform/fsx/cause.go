package fsx

import (
	"errors"
	"syscall"
)

// IsResourceExhausted reports whether err is about us and not about the file: no
// descriptors or no memory left. Going on would call good files unreadable.
func IsResourceExhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// CauseText is the short text of the system's answer in err, for people.
func CauseText(err error) string {
	var n syscall.Errno
	if errors.As(err, &n) {
		return n.Error()
	}
	return err.Error()
}
