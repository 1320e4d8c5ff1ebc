//go:build linux

// Package g6 attacks a capture while it reads: it must never read outside, follow a link or
// block.
package g6

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

func init() { harness.Register("G6-siege", sieges) }

// mark is in bytes and names outside of the root, and nowhere else.
const mark = "MARK-of-the-outside-7c1e55"

// sieges captures while adversaries swap what is in the root for what is not.
func sieges(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "G6", What: "a capture never reads outside, never follows, never blocks", Control: "a reader by path, after a look at the type", Detail: map[string]any{}}
	want := int64(r.Figure(400_000, 4_000_000))
	limit := time.Duration(r.Figure(40, 180)) * time.Second
	kinds := []string{"tmpfs", "disk", "xfs"}
	for i, kind := range kinds {
		share := want / 2
		if i > 0 {
			share = want / 4
		}
		if err := (&assault{r: r, v: &v, kind: kind}).try(share, limit/time.Duration(len(kinds))); err != nil {
			v.Fail("%s: %v", kind, err)
		}
	}
	return []harness.Verdict{v}
}

// assault is one root and those who want a capture to leave it.
type assault struct {
	r    *harness.Run
	v    *harness.Verdict
	kind string
	root string
	out  string
	shop *treebed.Shop
	ws   retake.WorkspaceID
	seen map[retake.ObjectID]bool
	gaps map[retake.Reason]int
	cps  []retake.Checkpoint
}

func (a *assault) try(swaps int64, limit time.Duration) error {
	ctx := context.Background()
	place, err := treebed.NewPlace(a.r, a.kind)
	if err != nil {
		return err
	}
	defer place.End()
	a.root, a.out = place.Dir+"/root", place.Dir+"/outside"
	if a.shop, err = treebed.NewShop(a.r, ctx, harness.Derivation); err != nil {
		return err
	}
	defer a.shop.End()
	if err := a.build(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	res, err := a.shop.Svc.Init(ctx, retake.InitRequest{Dir: a.root, Accept: []string{retake.DangerGiant}})
	if err != nil {
		return err
	}
	a.ws, a.seen, a.gaps = res.Workspace.ID, map[retake.ObjectID]bool{}, map[retake.Reason]int{}
	h, err := a.muster()
	if err != nil {
		return err
	}
	defer h.stop()
	saves, longest, err := a.storm(ctx, h, swaps, limit)
	if err != nil {
		return err
	}
	leaks := a.naive(time.Second)
	h.stop()
	a.v.Caught += leaks
	a.v.Tried += h.during.Load()
	a.v.Detail[a.kind] = map[string]any{"swaps": h.during.Load(), "saves": saves, "longest_save_ms": longest.Milliseconds(), "naive_leaks": leaks,
		"gaps": a.gaps, "binds": h.binds.Load()}
	return a.search(ctx)
}

// storm saves until enough swaps were made during enough captures, or time is up.
func (a *assault) storm(ctx context.Context, h *horde, swaps int64, limit time.Duration) (saves int, longest time.Duration, err error) {
	enough := a.r.Figure(60, 400)
	for end := time.Now().Add(limit); (h.during.Load() < swaps || saves < enough) && time.Now().Before(end); saves++ {
		start := time.Now()
		h.captures.Store(true)
		cp, err := a.save(ctx)
		h.captures.Store(false)
		longest = max(longest, time.Since(start))
		if err != nil {
			return saves, longest, err
		}
		a.cps = append(a.cps, cp)
		for reason, n := range cp.Coverage.Count() {
			a.gaps[reason] += n
		}
	}
	return saves, longest, nil
}

// save has a watchdog: a capture that hangs is a failure, and ends the assault.
func (a *assault) save(ctx context.Context) (retake.Checkpoint, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		cp  retake.Checkpoint
		err error
	}
	done := make(chan answer, 1)
	go func() {
		res, err := a.shop.Svc.Save(ctx, retake.SaveRequest{Workspace: a.ws})
		done <- answer{res.Checkpoint, err}
	}()
	select {
	case got := <-done:
		return got.cp, got.err
	case <-time.After(harness.Patience):
		return retake.Checkpoint{}, fmt.Errorf("a save took longer than %s", harness.Patience)
	}
}

// search reads every object of every checkpoint for the mark.
func (a *assault) search(ctx context.Context) error {
	st, err := a.shop.View(ctx)
	if err != nil {
		return err
	}
	for _, cp := range a.cps {
		leaf, err := st.Record(ctx, cp.Workspace, cp.Number)
		if err != nil {
			return err
		}
		if err := a.searchDir(ctx, fmt.Sprint(cp.Number), leaf.Files.Object); err != nil {
			return err
		}
	}
	return nil
}

func (a *assault) searchDir(ctx context.Context, path string, id retake.ObjectID) error {
	if a.seen[id] {
		return nil
	}
	a.seen[id] = true
	entries, err := a.shop.St.Dir(ctx, id)
	if err != nil {
		return err
	}
	for _, e := range entries {
		at := path + "/" + e.Name
		if strings.Contains(e.Name, mark) {
			a.v.Fail("%s %s: a name from outside", a.kind, at)
		}
		if e.Kind == retake.KindDir {
			err = a.searchDir(ctx, at, e.Object)
		} else if e.Kind == retake.KindFile && !a.seen[e.Object] {
			a.seen[e.Object] = true
			err = a.searchFile(ctx, at, e.Object)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *assault) searchFile(ctx context.Context, at string, id retake.ObjectID) error {
	r, err := a.shop.Svc.Bytes(ctx, id)
	if err != nil {
		return err
	}
	defer r.Close() //nolint:errcheck // nothing was written
	b, err := io.ReadAll(r)
	if bytes.Contains(b, []byte(mark)) {
		a.v.Fail("%s %s: bytes from outside", a.kind, at)
	}
	return err
}

// naive reads as programs do, by path after a look at the type, where nothing
// blocks; what it reads from outside proves that the siege is real.
func (a *assault) naive(limit time.Duration) (leaks int64) {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		for _, dir := range []string{a.root, a.root + "/dir", a.root + "/path/q/r"} {
			list, _ := os.ReadDir(dir) // it may be anything by now
			for _, e := range list {
				switch {
				case strings.Contains(e.Name(), mark):
					leaks++
				case e.Type().IsRegular() && (dir != a.root || e.Name() == "file"):
					if b, _ := os.ReadFile(filepath.Join(dir, e.Name())); bytes.Contains(b, []byte(mark)) {
						leaks++
					}
				}
			}
		}
	}
	return leaks
}
