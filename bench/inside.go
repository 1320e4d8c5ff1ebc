package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/bench/grow"
	"github.com/retake-dev/retake/bench/procfs"
	"github.com/retake-dev/retake/bench/record"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
)

// task is what the program asks a child of itself to do: its memory must not become
// ours, and a new process must be new.
type task struct {
	Do          string `json:"do"` // line, open, tell
	Dir         string `json:"dir"`
	Files       int    `json:"files"`
	Seed        uint64 `json:"seed"`
	Checkpoints int    `json:"checkpoints"`
	Edits       int    `json:"edits"`
	Retake      string `json:"retake"` // our program, of which readers are started
}

// sample is what the child that takes the long line tells: every so many
// checkpoints, and at the end.
type sample struct {
	Number  int     `json:"number"`
	Save    float64 `json:"save"` // ms, the median since the last sample
	Tail    float64 `json:"tail"`
	Store   float64 `json:"store"` // bytes
	Files   int     `json:"files"`
	Open    float64 `json:"open"` // ms
	Memory  float64 `json:"memory"`
	Payload float64 `json:"payload"` // bytes that had to be stored; at the end, per checkpoint
	Final   bool    `json:"final"`
	Mode    string  `json:"mode"`   // how changes are known
	Growth  float64 `json:"growth"` // per checkpoint
	Freed   float64 `json:"freed"`  // the same after a sweep
	Sweep   float64 `json:"sweep"`  // ms
}

func inside(ctx context.Context, text string) error {
	var t task
	if err := json.Unmarshal([]byte(text), &t); err != nil {
		return fmt.Errorf("read task: %w", err)
	}
	switch t.Do {
	case "line":
		return lineInside(ctx, t)
	case "tell":
		return tellInside(ctx, t)
	case "open":
		return openInside(ctx, t.Dir)
	default:
		return fmt.Errorf("read task: %q is none", t.Do)
	}
}

// ahead is the wall clock and the minutes that were simulated.
type ahead struct{ by atomic.Int64 }

func (c *ahead) Now() time.Time { return clock.Wall.Now().Add(time.Duration(c.by.Load())) }

// lineChild is the process that takes the long line.
type lineChild struct {
	task
	clock   *ahead
	conf    config.Config
	svc     retake.Service
	id      retake.WorkspaceID
	plan    *grow.Plan
	base    float64 // bytes of the store after the first capture and a sweep
	payload float64
	took    []float64 // ms, since the last sample
}

func lineInside(ctx context.Context, t task) error {
	c := &lineChild{task: t, clock: &ahead{}, plan: grow.Project(t.Files, t.Seed)}
	var err error
	if c.conf, err = config.Read(); err != nil {
		return err
	}
	c.conf.Executable = t.Retake // this program is none that reads
	settings, err := config.Load(c.conf.SettingsFile)
	if err != nil {
		return err
	}
	s, err := assemble.OpenService(ctx, c.conf, settings, assemble.Options{Clock: c.clock, Exclusive: true})
	if err != nil {
		return err
	}
	c.svc = s
	return errors.Join(c.run(ctx), s.Close())
}

func (c *lineChild) run(ctx context.Context) error {
	res, err := c.svc.Init(ctx, retake.InitRequest{Dir: c.Dir, Mark: retake.MarkCopy})
	if err != nil {
		return err
	}
	c.id = res.Workspace.ID
	if _, err := c.svc.Sweep(ctx); err != nil {
		return err
	}
	if c.base, err = c.storeSize(); err != nil {
		return err
	}
	for i := 1; i <= c.Checkpoints; i++ {
		if err := c.save(ctx, i); err != nil {
			return err
		}
		if i%sampleEvery == 0 {
			if err := c.sample(ctx, i); err != nil {
				return err
			}
		}
	}
	return c.finish(ctx)
}

// The service looks after its store when the saves pause. A minute that is only
// simulated is no pause, so it gets a real one before each of its looks would find
// something to do.
const (
	restEvery = 32
	rest      = 500 * time.Millisecond
)

func (c *lineChild) save(ctx context.Context, i int) error {
	files := c.plan.Shared(c.Edits, uint64(i-1))
	if _, err := c.plan.Edit(c.Dir, files, uint64(i-1)); err != nil {
		return err
	}
	n, err := packed(c.Dir, c.plan, files)
	if err != nil {
		return err
	}
	c.payload += float64(n)
	c.clock.by.Add(int64(time.Minute))
	start := time.Now()
	res, err := c.svc.Save(ctx, retake.SaveRequest{Workspace: c.id, Trigger: retake.TriggerManual, Intent: "round"})
	if err != nil {
		return err
	}
	c.took = append(c.took, float64(time.Since(start).Microseconds())/1000)
	if i%restEvery == 0 {
		if err := pause(ctx, rest); err != nil {
			return err
		}
	}
	if !res.Created || res.Checkpoint.Changed.Edited < int64(len(files)) {
		return fmt.Errorf("save %d: %d files were edited, %d were seen", i, len(files), res.Checkpoint.Changed.Edited)
	}
	return nil
}

func (c *lineChild) storeDir() string { return filepath.Join(c.conf.DataDir, "store") }

func (c *lineChild) storeSize() (float64, error) {
	n, err := sizeOf(c.storeDir())
	return float64(n), err
}

func (c *lineChild) sample(ctx context.Context, i int) error {
	slices.Sort(c.took)
	s := sample{Number: i, Tail: c.took[len(c.took)*95/100], Payload: c.base + c.payload}
	s.Save, _ = record.Median(c.took)
	c.took = nil
	n, files, err := weighDir(c.storeDir())
	if err != nil {
		return err
	}
	s.Store, s.Files = float64(n), files
	if m, err := procfs.MemoryOf(os.Getpid()); err == nil {
		s.Memory = float64(m.Now)
	}
	if s.Open, err = c.open(ctx); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

// open lets a new process open the store as it is now. It gets a twin of it, with
// the same blobs as hard links, because this process has the store alone.
func (c *lineChild) open(ctx context.Context) (float64, error) {
	twin := filepath.Join(filepath.Dir(c.conf.DataDir), "twin")
	if err := errors.Join(os.RemoveAll(twin), linkStore(c.storeDir(), twin)); err != nil {
		return 0, err
	}
	text, err := json.Marshal(task{Do: "open", Dir: twin})
	if err != nil {
		return 0, fmt.Errorf("encode task: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("find own program: %w", err)
	}
	out, err := exec.CommandContext(ctx, self, "-inside", string(text)).Output()
	if err != nil {
		return 0, fmt.Errorf("open store: %w", err)
	}
	var s sample
	if err := json.Unmarshal(out, &s); err != nil {
		return 0, fmt.Errorf("read sample: %w", err)
	}
	return s.Open, os.RemoveAll(twin)
}

// linkStore makes a twin of a store: blobs never change, so they are linked; the
// rest is small and copied.
func linkStore(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o700)
		case filepath.Ext(path) == ".f":
			return os.Link(path, target)
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) { // a copy that the daemon has finished meanwhile
			return nil
		}
		if err != nil {
			return err
		}
		return os.WriteFile(target, b, 0o600)
	})
}

// openInside opens a store and reads its heads.
func openInside(ctx context.Context, dir string) error {
	locks := dir + ".locks"
	if err := os.MkdirAll(locks, 0o700); err != nil {
		return fmt.Errorf("make locks: %w", err)
	}
	start := time.Now()
	st, err := kopia.Open(ctx, kopia.Options{Dir: dir, FS: fsx.OS(), Locks: fsx.NewLocks(locks), Clock: clock.Wall})
	if err != nil {
		return err
	}
	heads, err := st.Heads(ctx)
	took := float64(time.Since(start).Microseconds()) / 1000
	if err = errors.Join(err, st.Close(), os.RemoveAll(locks)); err != nil {
		return err
	}
	if len(heads) != 1 {
		return fmt.Errorf("open store: %d lines", len(heads))
	}
	return json.NewEncoder(os.Stdout).Encode(sample{Open: took})
}

// finish sweeps: what is left then is what the checkpoints need.
func (c *lineChild) finish(ctx context.Context) error {
	grown, err := c.storeSize()
	if err != nil {
		return err
	}
	start := time.Now()
	if _, err := c.svc.Sweep(ctx); err != nil {
		return err
	}
	n := float64(c.Checkpoints)
	st, err := c.svc.Status(ctx, c.id)
	if err != nil {
		return err
	}
	s := sample{Final: true, Mode: string(st.Tracking.Mode), Sweep: float64(time.Since(start).Milliseconds()), Payload: c.payload / n, Growth: (grown - c.base) / n}
	freed, err := c.storeSize()
	if err != nil {
		return err
	}
	s.Freed = (freed - c.base) / n
	return json.NewEncoder(os.Stdout).Encode(s)
}
