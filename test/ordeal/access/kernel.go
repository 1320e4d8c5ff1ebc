//go:build linux

package access

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// people are the users who try: the owners of files, members of their groups, and others.
var people = []struct{ uid, gid uint32 }{{1001, 1001}, {1002, 1001}, {1001, 1002}, {1003, 1003}, {1004, 1004}}

// rightsIn asks the kernel what each user may do with each path: a string of "rwx" for each.
func rightsIn(root string, paths []string, base uint32) (map[string]string, error) {
	type answer struct {
		rights map[string]string
		err    error
	}
	done := make(chan answer)
	go func() { // its thread gets the rights of others, and ends with it
		runtime.LockOSThread()
		rights, err := askKernel(root, paths, base)
		done <- answer{rights, err}
	}()
	a := <-done
	return a.rights, a.err
}

func askKernel(root string, paths []string, base uint32) (map[string]string, error) {
	dir, err := os.Open(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close() //nolint:errcheck // a handle
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
		return nil, fmt.Errorf("drop groups: %w", errno)
	}
	out := map[string]string{}
	for _, p := range people {
		if err := become(p.uid+base, p.gid+base); err != nil {
			return nil, err
		}
		for _, path := range paths {
			name := path
			if name == "" {
				name = "."
			}
			for _, try := range []struct {
				mode uint32
				sign string
			}{{unix.R_OK, "r"}, {unix.W_OK, "w"}, {unix.X_OK, "x"}} {
				if unix.Faccessat2(int(dir.Fd()), name, try.mode, unix.AT_EACCESS|unix.AT_SYMLINK_NOFOLLOW) == nil {
					out[path] += try.sign
				} else {
					out[path] += "-"
				}
			}
			out[path] += " "
		}
		if err := become(0, 0); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// become changes who this thread is for the file system.
func become(uid, gid uint32) error {
	if _, _, errno := unix.RawSyscall(unix.SYS_SETFSGID, uintptr(gid), 0, 0); errno != 0 {
		return errno
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETFSUID, uintptr(uid), 0, 0); errno != 0 {
		return errno
	}
	now, _, _ := unix.RawSyscall(unix.SYS_SETFSUID, uintptr(uid), 0, 0)
	if uint32(now) != uid {
		return fmt.Errorf("this thread is %d instead of %d", now, uid)
	}
	return nil
}

// widerRights names the paths with which somebody may do more than before.
func widerRights(before, after map[string]string) []string {
	var out []string
	for path, is := range after {
		was := before[path]
		for i := range is {
			if i < len(was) && is[i] != '-' && was[i] == '-' {
				out = append(out, fmt.Sprintf("%q: %s instead of %s", path, is, was))
				break
			}
		}
	}
	slices.Sort(out)
	return out
}
