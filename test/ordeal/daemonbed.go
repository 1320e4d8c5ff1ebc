//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/proc"
)

const (
	releaseBase     = 1000 // versions of the program begin here and keep their length
	commandPatience = 2 * time.Minute
	pollEvery       = 2 * time.Millisecond
)

func release(n int) string { return "v0.1." + strconv.Itoa(releaseBase+n) }

// built is the program of release 0, made once per invocation.
var built struct {
	once sync.Once
	exe  string
	err  error
}

// program builds the command line as people get it, but for the build tag that
// lets it read stores with a cheap key.
func program(r *run) (string, error) {
	built.once.Do(func() {
		built.exe = filepath.Join(r.scratch("program"), "retake")
		built.err = goMakes("build", "-buildvcs=false", "-tags", "testing", "-ldflags", "-s -w -X main.version="+release(0),
			"-o", filepath.Dir(built.exe)+"/", "github.com/retake-dev/retake/cmd/retake", "github.com/retake-dev/retake/cmd/retaked")
	})
	return built.exe, built.err
}

func goMakes(args ...string) error {
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w: %.400s", args[0], err, out)
	}
	return nil
}

// home is one RETAKE_HOME with its workspaces.
type home struct {
	dir string
	exe string
	ids []retake.WorkspaceID
}

// newHome makes the directory and the settings, and nothing else.
func newHome(r *run, exe string) (*home, error) {
	h := &home{dir: r.scratch("home"), exe: exe}
	return h, os.WriteFile(filepath.Join(h.dir, "config.json"), []byte(`{"floor":"1KB"}`), 0o600)
}

func (h *home) root(i int) string { return filepath.Join(h.dir, "ws", strconv.Itoa(i)) }

func (h *home) conf() (config.Config, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return config.Config{
		DataDir: filepath.Join(h.dir, "data"), SettingsFile: filepath.Join(h.dir, "config.json"), RetakeHome: h.dir,
		Home: "/nobody", BootID: strings.TrimSpace(string(boot)),
	}, err
}

// furnish makes a store with a cheap key, and workspaces.
func (h *home) furnish(ctx context.Context, workspaces int) error {
	c, err := h.conf()
	if err != nil {
		return err
	}
	set, err := config.Load(c.SettingsFile)
	if err != nil {
		return err
	}
	s, err := assemble.OpenService(ctx, c, set, assemble.Options{Derivation: derivation})
	if err != nil {
		return err
	}
	for i := range workspaces {
		if err := os.MkdirAll(h.root(i), 0o755); err != nil {
			return err
		}
		res, err := s.Init(ctx, retake.InitRequest{Dir: h.root(i)})
		if err != nil {
			return errors.Join(err, s.Close())
		}
		h.ids = append(h.ids, res.Workspace.ID)
	}
	return s.Close()
}

// alone opens the service in this process, as --solo does: no daemon may be left.
func (h *home) alone(ctx context.Context) (retake.Service, error) {
	c, err := h.conf()
	if err != nil {
		return nil, err
	}
	set, err := config.Load(c.SettingsFile)
	if err != nil {
		return nil, err
	}
	return assemble.OpenWithoutDaemon(ctx, c, set)
}

func (h *home) env() []string {
	return []string{"RETAKE_HOME=" + h.dir, "HOME=" + h.dir, "PATH=/usr/bin:/bin", "TZ=UTC"}
}

// ask runs one command, of any build, and gives what it printed.
func (h *home) ask(exe string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), commandPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir, cmd.Env = h.dir, h.env()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("%s: %w: %.600s", strings.Join(args, " "), err, strings.Join(strings.Fields(errs.String()+out.String()), " "))
	}
	return out.Bytes(), nil
}

// telling is what a command tells about the daemon.
type telling struct {
	Running bool
	About   retake.About
	Group   string
}

func (h *home) tells(args ...string) (t telling, err error) {
	out, err := h.ask(h.exe, append(args, "--json")...)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(out, &t)
}

func (h *home) state() (telling, error) { return h.tells("daemon", "status") }

// daemons finds the processes that are a daemon of this home, by what the kernel
// says about them.
func (h *home) daemons() []int {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil
	}
	var pids []int
	for _, l := range lines {
		b, err := os.ReadFile(l)
		if err != nil || !bytes.Contains(b, []byte("\x00daemon\x00run\x00")) {
			continue
		}
		env, err := os.ReadFile(filepath.Join(filepath.Dir(l), "environ"))
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), "RETAKE_HOME="+h.dir) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(l))); err == nil && proc.IsAlive(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// kill ends every daemon of this home without a word, and says how many.
func (h *home) kill() (n int) {
	for _, pid := range h.daemons() {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}

// end stops the daemon of this home. None may stay, whatever happened before.
func (h *home) end(v *verdict) {
	if _, err := h.ask(h.exe, "daemon", "stop"); err != nil {
		v.fail("stop: %v", err)
	}
	if n := h.kill(); n > 0 {
		v.fail("%d daemons stayed after a stop", n)
		await(func() bool { return len(h.daemons()) == 0 })
	}
}

// await waits until a condition holds, and answers whether it came to hold.
func await(holds func() bool) bool {
	t := time.NewTicker(pollEvery)
	defer t.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-t.C {
		if holds() {
			return true
		}
	}
	return holds()
}
