package program

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/client"
	"github.com/retake-dev/retake/internal/agents/hook"
	"github.com/retake-dev/retake/internal/agents/install"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/marker"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// hookAgent is the agent of a hook line. It is answered before anything else is made
// ready: an agent waits.
func hookAgent(args []string) (string, bool) {
	if len(args) != 2 || args[0] != "hook" || strings.HasPrefix(args[1], "-") {
		return "", false
	}
	return args[1], true
}

// handleHook is the life of a hook process.
func (p *program) handleHook(ctx context.Context, agent string) int {
	h := &hookHandler{p}
	return hook.Run(ctx, agent, hook.Deps{
		In: os.Stdin, Out: os.Stdout, Dir: p.conf.WorkDir, Clock: clock.Wall,
		Project:     p.conf.Project,
		Protected:   func(dir string) bool { return marker.HasMarkAbove(fsx.OS(), dir) },
		Unprotected: h.protectOrTell,
		Observe:     h.observe, Enqueue: h.queueSignal, Worktree: h.makeWorktree, External: h.runExternalAgent, LogError: h.logError,
	})
}

// hookHandler handles the events of agents.
type hookHandler struct{ *program }

// observe asks the daemon, and starts one when none answers.
func (h *hookHandler) observe(ctx context.Context, s retake.Signal) (retake.Reaction, error) {
	svc, err := h.daemonService(ctx)
	if err != nil {
		return retake.Reaction{}, err
	}
	defer svc.Close() //nolint:errcheck // the answer is there
	s.PID = proc.CallerPID()
	return svc.Observe(ctx, s)
}

// daemonService returns the daemon's service. It does not replace an older daemon, because the
// agent waits.
func (h *hookHandler) daemonService(ctx context.Context) (retake.Service, error) {
	if h.worksInProcess() {
		settings, err := config.Load(h.conf.SettingsFile)
		if err != nil {
			return nil, err
		}
		return h.openService(ctx, settings, true)
	}
	if err := h.conf.CheckSocketDir(); err != nil {
		return nil, err
	}
	return client.New(client.Options{Socket: h.conf.Socket, Version: h.version, Revive: func(ctx context.Context) error {
		return h.daemonController().EnsureRunning(ctx)
	}}), nil
}

func (h *hookHandler) queueSignal(s retake.Signal) error {
	s.PID = proc.CallerPID()
	return queue.Put(config.SignalsDir(h.conf.DataDir), s)
}

const (
	hookLog    = "hook.log"
	maxHookLog = 1 << 20
)

// logWait is how long a log may take: a disk that hangs must not hold an agent up.
const logWait = 200 * time.Millisecond

// logError writes to the hook log, which is bounded. The agent sees nothing.
func (h *hookHandler) logError(text string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.appendLog(text)
	}()
	select {
	case <-done:
	case <-time.After(logWait):
	}
}

func (h *hookHandler) appendLog(text string) {
	path := filepath.Join(h.conf.DataDir, hookLog)
	if i, err := os.Stat(path); err == nil && i.Size() > maxHookLog {
		_ = os.Rename(path, path+".1") // the older one goes
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close() //nolint:errcheck // a log
	_, _ = fmt.Fprintf(f, "%s %q\n", clock.Wall.Now().UTC().Format(time.RFC3339), text)
}

const maxHookOutput = 16 << 20

// runExternalAgent runs retake-agent-NAME, if the user's configuration names it.
func (h *hookHandler) runExternalAgent(ctx context.Context, name string, payload []byte) ([]byte, error) {
	settings, err := config.Load(h.conf.SettingsFile)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(settings.MoreAgents(), name) {
		return nil, fmt.Errorf("%s is not among the agents that you named: retake config agents-more %s", name, name)
	}
	path, ok := h.conf.LookPath("retake-agent-" + name)
	if !ok {
		return nil, fmt.Errorf("retake-agent-%s is not in an absolute directory of PATH", name)
	}
	var out bytes.Buffer
	exit, err := proc.RunMounted(ctx, proc.MountedCommand{
		Args: []string{path, "hear"}, Dir: h.conf.WorkDir, Env: h.conf.Environ,
		In: bytes.NewReader(payload), Out: limitedWriter{&out, maxHookOutput}, Err: io.Discard,
	})
	if err == nil && exit != 0 {
		err = fmt.Errorf("retake-agent-%s ends with %d", name, exit)
	}
	return out.Bytes(), err
}

// limitedWriter accepts a number of bytes and refuses the rest.
type limitedWriter struct {
	b   *bytes.Buffer
	max int
}

func (l limitedWriter) Write(p []byte) (int, error) {
	if l.b.Len()+len(p) > l.max {
		return 0, fmt.Errorf("more than %d bytes", l.max)
	}
	return l.b.Write(p)
}

// newAgentPlaces tells where agents keep their settings.
func newAgentPlaces(conf config.Config) func(project string) install.Places {
	return func(project string) install.Places {
		p := install.Places{Home: conf.Home, Project: project, Env: conf.EnvValue, LookPath: conf.LookPath, Retake: "retake"}
		exe := clientProgram(conf.Executable)
		if found, ok := conf.LookPath("retake"); exe != "" && filepath.Base(exe) == "retake" && (!ok || !isSameFile(found, exe)) {
			p.Retake = exe // the name alone would run another program, or none
		}
		return p
	}
}

func isSameFile(a, b string) bool {
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}

// clientProgram is the small program that belongs to this one, which may be the engine: agents
// call the small one.
func clientProgram(self string) string {
	small := filepath.Join(filepath.Dir(self), "retake")
	if _, err := os.Stat(small); filepath.Base(self) == "retaked" && err == nil {
		return small
	}
	return self
}
