package g18

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() {
	harness.Register("MANY", many)
	harness.Children["saver"] = saver
}

const manyWorkspaces, manySavers = 100, 8

// many: a hundred workspaces in one store, eight processes saving at once, each
// opening the store anew for every save as a command does. Every acknowledged
// checkpoint is there at the end, numbers have no gap, no save failed.
func many(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "MANY", What: "100 workspaces in one store, 8 processes saving at once", Control: "two writers of one line, without locks", Detail: map[string]any{}}
	ctx := context.Background()
	dir := r.Scratch("many")
	ids, err := makeMany(ctx, dir)
	if err != nil {
		v.Fail("init: %v", err)
		return []harness.Verdict{v}
	}
	length := time.Duration(r.Figure(20, 600)) * time.Second
	acks, peak := runSavers(dir, ids, length, &v)
	v.Detail["seconds"], v.Detail["saves"], v.Detail["peak_rss_mb"] = length.Seconds(), v.Tried, peak/1024
	checkMany(ctx, dir, acks, &v)
	v.Caught = unlocked(r)
	return []harness.Verdict{v}
}

func solo(ctx context.Context, dir string) (*service.Service, error) {
	set, err := config.Load(filepath.Join(dir, "config.json"))
	if err != nil {
		return nil, err
	}
	c := config.Config{DataDir: filepath.Join(dir, "data"), Home: "/nobody", BootID: "this run"}
	return assemble.OpenService(ctx, c, set, assemble.Options{Derivation: harness.Derivation})
}

func makeMany(ctx context.Context, dir string) ([]retake.WorkspaceID, error) {
	s, err := solo(ctx, dir)
	if err != nil {
		return nil, err
	}
	var ids []retake.WorkspaceID
	rnd := rand.New(rand.NewSource(1))
	for i := range manyWorkspaces {
		root := filepath.Join(dir, "ws", strconv.Itoa(i))
		for f := range 60 {
			p := filepath.Join(root, "d"+strconv.Itoa(f%6), "f"+strconv.Itoa(f))
			if err := errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text(rnd, 1000)), 0o644)); err != nil {
				return nil, err
			}
		}
		res, err := s.Init(ctx, retake.InitRequest{Dir: root})
		if err != nil {
			return nil, err
		}
		ids = append(ids, res.Workspace.ID)
	}
	return ids, s.Close()
}

type saved struct {
	ws     retake.WorkspaceID
	id     retake.CheckpointID
	number int64
}

// runSavers runs the processes and gathers what they acknowledged.
func runSavers(dir string, ids []retake.WorkspaceID, length time.Duration, v *harness.Verdict) (acks []saved, peakKB int64) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for k := range manySavers {
		args := []string{"child", "saver", dir, length.String(), strconv.Itoa(k)}
		for i := k; i < len(ids); i += manySavers {
			args = append(args, strconv.Itoa(i)+"="+string(ids[i]))
		}
		// The first workspace is everybody's: writers of one line take turns.
		args = append(args, "0="+string(ids[0]))
		cmd := exec.Command(os.Args[0], args...)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil || cmd.Start() != nil {
			v.Fail("start saver: %v", err)
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			for sc := bufio.NewScanner(out); sc.Scan(); {
				f := strings.Fields(sc.Text())
				mu.Lock()
				switch {
				case len(f) == 4 && f[0] == "ack":
					n, _ := strconv.ParseInt(f[3], 10, 64)
					acks = append(acks, saved{retake.WorkspaceID(f[1]), retake.CheckpointID(f[2]), n})
					v.Tried++
				case len(f) == 2 && f[0] == "peak":
					n, _ := strconv.ParseInt(f[1], 10, 64)
					peakKB = max(peakKB, n)
				default:
					v.Fail("saver: %s", sc.Text())
				}
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				mu.Lock()
				v.Fail("saver: %v", err)
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	return acks, peakKB
}

// saver is one process: a service for each save, as a command would have.
func saver(args []string) int {
	ctx := context.Background()
	length, err := time.ParseDuration(args[1])
	if err != nil {
		return 2
	}
	seed, _ := strconv.ParseInt(args[2], 10, 64)
	rnd := rand.New(rand.NewSource(seed))
	for end := time.Now().Add(length); time.Now().Before(end); {
		i, id, _ := strings.Cut(args[3+rnd.Intn(len(args)-3)], "=")
		p := filepath.Join(args[0], "ws", i, "d1", fmt.Sprintf("f%d", rnd.Intn(20)))
		if err := os.WriteFile(p, []byte(text(rnd, 500+rnd.Intn(2000))), 0o644); err != nil {
			fmt.Println("write:", err)
			return 1
		}
		cp, err := saveOnce(ctx, args[0], retake.WorkspaceID(id))
		if err != nil {
			fmt.Println("save:", err)
			return 1
		}
		fmt.Println("ack", id, cp.ID, cp.Number)
	}
	fmt.Println("peak", peakRSS())
	return 0
}

func saveOnce(ctx context.Context, dir string, id retake.WorkspaceID) (retake.Checkpoint, error) {
	s, err := solo(ctx, dir)
	if err != nil {
		return retake.Checkpoint{}, err
	}
	res, err := s.Save(ctx, retake.SaveRequest{Workspace: id, Intent: "many"})
	if err == nil && len(res.Warnings) > 0 {
		err = fmt.Errorf("warnings: %v", res.Warnings)
	}
	return res.Checkpoint, errors.Join(err, s.Close())
}

func peakRSS() int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n
		}
	}
	return 0
}

// checkMany compares the acknowledgements with the catalog, and with the catalog
// made again from the store.
func checkMany(ctx context.Context, dir string, acks []saved, v *harness.Verdict) {
	s, err := solo(ctx, dir)
	if err != nil {
		v.Fail("open: %v", err)
		return
	}
	defer s.Close() //nolint:errcheck // scratch
	for _, when := range []string{"as it is", "rebuilt"} {
		if when == "rebuilt" {
			if _, err := s.Rebuild(ctx); err != nil {
				v.Fail("rebuild: %v", err)
				return
			}
		}
		for _, a := range acks {
			cp, err := s.Find(ctx, a.ws, string(a.id))
			if err != nil || cp.Number != a.number {
				v.Fail("%s: checkpoint %d of %s: %v", when, a.number, a.ws, err)
			}
		}
	}
	rep, err := s.Scrub(ctx, retake.ScrubQuery{Share: 1})
	if err != nil || len(rep.Failed) > 0 {
		v.Fail("scrub: %v %v", err, rep.Failed)
	}
}

// noLocks lets everybody in.
type noLocks struct{}

func (noLocks) Lock(context.Context, string, bool) (func(), error) { return func() {}, nil }

// unlocked is the control: two writers of one line, each built on the same head.
func unlocked(r *harness.Run) int64 {
	ctx := context.Background()
	o := kopia.Options{Dir: r.Scratch("unlocked"), FS: fsx.OS(), Locks: noLocks{}, Clock: clock.Wall, Derivation: harness.Derivation}
	s, err := kopia.Create(ctx, o)
	if err != nil {
		return 0
	}
	defer s.Close() //nolint:errcheck // scratch
	a, b := newLine(1), newLine(2)
	b.ws = a.ws
	w1, err1 := s.Begin(ctx, a.ws)
	w2, err2 := s.Begin(ctx, b.ws)
	if errors.Join(err1, err2) != nil {
		return 0
	}
	if err := errors.Join(a.seal(ctx, w1, time.Now()), b.seal(ctx, w2, time.Now()), w1.Close(), w2.Close()); err != nil {
		return 1
	}
	v := harness.Verdict{}
	a.check(ctx, s, &v)
	b.check(ctx, s, &v)
	return v.Failed
}
