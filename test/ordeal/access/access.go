//go:build linux

// Package access restores trees whose files have owners, modes, access control lists, capabilities
// and attributes, on every kind of mount, and asks the kernel who may do what with them: nothing
// differs, or a warning names it, and nobody may do more than before.
package access

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/returnbed"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

func init() { harness.Register("ACCESS", accessComesBack) }

func accessComesBack(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{
		Guarantee: "ACCESS", What: "owners, modes, access control lists, capabilities and attributes come back, and nobody may do more than before",
		Control: "an access control list is removed after the restore", Detail: map[string]any{},
	}
	if os.Getuid() != 0 {
		v.Detail["skipped"] = "mounts and owners need root"
		return []harness.Verdict{v}
	}
	for i, m := range mounts {
		t := &trial{r: r, v: &v, rnd: rand.New(rand.NewSource(r.Seed*100 + int64(i)))}
		before := v.Tried
		err := t.run(m, r.Figure(4, 60))
		if errors.Is(err, errUnknownMount) {
			v.Detail[m.name] = err.Error()
			continue
		}
		if err != nil {
			v.Fail("%s: %v", m.name, err)
		}
		v.Detail[m.name] = fmt.Sprintf("%d restores", v.Tried-before)
	}
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// trial is a workspace on one kind of mount.
type trial struct {
	r    *harness.Run
	v    *harness.Verdict
	rnd  *rand.Rand
	base uint32 // of the ids of users
	root string
	shop *treebed.Shop
	ws   retake.WorkspaceID
}

func (t *trial) run(m mount, rounds int) error {
	ctx := context.Background()
	var err error
	if t.shop, err = treebed.NewShop(t.r, ctx, harness.Derivation); err != nil {
		return err
	}
	defer t.shop.End()
	place, at, err := m.make(t.r, t.shop.Data)
	if err != nil {
		return err
	}
	defer place.End()
	t.base, t.root = m.base, filepath.Join(at, "work")
	if err := os.MkdirAll(t.root, 0o755); err != nil {
		return err
	}
	if err := t.grow(); err != nil {
		return fmt.Errorf("make the tree: %w", err)
	}
	res, err := t.shop.Svc.Init(ctx, retake.InitRequest{Dir: t.root})
	if err != nil {
		return err
	}
	t.ws = res.Workspace.ID
	for i := range rounds {
		if err := t.goBack(ctx, m, i); err != nil {
			return fmt.Errorf("round %d: %w", i, err)
		}
	}
	return t.forkToPoorPlace(ctx)
}

// look is all that can be seen of the tree.
type look struct {
	shape  returnbed.Shape
	access map[string]string
}

func (t *trial) look() (look, error) {
	shape, err := returnbed.ShapeOf(t.root)
	if err != nil {
		return look{}, err
	}
	access, err := rightsIn(t.root, slices.Collect(maps.Keys(shape)), t.base)
	return look{shape, access}, err
}

// save changes the tree and saves it.
func (t *trial) save(ctx context.Context) (ref string, want look, err error) {
	if err := t.change(6); err != nil {
		return "", want, err
	}
	saved, err := t.shop.Svc.Save(ctx, retake.SaveRequest{Workspace: t.ws})
	if err != nil {
		return "", want, err
	}
	want, err = t.look()
	return strconv.FormatInt(saved.Checkpoint.Number, 10), want, err
}

// goBack saves, changes the tree at random, and goes back.
func (t *trial) goBack(ctx context.Context, m mount, round int) error {
	ref, want, err := t.save(ctx)
	if err != nil {
		return err
	}
	if err := t.change(12); err != nil {
		return err
	}
	t.v.Tried++
	_, res, err := returnbed.PlanAndApply(ctx, t.shop.Svc, retake.PlanRequest{Workspace: t.ws, Course: retake.CourseRestore, Ref: ref})
	if err != nil || len(res.Failed) > 0 {
		t.v.Fail("%s: restore: %v, failed %v", m.name, err, res.Failed)
		return nil
	}
	got, err := t.look()
	if err != nil {
		return err
	}
	if bad := want.shape.Unlike(got.shape, returnbed.Nobody, returnbed.Nobody); len(bad) > 0 {
		t.v.Fail("%s, round %d: %d paths differ: %.600s", m.name, round, len(bad), strings.Join(bad, "; "))
	}
	if wider := widerRights(want.access, got.access); len(wider) > 0 {
		t.v.Fail("%s, round %d: more is allowed: %.600s", m.name, round, strings.Join(wider, "; "))
	}
	return t.control(want)
}

// control removes a list behind the back of the comparison.
func (t *trial) control(want look) error {
	path, err := t.stripACL()
	if err != nil || path == "" {
		return err
	}
	got, err := t.look()
	if err == nil && !want.shape.Is(got.shape) {
		t.v.Caught++
	}
	return err
}

// forkToPoorPlace forks to a file system without lists and attributes.
func (t *trial) forkToPoorPlace(ctx context.Context) error {
	place := &treebed.Place{}
	defer place.End()
	at := t.r.Scratch("ramfs")
	if err := place.Mount("ramfs", at, "ramfs", 0, ""); err != nil {
		return err
	}
	ref, want, err := t.save(ctx)
	if err != nil {
		return err
	}
	t.v.Tried++
	fork := filepath.Join(at, "fork")
	res, err := t.shop.Svc.Fork(ctx, retake.ForkRequest{Workspace: t.ws, Ref: ref, Dir: fork, Throwaway: true})
	if err != nil {
		t.v.Fail("fork without lists: %v", err)
		return nil
	}
	got, err := rightsIn(fork, slices.Collect(maps.Keys(want.access)), t.base)
	if err != nil {
		return err
	}
	if wider := widerRights(want.access, got); len(wider) > 0 {
		t.v.Fail("a fork without lists allows more: %.600s", strings.Join(wider, "; "))
	}
	if !slices.ContainsFunc(res.Warnings, func(w retake.Warning) bool { return w.Code == "acl" }) {
		t.v.Fail("a fork without lists does not say so: %v", res.Warnings)
	}
	return nil
}
