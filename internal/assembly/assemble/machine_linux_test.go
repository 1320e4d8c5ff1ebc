package assemble_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/hostprobe"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/insight"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
)

// The port of somebody else's program is counted, and told only to who asks for it. The port
// of a program that works in the workspace is always told.
func TestV5_StoryLeavesOutOtherPrograms(t *testing.T) {
	t.Parallel()
	home, ctx, held := t.TempDir(), t.Context(), clock.NewManual(clock.Wall.Now())
	root := filepath.Join(home, "shop")
	must(t, os.Mkdir(root, 0o700))
	m := madeMachine{t, t.TempDir()}
	m.program(101, root)
	m.program(102, "/srv/other")
	m.listen()
	s := overSocket(func(t *testing.T, home string) retake.Service { return onMachine(t, home, m.root, held) })(t, home)
	t.Cleanup(func() { must(t, s.Close()) })
	first, err := s.Init(ctx, retake.InitRequest{Dir: root})
	must(t, err)
	ws := first.Workspace.ID
	m.wait("the first look at the machine", func() bool {
		_, err := os.Stat(filepath.Join(home, "sessions", string(ws)+".machine"))
		return err == nil
	})

	m.listen(101, 102)
	held.Advance(time.Minute)
	must(t, os.WriteFile(filepath.Join(root, "a"), []byte("1"), 0o644))
	_, err = s.Save(ctx, retake.SaveRequest{Workspace: ws, Intent: "serve"})
	must(t, err)
	ports := func(machine bool) (names []string, elsewhere int) {
		st, err := s.Story(ctx, retake.DiffQuery{Workspace: ws, To: "2", Machine: machine})
		must(t, err)
		for _, f := range st.Facts {
			names = append(names, f.Name)
		}
		return names, st.Elsewhere
	}
	m.wait("both ports", func() bool { names, _ := ports(true); return len(names) == 2 })
	if names, elsewhere := ports(false); len(names) != 1 || names[0] != "tcp 101" || elsewhere != 1 {
		t.Errorf("unasked it tells of %v, and counts %d elsewhere", names, elsewhere)
	}
}

// onMachine opens a service as the daemon has it, which looks at another machine than this one.
func onMachine(t *testing.T, home, machine string, c clock.Clock) retake.Service {
	t.Helper()
	for _, dir := range []string{"index", "returns", "sessions"} {
		must(t, os.MkdirAll(filepath.Join(home, dir), 0o700))
	}
	cat, err := sqlite.Open(t.Context(), filepath.Join(home, "catalog.db"), "local", sqlite.Options{})
	must(t, err)
	st := memorytest.New()
	return service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog:   cat,
			OpenStore: func(context.Context, bool) (store.Store, error) { return st, nil },
			FS:        fsx.OS(), IndexDir: filepath.Join(home, "index"), DataDir: home,
			SignalDir: filepath.Join(home, "signals"), SessionDir: filepath.Join(home, "sessions"),
			RestoreDir: filepath.Join(home, "returns"), Locks: fsx.NewMemoryLocks(),
			Clock: c, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
			Policy:  func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
			MinFree: func(int64) int64 { return 0 }, Exclusive: true,
		},
		Insight:     insight.Options{HostProbe: &hostprobe.Options{Root: machine, Limit: time.Minute}},
		KernelFence: true,
	})
}

// madeMachine is a directory that looks like the root of a machine.
type madeMachine struct {
	*testing.T
	root string
}

func (m madeMachine) write(name, text string) {
	m.Helper()
	at := filepath.Join(m.root, name)
	must(m.T, os.MkdirAll(filepath.Dir(at), 0o755))
	must(m.T, os.WriteFile(at, []byte(text), 0o644))
}

// program runs in a directory and holds the socket of its number.
func (m madeMachine) program(pid int, dir string) {
	m.Helper()
	proc := fmt.Sprintf("proc/%d", pid)
	m.write(proc+"/comm", "node\n")
	m.write(proc+"/stat", fmt.Sprintf("%d (node) S 1 1 1", pid))
	must(m.T, os.Mkdir(filepath.Join(m.root, proc, "fd"), 0o755))
	must(m.T, os.Symlink(dir, filepath.Join(m.root, proc, "cwd")))
	must(m.T, os.Symlink(fmt.Sprintf("socket:[%d]", pid), filepath.Join(m.root, proc, "fd", "3")))
}

// listen gives these programs the ports of their numbers.
func (m madeMachine) listen(pids ...int) {
	m.Helper()
	table := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	for _, pid := range pids {
		table += fmt.Sprintf("   0: 0100007F:%04X 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 %d 1 0 100 0 0 10 0\n", pid, pid)
	}
	m.write("proc/net/tcp", table)
}

// wait until something is there: the machine is looked at in the background.
func (m madeMachine) wait(what string, done func() bool) {
	m.Helper()
	for range 3000 {
		if done() {
			return
		}
		<-time.After(10 * time.Millisecond)
	}
	m.Fatalf("waited in vain for %s", what)
}
