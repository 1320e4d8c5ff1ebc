//go:build linux && !portable

package fsx

import (
	"errors"
	"io"
	"sync"

	"golang.org/x/sys/unix"
)

type osFile struct {
	fdHandle
	offsetMu   sync.Mutex // guards the file offset of the descriptor
	appendMode bool
}

func (f *osFile) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	f.offsetMu.Lock()
	defer f.offsetMu.Unlock()
	err = f.withFD("read file", "", func(fd int) (err error) {
		n, err = unix.Read(fd, p)
		return err
	})
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (f *osFile) ReadAt(p []byte, off int64) (done int, err error) {
	for done < len(p) {
		n := 0
		err := f.withFD("read file", "", func(fd int) (err error) {
			n, err = unix.Pread(fd, p[done:], off+int64(done))
			return err
		})
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

func (f *osFile) Write(p []byte) (done int, err error) {
	f.offsetMu.Lock()
	defer f.offsetMu.Unlock()
	for done < len(p) {
		n := 0
		err := f.withFD("write file", "", func(fd int) (err error) {
			n, err = unix.Write(fd, p[done:])
			return err
		})
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, WrapError("write file", "", io.ErrShortWrite)
		}
		done += n
	}
	return done, nil
}

// Holes moves the file offset and restores it for Read and Write.
func (f *osFile) Holes() (holes []Hole, err error) {
	f.offsetMu.Lock()
	defer f.offsetMu.Unlock()
	err = f.withFD("find holes", "", func(fd int) error {
		at, err := unix.Seek(fd, 0, unix.SEEK_CUR)
		if err != nil {
			return err
		}
		info, err := fstat(fd)
		if err != nil {
			return err
		}
		holes, err = scanHoles(fd, info.Size)
		_, back := unix.Seek(fd, at, unix.SEEK_SET)
		return errors.Join(err, back)
	})
	return holes, err
}

// scanHoles finds the holes of the first size bytes with SEEK_HOLE and SEEK_DATA.
func scanHoles(fd int, size int64) (holes []Hole, err error) {
	for at := int64(0); at < size; {
		start, err := unix.Seek(fd, at, unix.SEEK_HOLE)
		if err != nil {
			return holes, ignoreNoHoles(err)
		}
		if start >= size {
			break
		}
		end, err := unix.Seek(fd, start, unix.SEEK_DATA)
		switch {
		case errors.Is(err, unix.ENXIO): // no data after it
			end = size
		case err != nil:
			return nil, ignoreNoHoles(err)
		}
		end = min(end, size)
		if end > start {
			holes = append(holes, Hole{Offset: start, Length: end - start})
		}
		at = end
	}
	return holes, nil
}

// ignoreNoHoles drops the errors that mean no holes: the file system does not report them, or
// (ENXIO) the file was truncated meanwhile.
func ignoreNoHoles(err error) error {
	for _, errno := range []unix.Errno{unix.EINVAL, unix.ENOTSUP, unix.ENXIO} {
		if errors.Is(err, errno) {
			return nil
		}
	}
	return err
}
