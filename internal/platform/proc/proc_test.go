//go:build unix

package proc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake/internal/platform/proc"
)

// programs are those that tests of one system start.
var programs = map[string]func(args []string){
	"child":   func(args []string) { child(args[0]) },
	"starter": func(args []string) { starter(args[0]) },
}

// The test program is also the programs that it starts.
func TestMain(m *testing.M) {
	if handled, exit := proc.RunHelper(os.Args[1:]); handled {
		os.Exit(exit)
	}
	args := os.Args[1:]
	if all, ok := os.LookupEnv("TEST_PROGRAM"); ok { // for one without arguments
		args = strings.Split(all, ":")
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-test.") {
		os.Exit(m.Run())
	}
	p := programs[args[0]]
	if p == nil {
		os.Exit(2) // the tests themselves would start this again, without end
	}
	p(args[1:])
}

// facts is what a detached process sees of itself.
type facts struct {
	PID, Session, Group int
	Dir                 string
	Env, Files          []string
}

func child(how string) {
	if how == "mute" {
		os.Exit(3)
	}
	f := facts{PID: os.Getpid(), Group: syscall.Getpgrp(), Env: os.Environ()}
	f.Session, _ = unix.Getsid(0)
	f.Dir, _ = os.Getwd()
	for fd := range proc.StarterFD + 1 {
		name, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
		f.Files = append(f.Files, name)
	}
	word, _ := json.Marshal(f)
	_ = proc.OpenStarterPipe(proc.StarterFD).SendLine(string(word))
	if how == "stay" {
		<-time.After(time.Minute)
	}
}

// starter starts a child that stays and prints its number; then it ends, or stays too.
func starter(how string) {
	f, err := spawn(context.Background(), "stay")
	if err != nil {
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, f.PID)
	if how == "stay" {
		<-time.After(time.Minute)
	}
}

func spawn(ctx context.Context, how string) (facts, error) {
	exe, err := os.Executable()
	if err != nil {
		return facts{}, err
	}
	word, err := proc.Spawn(ctx, proc.Detached{Path: exe, Args: []string{"child", how}, Env: []string{"HOME=/nobody"}})
	var f facts
	if err == nil {
		err = json.Unmarshal([]byte(word), &f)
	}
	return f, err
}

func TestDetachedSharesNothing(t *testing.T) {
	t.Parallel()
	f, err := spawn(t.Context(), "tell")
	if err != nil {
		t.Fatal(err)
	}
	if f.Session != f.PID || f.Group != f.PID {
		t.Errorf("process %d is in session %d and group %d", f.PID, f.Session, f.Group)
	}
	if f.Dir != "/" {
		t.Errorf("it stands in %s", f.Dir)
	}
	if !slices.Equal(f.Env, []string{"HOME=/nobody"}) {
		t.Errorf("it sees %q", f.Env)
	}
	if runtime.GOOS != "linux" {
		return // the names of open files are not to be seen
	}
	if len(f.Files) != 4 || f.Files[0] != "/dev/null" || f.Files[1] != "/dev/null" || f.Files[2] != "/dev/null" || !strings.HasPrefix(f.Files[3], "pipe:") {
		t.Errorf("it holds %q", f.Files)
	}
}

func TestEndWithoutAWordIsAnError(t *testing.T) {
	t.Parallel()
	_, err := spawn(t.Context(), "mute")
	if err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("got %v", err)
	}
	if _, err := proc.Spawn(t.Context(), proc.Detached{Path: "/nowhere"}); err == nil {
		t.Error("a program that is not there was started")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := proc.Spawn(ended, proc.Detached{Path: "/bin/sleep", Args: []string{"2"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits, and yet: %v", err)
	}
}

// begin runs the starter; its stdout and one inherited descriptor come back.
func begin(t *testing.T, how string) (cmd *exec.Cmd, child int, out, inherited *os.File) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, outW := pipe(t)
	inherited, inheritedW := pipe(t)
	cmd = exec.Command(exe, "starter", how)
	cmd.Stdout, cmd.ExtraFiles = outW, []*os.File{inheritedW, inheritedW} // the first would be hidden by the pipe of the child
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	outW.Close()
	inheritedW.Close()
	line, err := bufio.NewReader(io.LimitReader(out, 16)).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if child, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = proc.Terminate(child)
		if err := proc.WaitGone(context.Background(), child); err != nil {
			t.Error(err)
		}
	})
	return cmd, child, out, inherited
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func TestPipesOfTheStarterCloseAtOnce(t *testing.T) {
	t.Parallel()
	cmd, child, out, inherited := begin(t, "end")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*os.File{"stdout": out, "an inherited descriptor": inherited} {
		if err := r.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); err != nil {
			t.Errorf("%s stays open: %v", name, err)
		}
	}
	if !proc.IsAlive(child) {
		t.Error("the child ended, so nothing was tried")
	}
}

func TestChildOutlivesTheGroupOfItsStarter(t *testing.T) {
	t.Parallel()
	cmd, child, _, _ := begin(t, "stay")
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if proc.IsAlive(cmd.Process.Pid) {
		t.Error("the starter lives")
	}
	if !proc.IsAlive(child) {
		t.Error("the child ended with the group of its starter")
	}
}

func TestPeerIsWhoConnects(t *testing.T) {
	t.Parallel()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if uid, err := proc.PeerUID(in); err != nil || uid != os.Getuid() {
		t.Errorf("peer is %d (%v), and we are %d", uid, err, os.Getuid())
	}
}

func TestOnlyAPipeIsAStarter(t *testing.T) {
	t.Parallel()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, fd := range []int{-1, 0, int(f.Fd()), 1 << 20} {
		if s := proc.OpenStarterPipe(fd); s != nil {
			t.Errorf("descriptor %d is taken for a pipe", fd)
		}
	}
	if err := (*proc.StarterPipe)(nil).SendLine("ready"); err != nil {
		t.Errorf("nobody to tell: %v", err)
	}
	if err := proc.Terminate(0); err == nil {
		t.Error("a signal went to our own group")
	}
	if proc.IsAlive(0) || !proc.IsAlive(os.Getpid()) {
		t.Error("who is alive is not known")
	}
}
