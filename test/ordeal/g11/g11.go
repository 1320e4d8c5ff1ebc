//go:build linux

// Package g11 saves a database in use: it must come back whole, or be named as torn.
package g11

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/daemonbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/returnbed"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

func init() { harness.Register("G11-sqlite", databasesWhole) }

// databasesWhole captures a database while a process makes transfers in it. What comes
// back opens, is whole and keeps its sum, or the checkpoint names it as torn.
func databasesWhole(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "G11", What: "a database in use comes back whole, or is named as torn", Control: "its files copied one after the other"}
	sum := map[string]int{}
	n := r.Figure(60, 1200) / 6
	for i, mode := range []string{"WAL", "DELETE", "TRUNCATE"} {
		for j, kind := range []string{"disk", "tmpfs"} {
			t := &teller{r: r, v: &v, sum: sum, mode: mode, kind: kind, rnd: rand.New(rand.NewSource(r.Seed*10 + int64(2*i+j)))}
			if err := t.run(n); err != nil {
				v.Fail("%s on %s: %v", mode, kind, err)
			}
		}
	}
	v.Detail = map[string]any{"counts": sum}
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// teller is a workspace with a bank in it.
type teller struct {
	r          *harness.Run
	v          *harness.Verdict
	sum        map[string]int
	mode, kind string
	rnd        *rand.Rand
	dir, root  string
	shop       *treebed.Shop
	ws         retake.WorkspaceID
	bank       *bank
	whole      []int64 // checkpoints that name nothing as torn
}

func (t *teller) db() string { return t.root + "/data/bank.db" }

func (t *teller) run(n int) (err error) {
	ctx := context.Background()
	place, err := treebed.NewPlace(t.r, t.kind)
	if err != nil {
		return err
	}
	defer place.End()
	if t.shop, err = treebed.NewShop(t.r, ctx, harness.Derivation); err != nil {
		return err
	}
	defer t.shop.End()
	t.dir, t.root = place.Dir, place.Dir+"/root"
	if err := os.MkdirAll(t.root+"/data", 0o755); err != nil {
		return err
	}
	if t.bank, err = startBank(t.db(), t.mode); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.bank.stop(true)) }()
	res, err := t.shop.Svc.Init(ctx, retake.InitRequest{Dir: t.root})
	if err != nil {
		return err
	}
	t.ws = res.Workspace.ID
	for i := range n {
		t.v.Tried++
		if i%5 == 4 {
			err = t.inPlace(ctx)
		} else {
			err = t.aside(ctx, i)
		}
		if err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
	}
	return t.control(t.r.Figure(30, 150))
}

// torn reports whether a checkpoint names the database, or the directory in which its
// companions come and go.
func torn(cp retake.Checkpoint) (named bool, why string) {
	for _, g := range cp.Coverage.Gaps {
		if strings.HasPrefix(g.Path, "data/bank.db") && g.Reason == retake.ReasonTorn {
			return true, "torn"
		}
		if g.Path == "data/" {
			why = string(g.Reason)
		}
	}
	return why != "", why
}

// aside saves while transfers are made, and opens what comes back in a fresh place. The
// save must not stand in the way of the transfers.
func (t *teller) aside(ctx context.Context, i int) error {
	before := t.bank.done.Load()
	res, err := t.shop.Svc.Save(ctx, retake.SaveRequest{Workspace: t.ws})
	if err != nil {
		return err
	}
	t.sum["transfers during saves"] += int(t.bank.done.Load() - before)
	at := fmt.Sprintf("%s/fresh%d", t.dir, i)
	defer os.RemoveAll(at) //nolint:errcheck // scratch
	ref := strconv.FormatInt(res.Checkpoint.Number, 10)
	if _, err := t.shop.Svc.Fork(ctx, retake.ForkRequest{Workspace: t.ws, Ref: ref, Dir: at, Throwaway: true}); err != nil {
		return err
	}
	t.judge(res.Checkpoint, audit(at+"/data/bank.db"), "fork")
	if daemonbed.Await(func() bool { return t.bank.done.Load() > before }) {
		return nil
	}
	return errors.New("no transfer was made since the save")
}

// judge holds a database that came back against what the checkpoint said of it.
func (t *teller) judge(cp retake.Checkpoint, bad error, way string) {
	named, why := torn(cp)
	switch {
	case named && bad != nil:
		t.sum["named "+why+", and broken"]++
	case named:
		t.sum["named "+why+", and whole"]++
	case bad != nil:
		t.v.Fail("%s on %s, by %s of checkpoint %d: %v", t.mode, t.kind, way, cp.Number, bad)
	default:
		t.sum["whole "+t.mode]++
		t.whole = append(t.whole, cp.Number)
	}
}

// inPlace kills the bank, which leaves what it has beside the database, and restores
// an older checkpoint over it; in half of the rounds then back again.
func (t *teller) inPlace(ctx context.Context) error {
	if err := t.bank.stop(true); err != nil {
		return err
	}
	if len(t.whole) > 0 {
		n := t.whole[max(0, len(t.whole)-1-t.rnd.Intn(6))]
		if err := t.goTo(ctx, n); err != nil {
			return err
		}
	}
	var err error
	t.bank, err = startBank(t.db(), t.mode)
	return err
}

func (t *teller) goTo(ctx context.Context, n int64) error {
	t.sum["in place"]++
	for _, f := range []string{"-wal", "-shm", "-journal"} {
		if _, err := os.Stat(t.db() + f); err == nil {
			t.sum["in place over a "+f]++
		}
	}
	_, res, err := returnbed.PlanAndApply(ctx, t.shop.Svc, retake.PlanRequest{Workspace: t.ws, Course: retake.CourseRestore, Ref: strconv.FormatInt(n, 10)})
	if err != nil {
		return err
	}
	if len(res.Failed) > 0 {
		return fmt.Errorf("in place: %v", res.Failed)
	}
	if t.rnd.Intn(2) == 0 {
		if _, res, err = returnbed.PlanAndApply(ctx, t.shop.Svc, retake.PlanRequest{Workspace: t.ws, Course: retake.CourseRestore, Ref: string(res.Safety.ID)}); err != nil {
			return err
		}
		t.sum["and back again"]++
	}
	if err := audit(t.db()); err != nil {
		t.v.Fail("%s on %s, restored %d in place: %v", t.mode, t.kind, n, err)
	}
	return nil
}

// control copies the files one after the other, as they are listed.
func (t *teller) control(n int) error {
	for i := range n {
		to := fmt.Sprintf("%s/copy%d", t.dir, i)
		if err := os.Mkdir(to, 0o755); err != nil {
			return err
		}
		for _, f := range []string{"", "-wal", "-shm", "-journal"} {
			if b, err := os.ReadFile(t.db() + f); err == nil {
				if err := os.WriteFile(filepath.Join(to, "bank.db"+f), b, 0o644); err != nil {
					return err
				}
			}
		}
		if bad := audit(to + "/bank.db"); bad != nil {
			t.v.Caught++
			t.sum["copies broken in "+t.mode]++
		}
		if err := os.RemoveAll(to); err != nil {
			return err
		}
	}
	return nil
}
