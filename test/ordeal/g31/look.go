//go:build linux

package g31

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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

// loseHome deletes everything in the home, as an agent that runs rm -rf ~ does, and brings the project
// back: every byte, owned by the user.
func (m *machine) loseHome() error {
	rm := exec.Command("sh", "-c", "rm -rf ~ 2>/dev/null; ls -A ~ | wc -l")
	rm.Env, rm.Dir = []string{"HOME=" + homeDir, "PATH=/usr/bin:/bin"}, "/"
	rm.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: userID, Gid: userID}}
	left, err := rm.Output()
	if err != nil || strings.TrimSpace(string(left)) != "0" {
		return fmt.Errorf("the home is not empty: %q %w", left, err)
	}
	n := len(m.held)
	if _, err := m.as(false, "/", "restore", strconv.Itoa(n), "--workspace", "project", "--yes"); err != nil {
		m.fail("after rm -rf ~: %v", err)
		return nil
	}
	for path, want := range m.held[n-1] {
		b, err := os.ReadFile(filepath.Join(projDir, path))
		m.out.Compared++
		if err != nil || digest(b) != want {
			m.fail("after rm -rf ~, %s: other bytes, or %v", path, err)
		}
	}
	return m.lookAtOwners()
}

// cat reads a file of a checkpoint. Attackers may keep the daemon busy: it may be asked again.
func (m *machine) cat(n int, path string) (out []byte, err error) {
	for range 5 {
		if out, err = m.read(strconv.Itoa(n), path); err == nil || m.control {
			return out, err
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
