package mount

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
)

const (
	fsType  = "retake"
	maxRead = 128 << 10
)

// Serve mounts at dir and serves until ctx ends or somebody unmounts it; ready is
// called once files can be seen. dir must be empty, and outside of the workspace.
func Serve(ctx context.Context, dir string, o Options, ready func()) error {
	if o.Clock == nil {
		o.Clock = clock.Wall
	}
	at, err := mountPoint(dir, o.Workspace)
	if err != nil {
		return err
	}
	s := &mountFS{ctx: ctx, opts: o, timeline: newCheckpointList(o), seed: maphash.MakeSeed()}
	if _, err := s.timeline.current(ctx); err != nil {
		return err
	}
	m, err := mountFUSE(at, &rootDir{mount: s})
	if err != nil {
		return &retake.Error{
			Kind: retake.Invalid, What: dir + " cannot be mounted on", Safe: nothingChanged,
			Hint: "mounting needs /dev/fuse, and as a user fusermount3 (package fuse3)", Err: err,
		}
	}
	ready()
	gone := make(chan struct{})
	go func() {
		m.server.Wait()
		close(gone)
	}()
	select {
	case <-gone:
		return nil
	case <-ctx.Done():
	}
	if err := m.unmount(gone); err != nil {
		return &retake.Error{Kind: retake.Busy, What: dir + " is still in use, and stays mounted without files", Safe: nothingChanged, Hint: "leave it, then unmount it: fusermount3 -u " + dir, Err: err}
	}
	return nil
}

// fuseMount is a mounted directory.
type fuseMount struct {
	dir    string
	direct bool
	server *fuse.Server
}

// mountFUSE mounts directly if the process may, otherwise with fusermount3.
func mountFUSE(dir string, r *rootDir) (*fuseMount, error) {
	m := &fuseMount{dir: dir, direct: os.Geteuid() == 0}
	quiet := log.New(io.Discard, "", 0)
	// A file without permissions is shown without them.
	o := &fs.Options{Logger: quiet, NullPermissions: true, MountOptions: fuse.MountOptions{
		FsName: fsType, Name: fsType, Options: []string{"ro", "nosuid", "nodev"},
		MaxWrite: maxRead, SyncRead: true, Logger: quiet,
	}}
	at := dir
	if m.direct {
		fd, err := mountDirectly(dir)
		if err != nil {
			return nil, err
		}
		at = fmt.Sprintf("/dev/fd/%d", fd)
	}
	var err error
	m.server, err = fs.Mount(at, r, o)
	if err == nil && m.direct {
		err = refusePolls(dir)
	}
	if err != nil {
		if m.direct {
			_ = syscall.Unmount(dir, syscall.MNT_DETACH) // it never was of use
		}
		return nil, errors.New(strings.TrimSpace(err.Error()))
	}
	return m, nil
}

const (
	pollName = ".go-fuse-epoll-hack" // a file that the library shows in the root of every mount
	setSize  = 1024                  // files that select can wait for
)

// refusePolls makes the kernel ask once whether files can be polled and learn that they
// cannot. Otherwise it would ask when a Go program opens the first file; if that is this
// program, it would wait for itself. The library does this only for mounts that it made
// itself.
func refusePolls(dir string) error {
	fd, err := syscall.Open(filepath.Join(dir, pollName), syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", pollName, err)
	}
	defer syscall.Close(fd) //nolint:errcheck // nothing was read
	var set syscall.FdSet
	word := setSize / len(set.Bits)
	if fd >= setSize {
		return fmt.Errorf("ask for %s: too many open files", pollName)
	}
	set.Bits[fd/word] |= 1 << (fd % word)
	if _, err := syscall.Select(fd+1, &set, nil, nil, &syscall.Timeval{}); err != nil {
		return fmt.Errorf("ask for %s: %w", pollName, err)
	}
	return nil
}

// mountDirectly returns the descriptor that the kernel's requests come from. No child may
// inherit it: a mount whose descriptor lives on in a process that does not read it hangs
// everybody who uses it.
func mountDirectly(dir string) (int, error) {
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("open /dev/fuse: %w", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=%o,user_id=%d,group_id=%d,max_read=%d", fd, syscall.S_IFDIR, os.Geteuid(), os.Getegid(), maxRead)
	if err := syscall.Mount(fsType, dir, "fuse."+fsType, syscall.MS_RDONLY|syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		_ = syscall.Close(fd) // nothing came of it
		return 0, fmt.Errorf("mount %s: %w", dir, err)
	}
	return fd, nil
}

// unmount unmounts. If the mount is in use, it disappears at once and ends when the last user
// has left.
func (m *fuseMount) unmount(gone <-chan struct{}) error {
	if !m.direct {
		return m.server.Unmount()
	}
	err := syscall.Unmount(m.dir, 0)
	if err == nil {
		<-gone
		return nil
	}
	if errors.Is(err, syscall.EBUSY) {
		err = syscall.Unmount(m.dir, syscall.MNT_DETACH)
	}
	if errors.Is(err, syscall.EINVAL) {
		return nil // somebody was faster
	}
	return err
}
