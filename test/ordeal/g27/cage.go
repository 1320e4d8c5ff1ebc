//go:build linux

package g27

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// cage runs commands where only the home directory and the temporary files can be written, and there
// is no network. It is one thread with namespaces of its own: what it starts is born into them.
type cage struct {
	jobs chan *job
}

// job is one process to start.
type job struct {
	cmd     *exec.Cmd
	started chan error
}

// newCage makes the namespaces, and checks that nothing else can be written.
func newCage() (*cage, error) {
	c := &cage{jobs: make(chan *job)}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the process
		err := enterCage()
		ready <- err
		if err != nil {
			return
		}
		for j := range c.jobs {
			j.started <- j.cmd.Start()
		}
	}()
	return c, <-ready
}

// enterCage makes everything but the two directories read-only for this thread.
func enterCage() error {
	if err := unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS | unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("unshare: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	if err := unix.Mount(homeDir, homeDir, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("bind %s: %w", homeDir, err)
	}
	readOnly := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &readOnly); err != nil {
		return fmt.Errorf("make all read-only: %w", err)
	}
	for _, dir := range []string{homeDir, tmpDir} {
		if err := unix.MountSetattr(unix.AT_FDCWD, dir, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return fmt.Errorf("make %s writable: %w", dir, err)
		}
	}
	return checkCage()
}

// checkCage proves that files cannot be made elsewhere, before any command runs.
func checkCage() error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	for _, dir := range []string{"/", "/var/tmp", "/dev/shm", "/etc", "/usr", "/root", mountDir, ownDir, here} {
		name := dir + "/.g27-check"
		err := os.WriteFile(name, nil, 0o600)
		if err == nil {
			return errors.Join(fmt.Errorf("%s can be written", dir), os.Remove(name))
		}
		if !errors.Is(err, syscall.EROFS) && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, os.ErrPermission) {
			return err
		}
	}
	return nil
}

// commandEnv is what the agent and its commands see.
func commandEnv() []string {
	return []string{
		"HOME=" + homeDir, "PATH=" + homeDir + "/bin:" + ownDir + "/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TZ=UTC",
		"USER=ada", "LOGNAME=ada", "TERM=xterm", "SHELL=/bin/bash", "RETAKE_HOME=" + ownDir + "/history",
	}
}

// commandLimit is when a command counts as one that never ends.
const commandLimit = 20 * time.Second

// run runs a command as an agent does: as text for a shell.
func (c *cage) run(shell, dir, text string) (out string, err error) {
	if err := checkPaths(text); err != nil {
		return "", err
	}
	cmd := exec.Command(shell, "-c", text)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, commandEnv(), time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	j := &job{cmd, make(chan error)}
	c.jobs <- j
	if err := <-j.started; err != nil {
		return "", err
	}
	late := time.AfterFunc(commandLimit, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err = cmd.Wait()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it left in the background
	if !late.Stop() {
		return b.String(), errors.New("the command never ends")
	}
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		err = nil // many commands of the corpus end with an error, after they destroyed something
	}
	return b.String(), err
}

// absolutePath finds what may be an absolute path in a command.
var absolutePath = regexp.MustCompile(`(?:^|[\s"'=<>(:{,` + "`" + `\[])(/+[A-Za-z0-9._][^\s"'` + "`" + `;&|<>(){},]*)`)

// quotedVariable is a quoted variable before a slash, whose quote ends there.
var quotedVariable = regexp.MustCompile(`"\$\{?[A-Za-z_]+\}?"/`)

// quotedPath is a quoted path before a slash.
var quotedPath = regexp.MustCompile(`"(/[^"$ ]*)"/`)

// allowedPaths are the only places that a command may name: the kernel guards the others, and so does
// this.
var allowedPaths = []string{homeDir, "/srv/ho*e/", "/tmp/", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/zero", "/dev/fd/", "/bin/", "/usr/bin/", "/nowhere"}

func checkPaths(text string) error {
	text = quotedVariable.ReplaceAllString(text, homeDir+"/")
	text = strings.NewReplacer("\"/", "/", "+=/", "+=", "file:///", "/").Replace(quotedPath.ReplaceAllString(text, "$1/"))
	for _, m := range absolutePath.FindAllStringSubmatch(text, -1) {
		path := m[1]
		ok := false
		for _, a := range allowedPaths {
			ok = ok || path == tmpDir || strings.HasPrefix(path, a)
		}
		if !ok {
			return fmt.Errorf("the command names %s, which is none of the test: it is not run", path)
		}
	}
	return nil
}
