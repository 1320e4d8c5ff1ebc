package replay

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func owner(info fs.FileInfo) (uid, gid int) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), int(s.Gid)
	}
	return 0, 0
}

// xattrs reads the attributes of the user: the others belong to the system.
func xattrs(at string) (map[string]string, error) {
	names, err := grown(func(b []byte) (int, error) { return unix.Llistxattr(at, b) })
	if errors.Is(err, unix.ENOTSUP) {
		return nil, nil
	}
	if err != nil {
		return nil, &fs.PathError{Op: "listxattr", Path: at, Err: err}
	}
	var found map[string]string
	for _, name := range strings.Split(string(bytes.TrimRight(names, "\x00")), "\x00") {
		if !strings.HasPrefix(name, "user.") {
			continue
		}
		value, err := grown(func(b []byte) (int, error) { return unix.Lgetxattr(at, name, b) })
		if err != nil {
			return nil, &fs.PathError{Op: "getxattr", Path: at, Err: err}
		}
		if found == nil {
			found = map[string]string{}
		}
		found[name] = string(value)
	}
	return found, nil
}

// grown asks how long the answer is, then for the answer.
func grown(ask func([]byte) (int, error)) ([]byte, error) {
	n, err := ask(nil)
	if err != nil || n == 0 {
		return nil, err
	}
	b := make([]byte, n)
	n, err = ask(b)
	if err != nil {
		return nil, err
	}
	return b[:n], nil
}
