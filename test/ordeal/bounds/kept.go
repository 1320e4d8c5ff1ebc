//go:build linux

package bounds

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/returnbed"
	"github.com/retake-dev/retake/test/ordeal/treebed"
)

// squeezePatience is how long room may take to be made.
const squeezePatience = 90 * time.Second

// squeezed fills the disk from elsewhere but for one pack. Saves are refused at the
// floor; room is made all the same, and then they are not refused any more.
func (b *bound) squeezed(v *harness.Verdict) error {
	ctx := context.Background()
	_, free, err := treebed.DiskOf(b.place.Dir)
	if err != nil {
		return err
	}
	if err := fallocated(filepath.Join(b.place.Dir, "filler"), free-onePack); err != nil {
		return err
	}
	if _, free, err = treebed.DiskOf(b.place.Dir); err != nil {
		return err
	}
	v.Detail["left_free_mb"] = free / 1e6
	v.Tried++
	if free >= b.floor {
		v.Fail("the disk was not filled: %d MB are free, the floor is %d MB", free/1e6, b.floor/1e6)
	}
	begun, refused := time.Now(), 0
	for {
		if err := b.edit(0); err != nil {
			return err
		}
		b.clock.Advance(time.Second)
		res, err := b.svc.Save(ctx, retake.SaveRequest{Workspace: b.ws})
		if err == nil {
			b.then[res.Checkpoint.Number] = b.versions
			break
		}
		if refused++; !retake.IsKind(err, retake.Limit) || time.Since(begun) > squeezePatience {
			v.Fail("no room was made in %v: %v", time.Since(begun), err)
			return nil
		}
		time.Sleep(100 * time.Millisecond) // somebody tries again
	}
	v.Detail["room_made_in_ms"], v.Detail["refused_meanwhile"] = time.Since(begun).Milliseconds(), refused
	if v.Tried++; refused == 0 {
		v.Fail("no save was refused below the floor")
	}
	return os.Remove(filepath.Join(b.place.Dir, "filler"))
}

// fallocated writes a file of that size; only real blocks count.
func fallocated(path string, size int64) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = unix.Fallocate(int(f.Fd()), 0, 0, size)
	return errors.Join(err, f.Sync(), f.Close())
}

// kept looks at what must be there, and restores some of what is.
func (b *bound) kept(v *harness.Verdict) error {
	ctx := context.Background()
	tl, err := b.svc.Log(ctx, retake.LogQuery{Workspace: b.ws})
	if err != nil {
		return err
	}
	there := map[int64]bool{}
	for _, cp := range tl.Checkpoints {
		there[cp.Number] = true
	}
	v.Detail["checkpoints_at_the_end"] = len(tl.Checkpoints)
	must := map[string]int64{"the start": 1, "the base of a fork": b.base}
	for name, n := range b.pinned {
		must[name] = n
	}
	for what, n := range must {
		if v.Tried++; !there[n] {
			v.Fail("%s, checkpoint %d, is gone", what, n)
		}
	}
	if v.Tried++; len(tl.Checkpoints) > len(b.then)*4/5 { // how many depends on when it was cleaned up
		v.Fail("%d of %d checkpoints are there: nothing was thinned", len(tl.Checkpoints), len(b.then))
	}
	if err := b.restores(ctx, v, tl.Checkpoints); err != nil {
		return err
	}
	rep, err := b.svc.Scrub(ctx, retake.ScrubQuery{Share: 1})
	if v.Tried++; err != nil || len(rep.Failed) > 0 {
		v.Fail("scrub: %v %v", err, rep.Failed)
	}
	return nil
}

const boundRestores = 20

// restores goes to some of the checkpoints, and reads the files back; all others are read
// from the store.
func (b *bound) restores(ctx context.Context, v *harness.Verdict, all []retake.Checkpoint) error {
	at := map[int64]bool{0: true, int64(len(all) - 1): true}
	for len(at) < min(boundRestores, len(all)) {
		at[b.rnd.Int63n(int64(len(all)))] = true
	}
	for i, cp := range all {
		want, ok := b.then[cp.Number]
		if !ok {
			continue
		}
		v.Tried++
		if err := b.holds(ctx, cp, want); err != nil {
			v.Fail("checkpoint %d: %v", cp.Number, err)
		}
		if !at[int64(i)] {
			continue
		}
		v.Tried++
		if _, _, err := returnbed.PlanAndApply(ctx, b.svc, retake.PlanRequest{Workspace: b.ws, Course: retake.CourseRestore, Ref: string(cp.ID)}); err != nil {
			v.Fail("restore %d: %v", cp.Number, err)
			continue
		}
		if wrong := b.unlike(want); len(wrong) > 0 {
			v.Fail("restore %d: %s", cp.Number, strings.Join(wrong, ", "))
		}
	}
	return nil
}

// holds reads one file of a checkpoint, another one each time.
func (b *bound) holds(ctx context.Context, cp retake.Checkpoint, want [boundFiles]int64) error {
	file := int(cp.Number % boundFiles)
	r, _, err := b.svc.Open(ctx, b.ws, string(cp.ID), fmt.Sprintf("file-%02d", file))
	if err != nil {
		return err
	}
	got, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err == nil && !bytes.Equal(got, words(file, want[file])) {
		err = fmt.Errorf("file %d has other bytes", file)
	}
	return err
}

// unlike names the files of the workspace that are not as they were.
func (b *bound) unlike(want [boundFiles]int64) []string {
	var out []string
	for i, version := range want {
		name := fmt.Sprintf("file-%02d", i)
		got, err := os.ReadFile(filepath.Join(b.root, name))
		if err != nil || !bytes.Equal(got, words(i, version)) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
