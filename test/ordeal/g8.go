//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

func init() { register("G8-trees", wholeTrees) }

// settleTime is longer than the window in which a capture trusts no time: trees
// that rested so long are taken over unread, which is the path to be tried.
const settleTime = 2200 * time.Millisecond

// wholeTrees captures generated trees on several file systems, compares every
// entry with the live tree, edits, captures and compares again.
func wholeTrees(r *run) []verdict {
	v := verdict{Guarantee: "G8", What: "a checkpoint is what was there, entry by entry", Control: "one attribute changed after the save", Detail: map[string]any{}}
	kinds := []string{"disk", "tmpfs", "xfs", "btrfs", "overlay"}
	each := r.figure(60, 400) / len(kinds)
	for i, kind := range kinds {
		g := grove{r: r, v: &v, kind: kind, rnd: rand.New(rand.NewSource(r.seed + int64(i)))}
		start := time.Now()
		if err := g.try(each); err != nil {
			v.fail("%s: %v", kind, err)
		}
		v.Detail[kind] = fmt.Sprintf("%d trees, %d entries compared, %.1f s", g.trees, g.entries, time.Since(start).Seconds())
	}
	return []verdict{v}
}

// grove is the trees on one file system.
type grove struct {
	r       *run
	v       *verdict
	kind    string
	rnd     *rand.Rand
	place   *place
	shop    *shop
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
	if g.place, err = g.r.newPlace(base); err != nil {
		return err
	}
	defer g.place.end()
	if g.shop, err = g.r.newShop(ctx, derivation); err != nil {
		return err
	}
	defer g.shop.end()
	for i := range n {
		p, err := g.sow(i)
		if err != nil {
			return fmt.Errorf("make tree %d: %w", i, err)
		}
		g.plots = append(g.plots, p)
	}
	time.Sleep(settleTime)
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
	p := &plot{root: g.place.dir + "/" + name}
	s := &sower{rnd: rand.New(rand.NewSource(g.rnd.Int63())), root: p.root, aside: g.place.dir + "/aside-" + name}
	if err := os.MkdirAll(p.root, 0o755); err != nil {
		return nil, err
	}
	switch i {
	case 1:
		s.deep(200)
	case 2:
		s.deep(4000)
		p.deep = true
	case 3:
		s.wide(g.wide())
	}
	if i%4 == 0 {
		s.big()
	}
	if err := s.sow(30 + s.rnd.Intn(90)); err != nil {
		return nil, err
	}
	if g.kind == "overlay" {
		var err error
		p.root, err = g.place.overlaid(p.root, name, i%2 == 1)
		return p, err
	}
	return p, nil
}

func (g *grove) wide() int {
	if g.kind == "disk" {
		return g.r.figure(20_000, 100_000)
	}
	return g.r.figure(2_000, 20_000)
}

// first protects a tree.
func (g *grove) first(ctx context.Context, p *plot) error {
	res, err := g.shop.svc.Init(ctx, retake.InitRequest{Dir: p.root})
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
	if err := churn(g.rnd, p.root, 1+g.rnd.Intn(12)); err != nil {
		return fmt.Errorf("edit: %w", err)
	}
	res, err := g.shop.svc.Save(ctx, retake.SaveRequest{Workspace: p.ws})
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
		g.v.fail("%s %s, %s: %d differences: %s", g.kind, p.root, when, len(diffs), strings.Join(diffs[:min(3, len(diffs))], "; "))
	}
	return nil
}

func (g *grove) differ(ctx context.Context, p *plot) ([]string, error) {
	live, err := scan(p.root)
	if err != nil {
		return nil, err
	}
	got, err := g.shop.read(ctx, p.last)
	if err != nil {
		return nil, err
	}
	g.entries += len(live)
	var allowed []retake.Reason
	if p.deep {
		allowed = append(allowed, retake.ReasonTooDeep)
	}
	gaps := p.last.Coverage.Gaps
	diffs := compare(live, got, gaps, allowed...)
	if p.deep && (len(gaps) != 1 || strings.Count(gaps[0].Path, "d/") < 200) {
		diffs = append(diffs, fmt.Sprintf("%d gaps for one path that is too deep", len(gaps)))
	}
	return append(diffs, g.shop.byService(ctx, p.last, got, 6)...), nil
}

// blind changes one attribute after the save: a comparison that does not see it
// would see no loss either.
func (g *grove) blind(ctx context.Context, p *plot) error {
	what, err := spoil(g.rnd, p.root)
	if err != nil || what == "" {
		return err
	}
	diffs, err := g.differ(ctx, p)
	if err != nil {
		return err
	}
	if len(diffs) == 0 {
		g.v.fail("%s %s: the comparison does not see another %s", g.kind, p.root, what)
		return nil
	}
	g.v.Caught++
	return nil
}
