//go:build linux

package g31

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
)

func (m *machine) fail(format string, a ...any) {
	m.out.Failures = append(m.out.Failures, fmt.Sprintf(format, a...))
}

// look compares everything with what it has to be: every checkpoint is there with every byte, what is
// root's is as it was, and nothing in the home is of another owner.
func (m *machine) look() error {
	if m.daemon != nil && syscall.Kill(m.daemon.Process.Pid, 0) != nil {
		m.fail("the daemon has ended")
		if err := m.begin(); err != nil {
			return err
		}
	}
	m.out.Checkpoints = len(m.held)
	for i, files := range m.held {
		for path, want := range files {
			out, err := m.cat(i+1, path)
			m.out.Compared++
			if err != nil {
				m.fail("checkpoint %d, %s: %v", i+1, path, err)
			} else if digest(out) != want {
				m.fail("checkpoint %d, %s: other bytes", i+1, path)
			}
		}
	}
	guard, err := readTree(guardDir)
	if err != nil {
		return err
	}
	if !maps.Equal(guard, m.guard) {
		m.fail("what is root's was changed: %v, was %v", guard, m.guard)
	}
	return m.lookAtOwners()
}

// cat reads a file of a checkpoint. Attackers may keep the daemon busy: it may be asked again.
func (m *machine) cat(n int, path string) (out []byte, err error) {
	for range 5 {
		if out, err = m.read(strconv.Itoa(n), path); err == nil {
			return out, nil
		}
		time.Sleep(200 * time.Millisecond)
	}
	return nil, err
}

func (m *machine) read(ref, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := client.New(client.Options{Socket: m.socket, Version: daemonbed.Release(0)})
	defer c.Close() //nolint:errcheck // only read
	f, _, err := c.Open(ctx, m.workspace, ref, path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(f)
	return b, errors.Join(err, f.Close())
}

// lookAtOwners finds files in the home that somebody else owns.
func (m *machine) lookAtOwners() error {
	return filepath.WalkDir(homeDir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return nil // deleted meanwhile
		}
		i, err := d.Info()
		if err != nil {
			return nil
		}
		if st, ok := i.Sys().(*syscall.Stat_t); ok && (st.Uid != userID || st.Gid != userID) {
			m.fail("%s is of user %d and group %d", path, st.Uid, st.Gid)
		}
		return nil
	})
}
