//go:build unix

package script_test

import "golang.org/x/sys/unix"

// makeDevice makes the node of the null device, which needs a privilege.
func makeDevice(path string) error {
	return unix.Mknod(path, unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3)))
}
