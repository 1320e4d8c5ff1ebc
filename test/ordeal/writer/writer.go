//go:build linux

// Package writer writes during restores: what was written must be somewhere.
package writer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/service/workspace"
	"github.com/retake-dev/retake/internal/storage/catalog/sqlite"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/memorytest"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/returnbed"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

func init() { harness.Register("WRITER-holds", writerKept) }

const (
	hands       = 50  // paths that somebody writes to all the time
	quietPaths  = 16  // before them, and behind them: we are told of every sixteenth, and the writing begins and ends there
	perHouse    = 500 // restores of one workspace
	betweenLook = 25  // restores between two searches
)

// writerKept lets somebody write to fifty paths while restores go back and forth over
// them. Each generation that was written whole and that the writer did not overwrite
// itself must be in the workspace, in a hold or in a checkpoint.
func writerKept(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "WRITER", What: "what a writer wrote during restores is somewhere", Control: "what is displaced is unlinked"}
	n := r.Figure(200, 10_000)
	sum := map[string]int64{}
	for i, left := 0, n; left > 0; i++ {
		some := min(left, max(n/8, 25), perHouse)
		left -= some
		h := &house{r: r, kind: []string{"tmpfs", "xfs"}[i%2], sum: sum}
		if err := h.live(some); err != nil {
			v.Fail("%s, workspace %d: %v", h.kind, i, err)
		}
		v.Tried += int64(h.restores)
		for _, m := range h.missing {
			v.Fail("%s, workspace %d: %s", h.kind, i, m)
		}
	}
	c := &house{r: r, kind: "tmpfs", sum: map[string]int64{}, unlinks: true}
	if err := c.live(50); err != nil {
		v.Fail("control: %v", err)
	}
	v.Caught = int64(len(c.missing))
	v.Detail = map[string]any{"counts": sum, "control restores": c.restores}
	if v.Caught > 0 {
		v.Detail["control example"] = c.missing[0]
	}
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// house is a workspace with a writer in it.
type house struct {
	r        *harness.Run
	kind     string
	unlinks  bool // control: what is displaced goes at once
	sum      map[string]int64
	data, ws string
	svc      *service.Service
	id       retake.WorkspaceID
	hand     *hand
	looked   int64 // checkpoints that were searched
	turns    int
	restores int
	missing  []string
}

func (h *house) live(restores int) (err error) {
	ctx := context.Background()
	place, err := treebed.NewPlace(h.r, h.kind)
	if err != nil {
		return err
	}
	defer place.End()
	if err := h.found(ctx, place.Dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.svc.Close()) }()
	h.hand.mu.Lock()
	go h.hand.work()
	defer func() { err = errors.Join(err, h.hand.stop()) }()
	for h.restores < restores && err == nil && h.hand.err == nil {
		if err = h.once(ctx); err == nil && (h.restores%betweenLook == 0 || h.restores == restores) {
			err = h.search(ctx)
		}
	}
	for way, n := range h.hand.ways {
		h.sum["written "+way] += int64(n)
	}
	return err
}

// found makes a workspace of two checkpoints, in which every path of the writer differs, or
// is missing in one of them.
func (h *house) found(ctx context.Context, dir string) error {
	h.data, h.ws = filepath.Join(dir, "data"), filepath.Join(dir, "ws")
	aside := filepath.Join(dir, "aside")
	for _, d := range []string{h.ws + "/w", h.ws + "/a", h.ws + "/z", aside, h.data + "/index", h.data + "/returns"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	var err error
	if h.svc, err = openHouse(ctx, h.data, memorytest.New()); err != nil {
		return err
	}
	var paths []string
	for i := range hands {
		paths = append(paths, fmt.Sprintf("w/%02d", i))
	}
	h.hand = newHand(h.ws, aside, paths)
	if err := h.furnish("first", func(i int) bool { return i%6 == 5 }); err != nil {
		return err
	}
	res, err := h.svc.Init(ctx, retake.InitRequest{Dir: h.ws})
	if err != nil {
		return err
	}
	h.id = res.Workspace.ID
	if err := h.furnish("other", func(i int) bool { return i%6 == 4 }); err != nil {
		return err
	}
	_, err = h.svc.Save(ctx, retake.SaveRequest{Workspace: h.id})
	return err
}

func openHouse(ctx context.Context, data string, stored store.Store) (*service.Service, error) {
	cat, err := sqlite.Open(ctx, filepath.Join(data, "catalog.db"), "local", sqlite.Options{})
	if err != nil {
		return nil, err
	}
	return service.New(service.Parts{
		Parts: workspace.Parts{
			Catalog:   cat,
			OpenStore: func(context.Context, bool) (store.Store, error) { return stored, nil },
			FS:        fsx.OS(), IndexDir: filepath.Join(data, "index"), DataDir: data,
			RestoreDir: filepath.Join(data, "returns"), Locks: fsx.NewMemoryLocks(),
			Clock: clock.Wall, BootID: "this run", HomeDir: "/nobody", LockWait: time.Minute,
			Policy:  func(retake.WorkspaceID) retake.Policy { return retake.Policy{} },
			MinFree: func(int64) int64 { return 0 },
		},
		KernelFence: true,
	}), nil
}

func (h *house) furnish(text string, without func(int) bool) error {
	for i := range 2 * quietPaths {
		p := fmt.Sprintf("%s/%02d", []string{"a", "z"}[i%2], i)
		if err := os.WriteFile(filepath.Join(h.ws, p), fmt.Appendf(nil, "%-*s\n", leafSize-1, text), 0o644); err != nil {
			return err
		}
	}
	for i, p := range h.hand.paths {
		err := os.WriteFile(filepath.Join(h.ws, p), fmt.Appendf(nil, "%-*s\n", leafSize-1, text), 0o644)
		if without(i) {
			err = os.Remove(filepath.Join(h.ws, p))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// once is one restore. The writer is awake while names are changed. In some rounds it
// wakes before, and the plan may be refused; in some it goes on while all is read back.
func (h *house) once(ctx context.Context) error {
	req := retake.PlanRequest{Workspace: h.id, Course: retake.CourseRestore, Ref: strconv.Itoa(1 + h.restores%2)}
	p, err := h.svc.PlanRestore(ctx, req)
	if err != nil {
		return err
	}
	early, late := h.turns%20 == 9, h.turns%20 == 14
	h.turns++
	a := alarm{hand: h.hand}
	if early {
		a.wake()
	}
	res, err := h.svc.ApplyRestore(ctx, retake.ApplyRequest{
		PlanRequest: req, Digest: p.Digest, Accept: append(returnbed.Classes(p), retake.ObstacleUncaptured, retake.ObstacleChanged, retake.ObstacleNames),
		Progress: func(p retake.Progress) {
			if a.wake(); p.Files+quietPaths > p.Total && !late {
				a.rest()
			}
		},
	})
	a.rest()
	if early && retake.IsKind(err, retake.Moved) {
		h.sum["refused"]++
		return nil
	}
	if err != nil {
		return fmt.Errorf("restore %d: %w", h.restores, err)
	}
	h.restores++
	h.sum["paths left"] += int64(len(res.Failed))
	h.sum["paths written and deleted"] += int64(res.Written + res.Deleted)
	if h.unlinks {
		return h.unlink()
	}
	return nil
}

// alarm wakes the writer once, and lets it rest.
type alarm struct {
	hand        *hand
	woke, rests bool
}

func (a *alarm) wake() {
	if !a.woke {
		a.woke = true
		a.hand.mu.Unlock()
	}
}

func (a *alarm) rest() {
	if a.woke && !a.rests {
		a.rests = true
		a.hand.mu.Lock()
	}
}

// unlink is the control: nothing that was displaced is kept.
func (h *house) unlink() error {
	holds, err := filepath.Glob(filepath.Join(h.data, "returns", string(h.id), "*"))
	for _, d := range holds {
		err = errors.Join(err, os.RemoveAll(d))
	}
	return err
}

// search looks for all generations that must be somewhere. Those in the workspace
// stay to be looked for; the holds are thrown away after that.
func (h *house) search(ctx context.Context) error {
	here, held := map[int64]bool{}, map[int64]bool{}
	if err := errors.Join(gather(h.ws, here), gather(filepath.Join(h.data, "returns"), held)); err != nil {
		return err
	}
	var lost []int64
	for _, gen := range slices.Sorted(maps.Keys(h.hand.live)) {
		switch {
		case here[gen]:
			h.sum["found in the workspace"]++
		case held[gen]:
			h.sum["found in a hold"]++
			delete(h.hand.live, gen)
		default:
			lost = append(lost, gen)
		}
	}
	stored := map[int64]bool{}
	if err := h.recorded(ctx, len(lost) > 0, stored); err != nil {
		return err
	}
	for _, gen := range lost {
		if path := h.hand.live[gen]; stored[gen] {
			h.sum["found in a checkpoint alone"]++
		} else {
			h.missing = append(h.missing, fmt.Sprintf("generation %d of %s is nowhere; the newest of that path is %d", gen, path, h.hand.last[path]))
		}
		delete(h.hand.live, gen)
	}
	h.hand.letGo()
	return h.unlink()
}

// gather reads the generations below a directory.
func gather(dir string, into map[int64]bool) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(p)
		into[genOf(b)] = true
		return err
	})
}

// recorded reads the generations of the checkpoints since the last search.
func (h *house) recorded(ctx context.Context, wanted bool, into map[int64]bool) error {
	tl, err := h.svc.Log(ctx, retake.LogQuery{Workspace: h.id, Limit: 1})
	if err != nil || len(tl.Checkpoints) == 0 {
		return err
	}
	newest := tl.Checkpoints[0].Number
	for n := h.looked + 1; wanted && n <= newest; n++ {
		entries, err := h.svc.List(ctx, h.id, strconv.FormatInt(n, 10), "w")
		if err != nil {
			return err
		}
		for _, e := range entries {
			f, err := h.svc.Bytes(ctx, e.Object)
			if err != nil {
				return err
			}
			b, err := io.ReadAll(f)
			if into[genOf(b)] = true; err != nil {
				return err
			}
		}
	}
	h.looked = newest
	return nil
}
