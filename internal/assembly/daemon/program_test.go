//go:build unix

package daemon_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake/internal/assembly/daemonctl"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// programs are built when a test wants them, once.
var programs struct {
	sync.Mutex
	dir string
}

func TestMain(m *testing.M) {
	code := m.Run()
	if programs.dir != "" {
		os.RemoveAll(programs.dir)
	}
	os.Exit(code)
}

// program gives the path of the program of a version.
func program(t *testing.T, version string) string {
	t.Helper()
	programs.Lock()
	defer programs.Unlock()
	if programs.dir == "" {
		dir, err := os.MkdirTemp("", "retake-program")
		must(t, err)
		programs.dir = dir
	}
	path := filepath.Join(programs.dir, version, "retake")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	build := exec.Command("go", "build", "-tags", "testing", "-ldflags", "-s -w -X main.version="+version, "-o", filepath.Dir(path)+"/", "github.com/retake-dev/retake/cmd/retake", "github.com/retake-dev/retake/cmd/retaked")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// home is the home of a real program.
type home struct {
	*testing.T
	dir string
}

func newHome(t *testing.T, version string) home {
	t.Helper()
	dir, err := os.MkdirTemp("", "rt")
	must(t, err)
	h := home{t, dir}
	must(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"floor":"1KB"}`), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "ws"), 0o755))
	t.Cleanup(func() {
		pid := h.state(program(t, version)).About.PID
		h.run(program(t, version), "daemon", "stop")
		if pid != 0 && proc.IsAlive(pid) {
			t.Errorf("process %d is left behind", pid)
		}
		os.RemoveAll(dir)
	})
	return h
}

func (h home) cmd(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = filepath.Join(h.dir, "ws")
	cmd.Env = []string{"RETAKE_HOME=" + h.dir, "HOME=" + h.dir, "PATH=/usr/bin:/bin"}
	return cmd
}

func (h home) run(path string, args ...string) string {
	h.Helper()
	var errs strings.Builder
	cmd := h.cmd(path, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		h.Fatalf("%v: %v\n%s%s", args, err, out, errs.String())
	}
	return string(out)
}

type status struct {
	Running bool
	daemonctl.State
}

func (h home) state(path string, args ...string) status {
	h.Helper()
	if args == nil {
		args = []string{"daemon", "status"}
	}
	var st status
	must(h.T, json.Unmarshal([]byte(h.run(path, append(args, "--json")...)), &st))
	return st
}

func TestOfManyOneStarts(t *testing.T) {
	t.Parallel()
	exe := program(t, "v1.0.0")
	h := newHome(t, "v1.0.0")
	const many = 20
	pids := make(chan int, many)
	var all sync.WaitGroup
	for range many {
		all.Go(func() { pids <- h.state(exe, "daemon", "start").About.PID })
	}
	all.Wait()
	close(pids)
	first, answers := 0, 0
	for pid := range pids {
		if answers++; answers == 1 {
			first = pid
		}
		if pid != first {
			t.Errorf("one found %d, another %d", first, pid)
		}
	}
	if answers != many {
		t.Errorf("%d of %d were answered", answers, many)
	}
	log, err := os.ReadFile(filepath.Join(h.dir, "data", "daemon.log"))
	must(t, err)
	if n := strings.Count(string(log), "msg=ready"); n != 1 {
		t.Errorf("%d daemons were ready:\n%s", n, log)
	}
}

func TestYoungerVersionTakesOverAndNothingIsLost(t *testing.T) {
	t.Parallel()
	old, young := program(t, "v1.0.0"), program(t, "v1.1.0")
	h := newHome(t, "v1.1.0")
	h.run(old, "init")
	before := h.state(old).About
	if before.Version != "v1.0.0" {
		t.Fatalf("version %s", before.Version)
	}
	const each = 5
	var all sync.WaitGroup
	for i, exe := range []string{old, old, young} {
		all.Go(func() {
			for n := range each {
				h.run(exe, "save", fmt.Sprintf("%d of %d", n, i))
			}
		})
	}
	all.Wait()
	after := h.state(old).About
	if after.Version != "v1.1.0" || proc.IsAlive(before.PID) {
		t.Errorf("after the younger one asked, %s answers, and the older one is alive: %v", after.Version, proc.IsAlive(before.PID))
	}
	var log struct{ Checkpoints []struct{ Intent string } }
	must(t, json.Unmarshal([]byte(h.run(old, "log", "--json")), &log))
	seen := map[string]bool{}
	for _, c := range log.Checkpoints {
		seen[c.Intent] = true
	}
	if len(log.Checkpoints) != 3*each+1 || len(seen) != 3*each+1 {
		t.Errorf("%d checkpoints, %d different", len(log.Checkpoints), len(seen))
	}
	if again := h.state(old).About; again.PID != after.PID {
		t.Error("the older one took over")
	}
}

// copyProgram puts a copy of a program into the home.
func (h home) copyProgram(name, from string) string {
	h.Helper()
	at := filepath.Join(h.dir, name)
	b, err := os.ReadFile(from)
	must(h.T, err)
	must(h.T, os.WriteFile(at, b, 0o755))
	return at
}

// Without its engine the small program says so, and with one of another version too.
func TestEngineIsMissingOrAnother(t *testing.T) {
	t.Parallel()
	h := newHome(t, "v1.0.0")
	alone := h.copyProgram("retake", program(t, "v1.0.0"))
	missing := func(want string, env []string, args ...string) {
		t.Helper()
		cmd := h.cmd(alone, args...)
		cmd.Env = append(cmd.Env, env...)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) || !strings.Contains(string(out), "cmd/...@latest") {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	none := "program retaked is missing: it is neither beside retake nor in PATH"
	missing(none, nil, "workspaces")
	missing(none, nil, "workspaces", "--solo")
	missing(none, []string{"RETAKE_SOLO=1"}, "init")
	missing(none, nil, "serve")
	h.run(alone, "version")
	h.copyProgram("retaked", program(t, "v2.0.0")+"d")
	another := "he two programs have different versions: retake v1.0.0, " + alone + "d v2.0.0"
	missing(another, nil, "workspaces")
	missing(another, nil, "workspaces", "--solo")
	if out, err := h.cmd(alone, "hook", "claude-code").CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("a hook without an engine: %v %s", err, out)
	}
	h.copyProgram("retaked", program(t, "v1.0.0")+"d")
	h.run(alone, "workspaces")

	// Half of an upgrade: the daemon that runs is not stopped for an engine that does not fit.
	before := h.state(alone)
	h.copyProgram("retake", program(t, "v2.0.0"))
	h.run(alone, "workspaces")
	if after := h.state(alone); after.About.PID != before.About.PID {
		t.Errorf("process %d was replaced by %d", before.About.PID, after.About.PID)
	}
	must(t, os.Remove(alone+"d"))
	h.run(alone, "workspaces")
	h.copyProgram("retaked", program(t, "v2.0.0")+"d")
	h.run(alone, "workspaces")
	if after := h.state(alone); after.About.Version != "v2.0.0" {
		t.Errorf("after the upgrade %s answers", after.About.Version)
	}
}

// Two builds of one version, each in its own place: the younger file wins, once.
func TestBuildsOfOneVersionComeToRest(t *testing.T) {
	t.Parallel()
	exe := program(t, "v1.0.0")
	h := newHome(t, "v1.0.0")
	younger := h.copyProgram("retake", exe)
	engine := h.copyProgram("retaked", exe+"d")
	later := time.Now().Add(time.Hour)
	must(t, os.Chtimes(engine, later, later))
	h.run(exe, "workspaces")
	first := h.state(exe)
	h.run(younger, "workspaces")
	second := h.state(exe)
	if second.About.PID == first.About.PID || second.Exe != engine {
		t.Errorf("the younger one did not take over: %s", second.Exe)
	}
	for _, p := range []string{exe, younger, exe} {
		h.run(p, "workspaces")
		if now := h.state(p); now.About.PID != second.About.PID {
			t.Errorf("%s started another one", p)
		}
	}
}

func TestCommandWaitsForOneWithoutADaemon(t *testing.T) {
	t.Parallel()
	exe := program(t, "v1.0.0")
	h := newHome(t, "v1.0.0")
	conf := newHouse(t).conf
	conf.DataDir = filepath.Join(h.dir, "data")
	release, err := daemonctl.HoldOff(conf)
	must(t, err)
	cmd := h.cmd(exe, "workspaces")
	must(t, cmd.Start())
	started := filepath.Join(h.dir, "data", "locks", "daemon-start")
	for end := time.Now().Add(patience); ; {
		if _, err := os.Stat(started); err == nil || time.Now().After(end) {
			must(t, err)
			break
		}
	}
	if h.state(exe).Running {
		t.Error("a daemon came beside a process without one")
	}
	release()
	must(t, cmd.Wait())
	if !h.state(exe).Running {
		t.Error("no daemon answered")
	}
}

// As a service manager does it: the socket is there before the daemon, and stays.
func TestSocketOfAServiceManager(t *testing.T) {
	t.Parallel()
	exe := program(t, "v1.0.0")
	h := newHome(t, "v1.0.0")
	must(t, os.Mkdir(filepath.Join(h.dir, "run"), 0o700))
	socket := filepath.Join(h.dir, "run", "daemon.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	must(t, err)
	l.SetUnlinkOnClose(false)
	f, err := l.File()
	must(t, err)
	cmd := h.cmd("/bin/sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" daemon run`, exe)
	cmd.ExtraFiles = []*os.File{f}
	must(t, cmd.Start())
	must(t, f.Close())
	h.run(exe, "workspaces")
	st := h.state(exe)
	if !st.Activated || st.About.PID != cmd.Process.Pid || st.Socket != socket {
		t.Errorf("state: %+v", st)
	}
	must(t, cmd.Process.Signal(os.Interrupt))
	must(t, cmd.Wait())
	if _, err := os.Lstat(socket); err != nil {
		t.Errorf("it took the socket along: %v", err)
	}
	must(t, l.Close())
}
