//go:build linux

package g31

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
)

const (
	userName = "alice"
	userID   = 41001
	homeDir  = "/home/" + userName
	projDir  = homeDir + "/project"
	binDir   = "/usr/local/bin"
	guardDir = "/srv/guarded" // of root

	checkpoints = 8
	filesEach   = 5
	restEvery   = 1000 // attacks between two looks
	waitDaemon  = 30 * time.Second
	limit       = 2 * time.Minute // of one command
)

// machine is a machine with one user and his system daemon.
type machine struct {
	exe      string
	attempts int
	seed     int64
	control  bool

	daemon    *exec.Cmd
	socket    string
	workspace retake.WorkspaceID

	held  []map[string]string // files of each checkpoint, by path, as their digests
	guard map[string]string
	out   outcome
}

// live builds the machine, lets it be attacked, and looks at what is left.
func (m *machine) live() (outcome, error) {
	if err := errors.Join(mountMachine(), m.install()); err != nil {
		return m.out, err
	}
	if err := m.begin(); err != nil {
		return m.out, err
	}
	defer m.stop()
	if err := m.fillHistory(); err != nil {
		return m.out, err
	}
	guard, err := readTree(guardDir)
	if err != nil {
		return m.out, err
	}
	m.guard, m.out.Kinds = guard, map[string]int{}
	for done := 0; done < m.attempts; done += restEvery {
		if err := m.attack(min(restEvery, m.attempts-done), m.seed+int64(done)); err != nil {
			return m.out, err
		}
		if err := m.look(); err != nil {
			return m.out, err
		}
		if m.control && len(m.out.Failures) > 0 {
			return m.out, nil // it was seen
		}
	}
	return m.out, m.loseHome()
}

// mountMachine gives this child directories of its own.
func mountMachine() error {
	steps := []struct {
		what, at, kind, options string
		flags                   uintptr
	}{
		{"", "/", "", "", unix.MS_REC | unix.MS_SLAVE},
		{"proc", "/proc", "proc", "", 0},
		{"tmpfs", "/mnt", "tmpfs", "mode=755,size=2g", 0},
	}
	for _, s := range steps {
		if err := unix.Mount(s.what, s.at, s.kind, s.flags, s.options); err != nil {
			return fmt.Errorf("mount %s: %w", s.at, err)
		}
	}
	for _, at := range []string{"/etc", "/var/lib", "/run", "/home", "/srv", "/usr/local", "/root"} {
		up := filepath.Join("/mnt", filepath.Base(at))
		if err := errors.Join(os.MkdirAll(up+"/upper", 0o755), os.MkdirAll(up+"/work", 0o755)); err != nil {
			return err
		}
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s/upper,workdir=%s/work", at, up, up)
		if err := unix.Mount("overlay", at, "overlay", 0, options); err != nil {
			return fmt.Errorf("mount %s: %w", at, err)
		}
	}
	return nil
}

// install adds the user and, for him, the system daemon, as root would.
func (m *machine) install() error {
	add := func(path, line string) error {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(line)
		return errors.Join(err, f.Close())
	}
	id := strconv.Itoa(userID)
	err := errors.Join(add("/etc/passwd", userName+":x:"+id+":"+id+"::"+homeDir+":/bin/sh\n"), add("/etc/group", userName+":x:"+id+":\n"))
	err = errors.Join(err, os.MkdirAll(projDir, 0o755), os.MkdirAll(binDir, 0o755))
	for _, name := range []string{"retake", "retaked"} {
		b, rerr := os.ReadFile(filepath.Join(filepath.Dir(m.exe), name))
		err = errors.Join(err, rerr, os.WriteFile(filepath.Join(binDir, name), b, 0o755))
	}
	err = errors.Join(err, os.MkdirAll(guardDir+"/open", 0o755), os.MkdirAll(guardDir+"/closed", 0o700),
		os.WriteFile(guardDir+"/open/file", []byte("root's\n"), 0o644), os.WriteFile(guardDir+"/closed/secret", []byte("secret\n"), 0o600))
	err = errors.Join(err, os.Chown(homeDir, userID, userID), os.Chown(projDir, userID, userID))
	if err != nil || m.control {
		return err
	}
	cmd := exec.Command(filepath.Join(binDir, "retake"), "daemon", "install", "--system", "--user", userName)
	cmd.Env = []string{"HOME=/root", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("install: %w: %s", err, out)
	}
	return nil
}

// begin starts the daemon and waits until it answers.
func (m *machine) begin() error {
	if m.control {
		return nil // the first command starts it
	}
	m.daemon = exec.Command(filepath.Join(binDir, "retaked"), "daemon", "run", "--system", strconv.Itoa(userID))
	m.daemon.Dir, m.daemon.Env = "/", []string{"PATH=/usr/bin:/bin"}
	var said bytes.Buffer
	m.daemon.Stdout, m.daemon.Stderr = &said, &said
	if err := m.daemon.Start(); err != nil {
		return err
	}
	for end := time.Now().Add(waitDaemon); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("unix", config.SystemSocket(userID)); err == nil {
			return c.Close()
		}
		if time.Now().After(end) {
			return fmt.Errorf("the system daemon does not answer: %s", said.String())
		}
	}
}

func (m *machine) stop() {
	if m.daemon != nil {
		_ = m.daemon.Process.Kill()
		_ = m.daemon.Wait()
	}
}

// as runs retake as the user, or as root for him.
func (m *machine) as(root bool, dir string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(binDir, "retake"), args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = []string{"HOME=" + homeDir, "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8"}
	if root {
		cmd.Env = append(cmd.Env, "SUDO_UID="+strconv.Itoa(userID))
	} else {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: userID, Gid: userID}}
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("retake %s: %w: %s", strings.Join(args, " "), err, errs.String())
	}
	return out, err
}

// fillHistory protects the project and saves it a few times.
func (m *machine) fillHistory() error {
	r := rand.New(rand.NewPCG(uint64(m.seed), 31))
	for n := range checkpoints {
		files := map[string]string{}
		for i := range filesEach {
			b := make([]byte, 1000+r.IntN(100_000))
			for k := range b {
				b[k] = byte(r.Uint32())
			}
			path := fmt.Sprintf("file-%d", i)
			if err := errors.Join(os.WriteFile(filepath.Join(projDir, path), b, 0o644), os.Chown(filepath.Join(projDir, path), userID, userID)); err != nil {
				return err
			}
			files[path] = digest(b)
		}
		args := []string{"save", fmt.Sprintf("state %d", n+1)}
		if n == 0 {
			args = []string{"init", "--yes"}
		}
		if _, err := m.as(false, projDir, args...); err != nil {
			return err
		}
		m.held = append(m.held, files)
	}
	return m.findWorkspace()
}

// findWorkspace learns where the daemon listens and which workspace the project is.
func (m *machine) findWorkspace() error {
	var st struct {
		Socket string `json:"socket"`
	}
	out, err := m.as(false, "/", "daemon", "status", "--json")
	if err == nil {
		err = json.Unmarshal(out, &st)
	}
	if err != nil {
		return err
	}
	m.socket = st.Socket
	c := client.New(client.Options{Socket: m.socket, Version: daemonbed.Release(0)})
	defer c.Close() //nolint:errcheck // only read
	ws, err := c.Locate(context.Background(), projDir)
	m.workspace = ws.ID
	return err
}

// attack lets a process of the user try so many attacks.
func (m *machine) attack(n int, seed int64) error {
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	const at = binDir + "/attacker"
	if err := os.WriteFile(at, self, 0o755); err != nil {
		return err
	}
	pid := 0
	if m.daemon != nil {
		pid = m.daemon.Process.Pid
	}
	cmd := exec.Command(at, "child", "g31-attacker", "-n", strconv.Itoa(n), "-seed", strconv.FormatInt(seed, 10), "-pid", strconv.Itoa(pid), "-control="+strconv.FormatBool(m.control))
	cmd.Dir, cmd.Env = homeDir, []string{"HOME=" + homeDir, "PATH=/usr/local/bin:/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: userID, Gid: userID}, Setsid: true}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("attacker: %w", err)
	}
	var a attackReport
	if err := json.Unmarshal(out, &a); err != nil {
		return err
	}
	for kind, n := range a.Kinds {
		m.out.Kinds[kind] += n
		m.out.Attempts += n
	}
	m.out.Failures = append(m.out.Failures, a.Successes...)
	return nil
}

func digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// readTree describes a tree completely.
func readTree(root string) (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		i, err := d.Info()
		if err != nil {
			return err
		}
		st, ok := i.Sys().(*syscall.Stat_t)
		if !ok {
			return errors.New("no stat")
		}
		text := fmt.Sprintf("%v %d %d %d", i.Mode(), st.Uid, st.Gid, st.Mtim.Nano())
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + digest(b)
		}
		out[path] = text
		return nil
	})
	return out, err
}
