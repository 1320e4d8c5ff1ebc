//go:build linux

// Package daemonbed holds what ordeals of a daemon stand on: a home with its programs, and
// a speaker for its hooks.
package daemonbed

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
	"github.com/retake-dev/retake/test/ordeal/harness"
)

const (
	releaseBase     = 1000 // versions of the program begin here and keep their length
	CommandPatience = 2 * time.Minute
	PollEvery       = 2 * time.Millisecond
)

func Release(n int) string { return "v0.1." + strconv.Itoa(releaseBase+n) }

// built is the program of release 0, made once per invocation.
var built struct {
	once sync.Once
	exe  string
	err  error
}

// Program builds the command line as people get it, but for the build tag that
// lets it read stores with a cheap key.
func Program(r *harness.Run) (string, error) {
	built.once.Do(func() {
		built.exe = filepath.Join(r.Scratch("program"), "retake")
		built.err = GoMakes("build", "-buildvcs=false", "-tags", "testing", "-ldflags", "-s -w -X main.version="+Release(0),
			"-o", filepath.Dir(built.exe)+"/", "github.com/retake-dev/retake/cmd/retake", "github.com/retake-dev/retake/cmd/retaked")
	})
	return built.exe, built.err
}

func GoMakes(args ...string) error {
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w: %.400s", args[0], err, out)
	}
	return nil
}

// Home is one RETAKE_HOME with its workspaces.
type Home struct {
	Dir string
	Exe string
	Ids []retake.WorkspaceID
}

// NewHome makes the directory and the settings, and nothing else.
func NewHome(r *harness.Run, exe string) (*Home, error) {
	h := &Home{Dir: r.Scratch("home"), Exe: exe}
	return h, os.WriteFile(filepath.Join(h.Dir, "config.json"), []byte(`{"floor":"1KB"}`), 0o600)
}

func (h *Home) Root(i int) string { return filepath.Join(h.Dir, "ws", strconv.Itoa(i)) }

func (h *Home) conf() (config.Config, error) {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return config.Config{
		DataDir: filepath.Join(h.Dir, "data"), SettingsFile: filepath.Join(h.Dir, "config.json"), RetakeHome: h.Dir,
		Home: "/nobody", BootID: strings.TrimSpace(string(boot)),
	}, err
}

// Furnish makes a store with a cheap key, and workspaces.
func (h *Home) Furnish(ctx context.Context, workspaces int) error {
	c, err := h.conf()
	if err != nil {
		return err
	}
	set, err := config.Load(c.SettingsFile)
	if err != nil {
		return err
	}
	s, err := assemble.OpenService(ctx, c, set, assemble.Options{Derivation: harness.Derivation})
	if err != nil {
		return err
	}
	for i := range workspaces {
		if err := os.MkdirAll(h.Root(i), 0o755); err != nil {
			return err
		}
		res, err := s.Init(ctx, retake.InitRequest{Dir: h.Root(i)})
		if err != nil {
			return errors.Join(err, s.Close())
		}
		h.Ids = append(h.Ids, res.Workspace.ID)
	}
	return s.Close()
}

// Alone opens the service in this process, as --solo does: no daemon may be left.
func (h *Home) Alone(ctx context.Context) (retake.Service, error) {
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

func (h *Home) Env() []string {
	return []string{"RETAKE_HOME=" + h.Dir, "HOME=" + h.Dir, "PATH=/usr/bin:/bin", "TZ=UTC"}
}

// Ask runs one command, of any build, and gives what it printed.
func (h *Home) Ask(exe string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), CommandPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, args...)
	cmd.Dir, cmd.Env = h.Dir, h.Env()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.Bytes(), fmt.Errorf("%s: %w: %.600s", strings.Join(args, " "), err, strings.Join(strings.Fields(errs.String()+out.String()), " "))
	}
	return out.Bytes(), nil
}

// Telling is what a command tells about the daemon.
type Telling struct {
	Running bool
	About   retake.About
	Group   string
}

func (h *Home) Tells(args ...string) (t Telling, err error) {
	out, err := h.Ask(h.Exe, append(args, "--json")...)
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(out, &t)
}

func (h *Home) State() (Telling, error) { return h.Tells("daemon", "status") }

// Daemons finds the processes that are a daemon of this home, by what the kernel
// says about them. In another mount namespace the same path is another home.
func (h *Home) Daemons() []int {
	ours, _ := os.Readlink("/proc/self/ns/mnt")
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
		if err != nil || !slices.Contains(strings.Split(string(env), "\x00"), "RETAKE_HOME="+h.Dir) {
			continue
		}
		if theirs, err := os.Readlink(filepath.Join(filepath.Dir(l), "ns/mnt")); err != nil || theirs != ours {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(l))); err == nil && proc.IsAlive(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Kill ends every daemon of this home without a word, and says how many.
func (h *Home) Kill() (n int) {
	for _, pid := range h.Daemons() {
		if syscall.Kill(pid, syscall.SIGKILL) == nil {
			n++
		}
	}
	return n
}

// End stops the daemon of this home. None may stay, whatever happened before.
func (h *Home) End(v *harness.Verdict) {
	if _, err := h.Ask(h.Exe, "daemon", "stop"); err != nil {
		v.Fail("stop: %v", err)
	}
	if n := h.Kill(); n > 0 {
		v.Fail("%d daemons stayed after a stop", n)
		Await(func() bool { return len(h.Daemons()) == 0 })
	}
}

// Await waits until a condition holds, and answers whether it came to hold.
func Await(holds func() bool) bool {
	t := time.NewTicker(PollEvery)
	defer t.Stop()
	for end := time.Now().Add(harness.Patience); time.Now().Before(end); <-t.C {
		if holds() {
			return true
		}
	}
	return holds()
}

// Furnished is a home with a store and workspaces, and the program beside it.
func Furnished(ctx context.Context, r *harness.Run, workspaces int) (*Home, error) {
	exe, err := Program(r)
	if err != nil {
		return nil, err
	}
	h, err := NewHome(r, exe)
	if err != nil {
		return nil, err
	}
	return h, h.Furnish(ctx, workspaces)
}
