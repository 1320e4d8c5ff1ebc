package proc

import (
	"fmt"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// WorkFor makes this process, which runs as root, work for a user and keep files from him.
//
// Its effective user and group are the user's: the kernel lets it read and write what he may, and what
// it creates is his. Its real and saved user are the keeper: no process of the user may signal it,
// trace it or look into its memory and descriptors. One more group is the keeper's, so that it alone
// enters a directory of that group. It has no capability afterwards, and cannot become root again.
// Programs of the user are started by a spawner, which is entirely the user.
func WorkFor(uid, gid int, groups []int, keeperUID, keeperGID int) error {
	if uid <= 0 || keeperUID <= 0 || uid == keeperUID || gid == keeperGID || slices.Contains(groups, keeperGID) {
		return fmt.Errorf("work for user %d: this user and Retake's own, %d, must differ, share no group, and not be root", uid, keeperUID)
	}
	if err := startSpawner(uid, gid, groups); err != nil {
		return err
	}
	for _, step := range []struct {
		what string
		err  func() error
	}{
		{"take his groups", func() error { return syscall.Setgroups(append(slices.Clone(groups), keeperGID)) }},
		{"take his group", func() error { return syscall.Setresgid(keeperGID, gid, keeperGID) }},
		{"take his rights", func() error { return syscall.Setresuid(keeperUID, uid, keeperUID) }},
		{"hide the memory", func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }},
	} {
		if err := step.err(); err != nil {
			return fmt.Errorf("work for user %d: %s: %w", uid, step.what, err)
		}
	}
	if syscall.Setresuid(0, 0, 0) == nil {
		return fmt.Errorf("work for user %d: this process could still become root", uid)
	}
	return nil
}
