//go:build linux

package g8

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

func init() { harness.Register("G8-compat", stockCompat) }

// stockCompat lets a stock program verify, list, restore and maintain our store.
func stockCompat(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{Guarantee: "G8", What: "a stock kopia verifies, restores and maintains the store", Control: "bytes that nothing names, then a byte flipped in each pack", Detail: map[string]any{}}
	c := compat{r: r, v: &v, rnd: rand.New(rand.NewSource(r.Seed + 200)), number: map[retake.WorkspaceID]int64{}}
	if err := c.try(r.Figure(8, 30)); err != nil {
		v.Fail("%v", err)
	}
	return []harness.Verdict{v}
}

type compat struct {
	r      *harness.Run
	v      *harness.Verdict
	rnd    *rand.Rand
	shop   *treebed.Shop
	stock  *stockTool
	roots  map[retake.WorkspaceID]string // of plain trees
	odd    string                        // the tree with everything in it
	oddWS  retake.WorkspaceID
	number map[retake.WorkspaceID]int64
	orphan retake.ObjectID
	state  map[string][]byte
}

func (c *compat) try(n int) error {
	ctx := context.Background()
	place, err := treebed.NewPlace(c.r, "disk")
	if err != nil {
		return err
	}
	defer place.End()
	if c.shop, err = treebed.NewShop(c.r, ctx, kopia.UserDerivation); err != nil {
		return err
	}
	defer c.shop.End()
	if err := c.fill(ctx, place.Dir, n); err != nil {
		return err
	}
	if err := c.sealState(ctx); err != nil {
		return err
	}
	if err := c.shop.Close(); err != nil {
		return err
	}
	if c.stock, err = connectStock(c.r, c.shop.Data); err != nil {
		return err
	}
	c.v.Tried++
	if _, err := c.stock.do("snapshot", "verify", "--verify-files-percent=100"); err != nil {
		c.v.Fail("verify: %v", err)
	}
	for _, step := range []func() error{c.restoreAll, c.maintain, func() error { return c.readBack(ctx) }, func() error { return c.flipAll(ctx) }} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// fill protects n plain trees and one odd one, and saves each a few times.
func (c *compat) fill(ctx context.Context, dir string, n int) error {
	c.roots = map[retake.WorkspaceID]string{}
	for i := range n + 1 {
		root := fmt.Sprintf("%s/t%d", dir, i)
		s := &treebed.Sower{Rnd: rand.New(rand.NewSource(c.rnd.Int63())), Root: root, Aside: dir + "/aside", Plain: i < n}
		if err := s.Sow(80); err != nil {
			return err
		}
		if s.Big(); s.Err != nil {
			return s.Err
		}
		res, err := c.shop.Svc.Init(ctx, retake.InitRequest{Dir: root})
		if err != nil {
			return err
		}
		ws := res.Workspace.ID
		for range 2 {
			if err := os.WriteFile(fmt.Sprintf("%s/later%d", root, c.rnd.Intn(9)), s.Bytes(3000), 0o640); err != nil {
				return err
			}
			if res, err = c.shop.Svc.Save(ctx, retake.SaveRequest{Workspace: ws}); err != nil {
				return err
			}
		}
		if c.number[ws] = res.Checkpoint.Number; i < n {
			c.roots[ws] = root
		} else {
			c.odd, c.oddWS = root, ws
		}
	}
	return nil
}

// sealState seals one more checkpoint of the odd tree, with state, and beside it
// writes bytes that nothing names.
func (c *compat) sealState(ctx context.Context) error {
	st, err := c.shop.View(ctx)
	if err != nil {
		return err
	}
	leaf, err := st.Record(ctx, c.oddWS, c.number[c.oddWS])
	if err != nil {
		return err
	}
	head, err := st.Head(ctx, c.oddWS)
	if err != nil {
		return err
	}
	w, err := st.Begin(ctx, head.Workspace)
	if err != nil {
		return err
	}
	b := make([]byte, 300<<10)
	_, _ = c.rnd.Read(b) // never fails
	c.state = map[string][]byte{"transcript": b[:200<<10], "empty": {}, "small": []byte("{}")}
	if c.orphan, _, err = w.WriteFile(ctx, "orphan", strings.NewReader(string(b[200<<10:]))); err == nil {
		card := leaf.Card
		card.Checkpoint.Number++
		card.Checkpoint.Parent, card.Checkpoint.ID = card.Checkpoint.ID, retake.CheckpointID(retake.CheckpointPrefix+uuid.NewString())
		card.Checkpoint.Time = time.Now()
		err = w.Seal(ctx, store.SealRequest{Card: card, Files: leaf.Files, State: c.state})
		c.number[c.oddWS]++
	}
	return errors.Join(err, w.Close())
}

// lines answers the newest root of every line, as the program lists it.
func (c *compat) lines() (map[retake.WorkspaceID]string, error) {
	out, err := c.stock.do("snapshot", "list", "--all", "--json")
	if err != nil {
		return nil, err
	}
	var all []stockSnapshot
	if err := json.Unmarshal(out, &all); err != nil {
		return nil, err
	}
	roots, seqs := map[retake.WorkspaceID]string{}, map[retake.WorkspaceID]string{}
	for _, s := range all {
		ws, seq := retake.WorkspaceID(s.Source.User), s.Tags["tag:seq"]
		if len(seq) > len(seqs[ws]) || len(seq) == len(seqs[ws]) && seq > seqs[ws] {
			roots[ws], seqs[ws] = s.Root.Object, seq
		}
	}
	return roots, nil
}

// restoreAll restores the newest checkpoint of each plain tree, which must be
// equal in all but what stock never brings back, and looks what becomes of odd ones.
func (c *compat) restoreAll() error {
	roots, err := c.lines()
	if err != nil {
		return err
	}
	for ws, root := range c.roots {
		c.v.Tried++
		diffs, err := c.restore(roots[ws], ws, root)
		if err != nil {
			return err
		}
		if len(diffs) > 0 {
			c.v.Fail("restore %s: %d differences: %s", root, len(diffs), strings.Join(diffs[:min(3, len(diffs))], "; "))
		}
	}
	if _, err := c.restore(roots[c.oddWS], c.oddWS, c.odd); err != nil {
		c.v.Detail["odd_restore"] = err.Error()
	}
	return nil
}

// maintain runs three full maintenances without any margin of safety, then puts
// the rules of the store back.
func (c *compat) maintain() error {
	steps := [][]string{
		{"maintenance", "set", "--owner=me", "--enable-full=true", "--enable-quick=true"},
		{"maintenance", "run", "--full", "--safety=none"}, {"maintenance", "run", "--full", "--safety=none"}, {"maintenance", "run", "--full", "--safety=none"},
		{"maintenance", "set", "--owner=retake@retake", "--enable-full=false", "--enable-quick=false"},
	}
	for _, s := range steps {
		c.v.Tried++
		if _, err := c.stock.do(s...); err != nil {
			return err
		}
		time.Sleep(1100 * time.Millisecond) // the engine dates deletions by the second
	}
	return nil
}

// readBack reads everything with our own code after the maintenance.
func (c *compat) readBack(ctx context.Context) error {
	if err := c.shop.Open(ctx); err != nil {
		return err
	}
	rep, err := c.shop.Svc.Scrub(ctx, retake.ScrubQuery{Share: 1})
	if err != nil {
		return err
	}
	c.v.Tried += rep.Checkpoints
	c.v.Detail["checkpoints"], c.v.Detail["objects"] = rep.Checkpoints, rep.Objects
	if want := int64(len(c.number)*3 + 1); rep.Checkpoints != want {
		c.v.Fail("%d checkpoints instead of %d", rep.Checkpoints, want)
	}
	for _, f := range rep.Failed {
		c.v.Fail("scrub: %s", f)
	}
	st, err := c.shop.View(ctx)
	if err != nil {
		return err
	}
	leaf, err := st.Record(ctx, c.oddWS, c.number[c.oddWS])
	if err != nil {
		return err
	}
	if len(leaf.State) != len(c.state) {
		c.v.Fail("%d state objects instead of %d", len(leaf.State), len(c.state))
	}
	for _, e := range leaf.State {
		sum, err := c.shop.Digest(ctx, e.Object)
		if err != nil || sum != sha256.Sum256(c.state[e.Name]) {
			c.v.Fail("state %s: other bytes: %v", e.Name, err)
		}
	}
	if f, err := st.File(ctx, c.orphan); errors.Is(err, store.ErrNotFound) {
		c.v.Caught++
	} else if err == nil {
		_, err = io.Copy(io.Discard, f)
		c.v.Detail["orphan"] = fmt.Sprintf("still there: %v", err)
	}
	return c.shop.Close()
}

// flipAll flips a byte in the middle of every pack; a scrub must see each.
func (c *compat) flipAll(ctx context.Context) error {
	packs, err := filepath.Glob(c.shop.Data + "/store/blobs/p*")
	if err != nil || len(packs) == 0 {
		return fmt.Errorf("no packs: %w", err)
	}
	slices.Sort(packs)
	seen := 0
	for _, p := range packs {
		i, err := os.Stat(p)
		if err != nil {
			return err
		}
		if err := treebed.Flip(p, i.Size()/3); err != nil {
			return err
		}
		if err := c.shop.Open(ctx); err != nil {
			return err
		}
		rep, err := c.shop.Svc.Scrub(ctx, retake.ScrubQuery{Share: 1})
		if len(rep.Failed) > 0 || err != nil {
			seen++
		}
		if err := errors.Join(c.shop.Close(), treebed.Flip(p, i.Size()/3)); err != nil {
			return err
		}
	}
	c.v.Caught += int64(seen)
	c.v.Detail["packs"], c.v.Detail["flips_seen"] = len(packs), seen
	return nil
}
