package track

import (
	"encoding/binary"
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

var errGone = errors.New("the directory is gone")

// resolveHandleKey resolves a handle in the form of an event: length, type, bytes.
func resolveHandleKey(mount int, key string) (path string, exact bool, err error) {
	kind := int32(binary.NativeEndian.Uint32([]byte(key[4:handleHeaderSize])))
	return resolveHandle(mount, kind, []byte(key[handleHeaderSize:]))
}

// resolveHandle returns the current path of a directory. If the path is too long for the
// kernel it returns that of the nearest directory above, and exact is false.
func resolveHandle(mount int, kind int32, handle []byte) (path string, exact bool, err error) {
	fd, err := openByHandle(mount, unix.NewFileHandle(kind, handle))
	switch {
	case errors.Is(err, unix.ESTALE), errors.Is(err, unix.ENOENT):
		return "", false, errGone
	case err != nil:
		return "", false, err
	}
	defer func() { closeFD(fd) }()
	// The directory may be removed but still open somewhere. Its path is wrong then.
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return "", false, err
	}
	if st.Nlink == 0 {
		return "", false, errGone
	}
	path, err = fdPath(fd)
	exact = err == nil
	for errors.Is(err, unix.ENAMETOOLONG) {
		up, openErr := unix.Openat(fd, "..", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if openErr != nil {
			return "", false, openErr
		}
		closeFD(fd)
		fd = up
		path, err = fdPath(fd)
	}
	return path, exact, err
}

// openByHandle retries for a while if a directory is just being removed: ext4 returns ENOMEM
// until it is gone.
func openByHandle(mount int, handle unix.FileHandle) (fd int, err error) {
	const tries, wait = 50, time.Millisecond
	for range tries {
		err = retryEINTR(func() (err error) {
			fd, err = unix.OpenByHandleAt(mount, handle, unix.O_PATH|unix.O_CLOEXEC)
			return err
		})
		if !errors.Is(err, unix.ENOMEM) {
			return fd, err
		}
		time.Sleep(wait)
	}
	return -1, err
}

// handleKey returns a handle in the form of an event.
func handleKey(h unix.FileHandle) string {
	b := binary.NativeEndian.AppendUint32(nil, uint32(h.Size()))
	b = binary.NativeEndian.AppendUint32(b, uint32(h.Type()))
	return string(append(b, h.Bytes()...))
}
