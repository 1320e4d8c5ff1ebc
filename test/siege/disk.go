//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// disk is where a server has its data, and says how much it takes.
type disk struct {
	dir string
	own bool // a file system of its own: asking it is exact, and takes no time
}

const (
	diskBytes = 12 << 30 // of an image with holes
	diskNames = 3_000_000
)

// newDisk makes a small disk in dir if this process may mount one, and takes a directory
// otherwise. What is mounted goes away with the scratch directory around it.
func newDisk(ctx context.Context, dir string) (*disk, error) {
	d := &disk{dir: filepath.Join(dir, "disk")}
	if err := os.Mkdir(d.dir, 0o700); err != nil {
		return nil, err
	}
	if os.Geteuid() != 0 {
		return d, nil
	}
	image := filepath.Join(dir, "image")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		return nil, err
	}
	if err := os.Truncate(image, diskBytes); err != nil {
		return nil, err
	}
	out, err := exec.CommandContext(ctx, "mkfs.ext4", "-q", "-F", "-m", "0", "-N", fmt.Sprint(diskNames), image).CombinedOutput()
	if err == nil {
		out, err = exec.CommandContext(ctx, "mount", "-o", "loop", image, d.dir).CombinedOutput()
	}
	if err != nil {
		note("no disk can be made (%v: %.100s): files are counted instead", err, out)
		return d, nil
	}
	d.own = true
	return d, nil
}

// close takes down what newDisk has mounted.
func (d *disk) close() error {
	if !d.own {
		return nil
	}
	return syscall.Unmount(d.dir, syscall.MNT_DETACH)
}

// taken is how much of a disk is in use.
type taken struct {
	Bytes int64 `json:"bytes"`
	Names int64 `json:"names"`
}

func (d *disk) taken() (t taken, err error) {
	if d.own {
		var st syscall.Statfs_t
		err = syscall.Statfs(d.dir, &st)
		return taken{int64(st.Blocks-st.Bfree) * st.Bsize, int64(st.Files - st.Ffree)}, err
	}
	err = filepath.WalkDir(d.dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return ignoreGone(err)
		}
		is, err := e.Info()
		if err != nil {
			return ignoreGone(err)
		}
		if s, ok := is.Sys().(*syscall.Stat_t); ok {
			t.Bytes += s.Blocks * 512
		}
		t.Names++
		return nil
	})
	return t, err
}

// ignoreGone: files come and go while they are counted.
func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sampler remembers the most that a disk and a process took while it ran.
type sampler struct {
	stop context.CancelFunc
	all  sync.WaitGroup

	mu     sync.Mutex
	peak   taken // guarded by mu
	memory int64 // guarded by mu
	count  int   // guarded by mu
}

// sample asks again and again. Walking takes long, so that it rests as long as it walked.
func (d *disk) sample(ctx context.Context, pid func() int) *sampler {
	ctx, stop := context.WithCancel(ctx)
	s := &sampler{stop: stop}
	s.all.Go(func() {
		for ctx.Err() == nil {
			begun := time.Now()
			t, _ := d.taken()     // the next one may succeed
			u, _ := usedBy(pid()) // a crash is noticed elsewhere
			s.mu.Lock()
			s.peak.Bytes, s.peak.Names = max(s.peak.Bytes, t.Bytes), max(s.peak.Names, t.Names)
			s.memory, s.count = max(s.memory, u.Memory), s.count+1
			s.mu.Unlock()
			select {
			case <-ctx.Done():
			case <-time.After(max(20*time.Millisecond, time.Since(begun))):
			}
		}
	})
	return s
}

func (s *sampler) end() (peak taken, memory int64, count int) {
	s.stop()
	s.all.Wait()
	return s.peak, s.memory, s.count
}
