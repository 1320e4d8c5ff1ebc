//go:build linux

// Package g10 edits files in every way: neither the stat index nor the tracker may miss
// one.
package g10

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

func init() { harness.Register("G10-missed", noChangeMissed) }

// noChangeMissed edits at random checkpoints around saves; after each round a full
// read of the live tree is the oracle. A file system in memory never writes back,
// so that stores to a mapping leave no trace there: it has a row of its own.
func noChangeMissed(r *harness.Run) []harness.Verdict {
	all := harness.Verdict{Guarantee: "G10", What: "no edit is missed by the stat index", Control: "an index of size and time would miss these", Detail: map[string]any{}}
	memory := harness.Verdict{Guarantee: "G10", What: "no store to a mapping is missed in memory (tmpfs)", Control: all.Control, Detail: map[string]any{}}
	total := r.Figure(2_000, 50_000)
	for i, p := range []struct {
		v     *harness.Verdict
		kind  string
		kinds []editKind
		edits int
	}{
		{&all, "disk", append(plainEdits, mapEdits...), total * 4 / 10}, {&all, "xfs", append(plainEdits, mapEdits...), total * 2 / 10},
		{&all, "btrfs", append(plainEdits, mapEdits...), total / 10}, {&all, "overlay", append(plainEdits, mapEdits...), total / 10},
		{&all, "tmpfs", plainEdits, total * 2 / 10}, {&memory, "tmpfs", append(mapEdits, plainEdits[2]), total / 20},
	} {
		e := editor{r: r, v: p.v, kind: p.kind, kinds: p.kinds, rnd: rand.New(rand.NewSource(r.Seed + int64(i))), by: map[string]int{}}
		start := time.Now()
		if err := e.try(p.edits); err != nil {
			p.v.Fail("%s: %v", p.kind, err)
		}
		p.v.Seconds += time.Since(start).Seconds()
		p.v.Detail[p.kind] = map[string]any{"edits": e.by, "rounds": e.rounds, "differences": e.missed, "taken_over_unread": e.unread}
	}
	return []harness.Verdict{all, memory}
}

// editor works on one root.
type editor struct {
	r      *harness.Run
	v      *harness.Verdict
	kind   string
	mode   retake.TrackingMode // "": every save looks at everything
	kinds  []editKind
	rnd    *rand.Rand
	root   string
	shop   *treebed.Shop
	ws     retake.WorkspaceID
	views  [][]byte // of the files in map/, which nothing else makes shorter
	by     map[string]int
	edits  int
	rounds int
	missed int
	unread int64 // bytes that saves took over
	track  retake.Tracking
}

func (e *editor) try(edits int) error {
	ctx := context.Background()
	done, err := e.settle()
	if err != nil {
		return err
	}
	defer done()
	if e.shop, err = treebed.NewShopWith(e.r, ctx, e.assembly()); err != nil {
		return err
	}
	defer e.shop.End()
	defer e.unmap()
	if err := e.plant(); err != nil {
		return err
	}
	time.Sleep(treebed.SettleTime) // what is not edited is taken over from now on
	res, err := e.shop.Svc.Init(ctx, retake.InitRequest{Dir: e.root})
	if err != nil {
		return err
	}
	for e.ws = res.Workspace.ID; e.edits < edits; e.rounds++ {
		if err := e.round(ctx); err != nil {
			return err
		}
	}
	e.v.Tried += int64(e.edits)
	return e.unseen(ctx)
}

// settle finds the root a file system.
func (e *editor) settle() (func(), error) {
	base := e.kind
	if base == "overlay" {
		base = "disk"
	}
	place, err := treebed.NewPlace(e.r, base)
	if err != nil {
		return nil, err
	}
	e.root = place.Dir + "/root"
	if err = os.Mkdir(e.root, 0o755); err == nil && e.kind == "overlay" {
		e.root, err = place.Overlaid(e.root, "root", false)
	}
	if err != nil {
		place.End()
		return nil, err
	}
	return place.End, nil
}

// round: edits while a save runs in half of the rounds, then some at once or a
// little later, then a save in peace, which must hold everything.
func (e *editor) round(ctx context.Context) error {
	if e.rnd.Intn(2) == 0 {
		if err := e.during(ctx); err != nil {
			return err
		}
	}
	if err := e.some(1 + e.rnd.Intn(10)); err != nil {
		return err
	}
	switch e.rnd.Intn(e.r.Figure(60, 120)) {
	case 0:
		time.Sleep(treebed.SettleTime)
	case 1, 2, 3, 4, 5, 6, 7, 8, 9:
		time.Sleep(time.Duration(e.rnd.Intn(30)) * time.Millisecond)
	}
	res, err := e.shop.Svc.Save(ctx, retake.SaveRequest{Workspace: e.ws})
	if err != nil {
		return err
	}
	e.unread += max(0, res.Checkpoint.Bytes-res.Checkpoint.NewBytes)
	if err := e.agree(ctx); err != nil {
		return err
	}
	return e.hold(ctx, res.Checkpoint)
}

// during edits while a save runs; what that one holds is not judged, what it
// teaches the index is.
func (e *editor) during(ctx context.Context) error {
	done := make(chan error, 1)
	go func() {
		_, err := e.shop.Svc.Save(ctx, retake.SaveRequest{Workspace: e.ws})
		done <- err
	}()
	for {
		if err := e.some(1); err != nil {
			<-done
			return err
		}
		select {
		case err := <-done:
			return err
		case <-time.After(time.Duration(e.rnd.Intn(8)) * time.Millisecond):
		}
	}
}

func (e *editor) hold(ctx context.Context, cp retake.Checkpoint) error {
	live, err := treebed.Scan(e.root)
	if err != nil {
		return err
	}
	got, err := e.shop.Read(ctx, cp)
	if err != nil {
		return err
	}
	if diffs := treebed.Compare(live, got, cp.Coverage.Gaps); len(diffs) > 0 {
		e.missed += len(diffs)
		e.v.Fail("%s round %d: %s", e.kind, e.rounds, strings.Join(diffs[:min(3, len(diffs))], "; "))
	}
	return nil
}

func (e *editor) some(n int) error {
	for range n {
		e.edits++
		what, err := e.edit()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		e.by[what]++
	}
	return nil
}
