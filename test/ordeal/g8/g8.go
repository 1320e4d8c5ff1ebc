//go:build linux

// Package g8 compares checkpoints with what was there, entry by entry, and with what a
// stock kopia reads and computes.
package g8

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

func init() { harness.Register("G8-trees", wholeTrees) }

// wholeTrees captures generated trees on several file systems, compares every
// entry with the live tree, edits, captures and compares again.
func wholeTrees(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "G8", What: "a checkpoint is what was there, entry by entry", Control: "one attribute changed after the save", Detail: map[string]any{}}
	kinds := []string{"disk", "tmpfs", "xfs", "btrfs", "overlay"}
	each := r.Figure(60, 400) / len(kinds)
	for i, kind := range kinds {
		g := grove{r: r, v: &v, kind: kind, rnd: rand.New(rand.NewSource(r.Seed + int64(i)))}
		start := time.Now()
		if err := g.try(each); err != nil {
			v.Fail("%s: %v", kind, err)
		}
		v.Detail[kind] = fmt.Sprintf("%d trees, %d entries compared, %.1f s", g.trees, g.entries, time.Since(start).Seconds())
	}
	return []harness.Verdict{v}
}

// grove is the trees on one file system.
type grove struct {
	r       *harness.Run
	v       *harness.Verdict
	kind    string
	rnd     *rand.Rand
	place   *treebed.Place
	shop    *treebed.Shop
	plots   []*plot
	trees   int
	entries int
}

// plot is one tree.
type plot struct {
	root string
	deep bool // deeper than a capture follows
	ws   retake.WorkspaceID
	last retake.Checkpoint
}

func (g *grove) try(n int) error {
	ctx := context.Background()
	base := g.kind
	if base == "overlay" {
		base = "disk"
	}
	var err error
	if g.place, err = treebed.NewPlace(g.r, base); err != nil {
		return err
	}
	defer g.place.End()
	if g.shop, err = treebed.NewShop(g.r, ctx, harness.Derivation); err != nil {
		return err
	}
	defer g.shop.End()
	for i := range n {
		p, err := g.sow(i)
		if err != nil {
			return fmt.Errorf("make tree %d: %w", i, err)
		}
		g.plots = append(g.plots, p)
	}
	time.Sleep(treebed.SettleTime)
	for _, step := range []func(context.Context, *plot) error{g.first, g.again, g.again, g.blind} {
		for _, p := range g.plots {
			if err := step(ctx, p); err != nil {
				return fmt.Errorf("%s: %w", p.root, err)
			}
		}
	}
	return nil
}

func (g *grove) sow(i int) (*plot, error) {
	name := fmt.Sprintf("t%d", i)
	p := &plot{root: g.place.Dir + "/" + name}
	s := &treebed.Sower{Rnd: rand.New(rand.NewSource(g.rnd.Int63())), Root: p.root, Aside: g.place.Dir + "/aside-" + name}
	if err := os.MkdirAll(p.root, 0o755); err != nil {
		return nil, err
	}
	switch i {
	case 1:
		s.Deep(200)
	case 2:
		s.Deep(4000)
		p.deep = true
	case 3:
		s.Wide(g.wide())
	}
	if i%4 == 0 {
		s.Big()
	}
	if err := s.Sow(30 + s.Rnd.Intn(90)); err != nil {
		return nil, err
	}
	if g.kind == "overlay" {
		var err error
		p.root, err = g.place.Overlaid(p.root, name, i%2 == 1)
		return p, err
	}
	return p, nil
}

func (g *grove) wide() int {
	if g.kind == "disk" {
		return g.r.Figure(20_000, 100_000)
	}
	return g.r.Figure(2_000, 20_000)
}

// first protects a tree.
func (g *grove) first(ctx context.Context, p *plot) error {
	res, err := g.shop.Svc.Init(ctx, retake.InitRequest{Dir: p.root})
	if err != nil {
		return err
	}
	p.ws, p.last = res.Workspace.ID, res.Checkpoint
	g.trees++
	g.v.Tried++
	return g.hold(ctx, p, "first")
}

// again edits a tree and saves it.
func (g *grove) again(ctx context.Context, p *plot) error {
	if err := treebed.Churn(g.rnd, p.root, 1+g.rnd.Intn(12)); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	res, err := g.shop.Svc.Save(ctx, retake.SaveRequest{Workspace: p.ws})
	if err != nil {
		return err
	}
	p.last = res.Checkpoint
	return g.hold(ctx, p, "after edits")
}

// hold compares the last checkpoint with the live tree; a tree with differences
// is one failure.
func (g *grove) hold(ctx context.Context, p *plot, when string) error {
	diffs, err := g.differ(ctx, p)
	if err != nil {
		return err
	}
	if len(diffs) > 0 {
		g.v.Fail("%s %s, %s: %d differences: %s", g.kind, p.root, when, len(diffs), strings.Join(diffs[:min(3, len(diffs))], "; "))
	}
	return nil
}

func (g *grove) differ(ctx context.Context, p *plot) ([]string, error) {
	live, err := treebed.Scan(p.root)
	if err != nil {
		return nil, err
	}
	got, err := g.shop.Read(ctx, p.last)
	if err != nil {
		return nil, err
	}
	g.entries += len(live)
	var allowed []retake.Reason
	if p.deep {
		allowed = append(allowed, retake.ReasonTooDeep)
	}
	gaps := p.last.Coverage.Gaps
	diffs := treebed.Compare(live, got, gaps, allowed...)
	if p.deep && (len(gaps) != 1 || strings.Count(gaps[0].Path, "d/") < 200) {
		diffs = append(diffs, fmt.Sprintf("%d gaps for one path that is too deep", len(gaps)))
	}
	return append(diffs, g.shop.ByService(ctx, p.last, got, 6)...), nil
}

// blind changes one attribute after the save: a comparison that does not see it
// would see no loss either.
func (g *grove) blind(ctx context.Context, p *plot) error {
	what, err := treebed.Spoil(g.rnd, p.root)
	if err != nil || what == "" {
		return err
	}
	diffs, err := g.differ(ctx, p)
	if err != nil {
		return err
	}
	if len(diffs) == 0 {
		g.v.Fail("%s %s: the comparison does not see another %s", g.kind, p.root, what)
		return nil
	}
	g.v.Caught++
	return nil
}
