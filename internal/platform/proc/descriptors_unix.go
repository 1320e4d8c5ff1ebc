//go:build unix

package proc

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// markListedCloseOnExec marks every open descriptor that dir lists, one by one.
func markListedCloseOnExec(dir string) error {
	names, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, n := range names {
		if fd, err := strconv.Atoi(n.Name()); err == nil && fd >= StarterFD {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
