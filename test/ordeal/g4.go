//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memory"
)

func init() {
	register("G4-histories", histories)
	children["g4"] = historiesChild
}

// lies are what the model is made to forget, so that we know it looks.
var lies = []string{"undo forgets", "conflicts forgotten"}

// playbill is a part of the histories, in a process that sees no other one.
type playbill struct {
	Dir  string
	Seed int64
	From int
	To   int
	Lie  string
}

type told struct {
	Tried    int64    `json:"tried"`
	Failed   int64    `json:"failed"`
	Failures []string `json:"failures,omitempty"`
}

// histories plays random histories against a model in plain maps: after every step
// the files are what the model says, and at the end every past checkpoint can be reached.
func histories(r *run) []verdict {
	start := time.Now()
	v := verdict{Guarantee: "G4", What: "random histories end where a model in plain maps does", Control: "a model that forgets a rule", Detail: map[string]any{}}
	n := r.figure(600, 200_000)
	parts := runtime.NumCPU()
	got := make([]told, parts)
	errs := make([]error, parts)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			got[i], errs[i] = r.tell("g4", playbill{Seed: r.seed, From: n * i / parts, To: n * (i + 1) / parts})
		})
	}
	wg.Wait()
	for i, g := range got {
		v.Tried += g.Tried
		v.Failed += g.Failed
		v.Failures = append(v.Failures, g.Failures...)
		if errs[i] != nil {
			v.fail("%v", errs[i])
		}
	}
	v.Failures = v.Failures[:min(10, len(v.Failures))]
	v.Detail["histories per second"] = float64(v.Tried) / time.Since(start).Seconds()
	for _, lie := range lies {
		g, err := r.tell("g4", playbill{Seed: r.seed, To: 300, Lie: lie})
		if err != nil || g.Failed == 0 {
			v.fail("nobody noticed that the model lies, %s: %v", lie, err)
		}
		v.Caught += g.Failed
		v.Detail["noticed: "+lie] = fmt.Sprintf("%d of %d", g.Failed, g.Tried)
	}
	return []verdict{v}
}

// tell runs a child. As root it has process ids of its own: a plan asks every process
// what it holds, and there is only one.
func (r *run) tell(child string, t playbill) (told, error) {
	var out told
	t.Dir = fastDir(r, child)
	defer os.RemoveAll(t.Dir) //nolint:errcheck // scratch
	order, err := json.Marshal(t)
	if err != nil {
		return out, err
	}
	cmd := exec.Command("/proc/self/exe", "child", child, string(order))
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS}
	}
	var text, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &errs
	if err := cmd.Run(); err != nil {
		return out, fmt.Errorf("the histories broke off: %w: %s", err, bytes.TrimSpace(errs.Bytes()))
	}
	return out, json.Unmarshal(text.Bytes(), &out)
}

func historiesChild(args []string) int { return playAll(args, playbill.play) }

// playAll plays what is ordered, and prints what came of it.
func playAll(args []string, play func(playbill, context.Context) (told, error)) int {
	var t playbill
	if err := json.Unmarshal([]byte(args[0]), &t); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if os.Getpid() == 1 {
		if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
	}
	out, err := play(t, context.Background())
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// batch is how many histories share a service and its store.
const batch = 50

func (t playbill) play(ctx context.Context) (told, error) {
	syscall.Umask(0o022)
	debug.SetGCPercent(400) // there is little to keep, and much to forget
	var out told
	open := descriptors()
	for from := t.From; from < t.To; from += batch {
		home := t.Dir + "/" + strconv.Itoa(from)
		svc, err := openPlay(ctx, home, from/batch%8 == 0)
		if err != nil {
			return out, err
		}
		for i := from; i < min(t.To, from+batch); i++ {
			seed := t.Seed*1_000_000_007 + int64(i)
			p := &play{svc: svc, rnd: rand.New(rand.NewSource(seed)), root: fmt.Sprintf("%s/ws%d", home, i), line: chronicle{lie: t.Lie}}
			out.Tried++
			if err := p.run(ctx); err != nil {
				out.Failed++
				if len(out.Failures) < 5 {
					out.Failures = append(out.Failures, fmt.Sprintf("seed %d history %d: %v", t.Seed, i, err))
				}
			}
		}
		if err := errors.Join(svc.Close(), os.RemoveAll(home)); err != nil {
			return out, err
		}
	}
	if more := descriptors() - open; more > batch {
		out.Failed++
		out.Failures = append(out.Failures, fmt.Sprintf("%d descriptors stay open", more))
	}
	return out, nil
}

// descriptors counts what this process has open.
func descriptors() int {
	list, _ := os.ReadDir("/proc/self/fd") // none: not told here
	return len(list)
}

// openPlay is a service on a store in memory and a catalog in memory.
func openPlay(ctx context.Context, home string, fence bool) (*service.Service, error) {
	if err := errors.Join(os.MkdirAll(home+"/index", 0o755), os.Mkdir(home+"/returns", 0o755)); err != nil {
		return nil, err
	}
	cat, err := sqlite.Open(ctx, sqlite.Memory, "local", sqlite.Options{})
	if err != nil {
		return nil, err
	}
	stored := memory.New()
	return service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog: cat, OpenStore: func(context.Context, bool) (store.Store, error) { return stored, nil },
			FS: fsx.OS(), IndexDir: home + "/index", DataDir: home + "/index", RestoreDir: home + "/returns", Locks: fsx.NewMemoryLocks(),
			Clock: clock.Wall, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
			Policy: func(retake.WorkspaceID) retake.Policy { return retake.Policy{} }, MinFree: func(int64) int64 { return 0 },
		},
		KernelFence: fence,
	}), nil
}
