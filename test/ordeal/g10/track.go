//go:build linux

package g10

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() {
	harness.Register("G10-fanotify", func(r *harness.Run) []harness.Verdict {
		return untold(r, retake.TrackingFanotify, []portion{{"disk", 5}, {"xfs", 3}, {"tmpfs", 2}})
	})
	harness.Register("G10-inotify", func(r *harness.Run) []harness.Verdict {
		return untold(r, retake.TrackingInotify, []portion{{"disk", 4}, {"btrfs", 2}, {"overlay", 2}, {"tmpfs", 2}})
	})
}

// portion is how many tenths of the edits are made on a kind of place.
type portion struct {
	kind   string
	tenths int
}

// untold does the same to the assembly of the daemon, where a save looks only where
// the tracker told. After each round three are compared: what was saved, what a look
// at everything finds, and the files themselves.
func untold(r *harness.Run, mode retake.TrackingMode, shares []portion) []harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G10", What: "no edit is missed by the tracker, " + string(mode),
		Control: "a checkpoint that lacks one edit is found by the comparison", Detail: map[string]any{},
	}
	kinds := append(append(append([]editKind{}, plainEdits...), mapEdits...), treeEdits...)
	total := r.Figure(1_500, 50_000)
	for i, p := range shares {
		e := editor{r: r, v: &v, kind: p.kind, mode: mode, kinds: kinds, rnd: rand.New(rand.NewSource(r.Seed + 100 + int64(i))), by: map[string]int{}}
		start := time.Now()
		if err := e.try(total * p.tenths / 10); err != nil {
			v.Fail("%s: %v", p.kind, err)
		}
		v.Seconds += time.Since(start).Seconds()
		v.Detail[p.kind] = map[string]any{
			"edits": e.by, "rounds": e.rounds, "differences": e.missed,
			"looked_at_everything": e.track.Doubts, "told": e.track.Events,
		}
	}
	return []harness.Verdict{v}
}

// assembly is the daemon's when a tracker is asked for.
func (e *editor) assembly() assemble.Options {
	o := assemble.Options{Derivation: harness.Derivation}
	if e.mode != "" {
		o.Exclusive, o.Track = true, track.Options{Mode: e.mode, TrustUnreadable: true, DrainTime: time.Minute}
	}
	return o
}

// agree lets the service compare all files with what its tracker told.
func (e *editor) agree(ctx context.Context) error {
	if e.mode == "" {
		return nil
	}
	c, err := e.shop.Svc.CrossCheck(ctx, e.ws)
	if err != nil {
		return err
	}
	if len(c.Missed) > 0 {
		e.missed += len(c.Missed)
		e.v.Fail("%s round %d: not told of %v", e.kind, e.rounds, c.Missed[:min(3, len(c.Missed))])
	}
	st, err := e.shop.Svc.Status(ctx, e.ws)
	e.track = st.Tracking
	return err
}

// unseen is the control: the comparison must see that a save before an edit does not
// hold it, and a cross-check that no tracker told of it when none did.
func (e *editor) unseen(ctx context.Context) error {
	if e.mode == "" {
		return nil
	}
	res, err := e.shop.Svc.Save(ctx, retake.SaveRequest{Workspace: e.ws})
	if err != nil {
		return err
	}
	blind := editor{v: &harness.Verdict{}, root: e.root, shop: e.shop, kind: e.kind}
	if err := errors.Join(e.overwriteBack(e.file()), blind.hold(ctx, res.Checkpoint)); err != nil {
		return err
	}
	e.v.Caught += blind.v.Failed
	return nil
}

// treeEdits change directories as a whole, in a place of their own.
var treeEdits = []editKind{
	{"make directories and write at once", (*editor).makeTree}, {"rename a directory", (*editor).moveTree},
	{"delete a directory", (*editor).deleteTree}, {"more than a queue holds", (*editor).burst},
}

func (e *editor) tree() string { return fmt.Sprintf("%s/tree/t%d", e.root, e.rnd.Intn(5)) }

func (e *editor) makeTree(string) error {
	dir := fmt.Sprintf("%s/a%d/b/c", e.tree(), e.rnd.Intn(3))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(os.WriteFile(dir+"/f", e.noise(), 0o644), os.WriteFile(filepath.Dir(dir)+"/g", e.noise(), 0o644))
}

func (e *editor) moveTree(string) error {
	from, to := e.tree(), e.tree()
	if err := os.RemoveAll(to); err != nil || from == to {
		return err
	}
	if err := os.Rename(from, to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (e *editor) deleteTree(string) error { return os.RemoveAll(e.tree()) }

// burst makes more events than an inotify queue holds; rarely, because it takes long.
func (e *editor) burst(p string) error {
	if e.rnd.Intn(150) > 0 {
		return e.makeTree(p)
	}
	dir := e.root + "/burst"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range 9000 {
		if err := os.WriteFile(fmt.Sprintf("%s/%d", dir, i), nil, 0o644); err != nil {
			return err
		}
	}
	return os.RemoveAll(dir)
}
