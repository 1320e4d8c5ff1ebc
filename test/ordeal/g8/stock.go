//go:build linux

package g8

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

func init() { harness.Register("G8-stock", stockIDs) }

// stockIDs holds our tree ids against those that a stock program computes by its
// own scan of the same directories, and against Prove.
func stockIDs(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "G8", What: "the tree id is the one that a stock kopia computes", Control: "one time changed after the save", Detail: map[string]any{}}
	s := idStall{r: r, v: &v, rnd: rand.New(rand.NewSource(r.Seed + 100))}
	if err := s.try(r.Figure(100, 300)); err != nil {
		v.Fail("%v", err)
	}
	return []harness.Verdict{v}
}

type idStall struct {
	r     *harness.Run
	v     *harness.Verdict
	rnd   *rand.Rand
	shop  *treebed.Shop
	stock *stockTool
	roots []string
	ours  map[string]retake.Checkpoint
}

func (s *idStall) try(n int) error {
	ctx := context.Background()
	place, err := treebed.NewPlace(s.r, "disk")
	if err != nil {
		return err
	}
	defer place.End()
	if s.shop, err = treebed.NewShop(s.r, ctx, kopia.UserDerivation); err != nil { // a stock program knows no cheap derivation
		return err
	}
	defer s.shop.End()
	s.ours = map[string]retake.Checkpoint{}
	for i := range n {
		root := fmt.Sprintf("%s/t%d", place.Dir, i)
		w := &treebed.Sower{Rnd: rand.New(rand.NewSource(s.rnd.Int63())), Root: root, Aside: place.Dir + "/aside", Plain: true}
		if err := w.Sow(10 + w.Rnd.Intn(60)); err != nil {
			return err
		}
		if i%10 == 0 {
			w.Big()
		}
		s.roots = append(s.roots, root)
	}
	s.modules(place.Dir + "/modules")
	if err := s.protect(ctx); err != nil {
		return err
	}
	if s.stock, err = connectStock(s.r, s.shop.Data); err != nil {
		return err
	}
	if err := s.hold(ctx); err != nil {
		return err
	}
	return s.blind(s.roots[:5])
}

// modules makes one real tree of a package manager, when there is one.
func (s *idStall) modules(dir string) {
	s.v.Detail["node_modules"] = 0
	if err := os.MkdirAll(dir, 0o755); err != nil {
		s.v.Detail["node_modules_not"] = err.Error()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "express@4", "typescript@5")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		s.v.Detail["node_modules_not"] = fmt.Sprintf("npm: %v: %.300s", err, out)
		return
	}
	s.v.Detail["node_modules"] = 1
	s.roots = append(s.roots, dir)
}

func (s *idStall) protect(ctx context.Context) error {
	for _, root := range s.roots {
		res, err := s.shop.Svc.Init(ctx, retake.InitRequest{Dir: root})
		if err != nil {
			return err
		}
		s.ours[root] = res.Checkpoint
		if root == s.roots[len(s.roots)-1] {
			s.v.Detail["files_in_last"] = res.Checkpoint.Files
		}
	}
	return nil
}

// hold compares all ids; a few roots for each start of the program.
func (s *idStall) hold(ctx context.Context) error {
	proved := 0
	for at := 0; at < len(s.roots); at += 40 {
		some := s.roots[at:min(at+40, len(s.roots))]
		got, err := s.stock.snapshots(some)
		if err != nil {
			return err
		}
		for _, root := range some {
			cp := s.ours[root]
			s.v.Tried++
			if got[root] != string(cp.Tree) {
				s.v.Fail("%s: ours %s, stock %s", root, cp.Tree, got[root])
				continue
			}
			p, err := s.shop.Svc.Prove(ctx, cp.Workspace, strconv.FormatInt(cp.Number, 10))
			if err != nil || !p.Equal || len(p.Special) > 0 {
				s.v.Fail("%s: prove: equal %v, special %q: %v", root, p.Equal, p.Special, err)
				continue
			}
			proved++
		}
	}
	s.v.Detail["proved"] = proved
	return nil
}

func (s *idStall) blind(roots []string) error {
	for _, root := range roots {
		files, _, _, err := treebed.Pick(root)
		if err != nil {
			return err
		}
		if len(files) == 0 {
			continue
		}
		if err := treebed.SetTime(files[0], s.rnd.Int63n(1.5e18)); err != nil {
			return err
		}
	}
	got, err := s.stock.snapshots(roots)
	if err != nil {
		return err
	}
	for _, root := range roots {
		if got[root] != "" && got[root] != string(s.ours[root].Tree) {
			s.v.Caught++
		}
	}
	return nil
}
