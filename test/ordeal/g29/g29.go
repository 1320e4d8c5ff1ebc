// Package g29 lets stored bytes rot whose files still exist: the next save makes every checkpoint
// whole that needs them.
package g29

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("G29", healsBySaving) }

const (
	dirs        = 8
	filesPerDir = 8
	saves       = 5
)

func healsBySaving(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G29", What: "stored bytes that rot are intact again after the next save, where a file still has them",
		Control: "a save before anybody knows of the rot", Detail: map[string]any{},
	}
	wanted, rounds := int64(r.Figure(60, 500)), 0
	for ; v.Tried < wanted && rounds < 200; rounds++ {
		if err := round(r, rounds, &v); err != nil {
			v.Fail("round %d: %v", rounds, err)
			break
		}
	}
	v.Detail["workspaces"] = rounds
	return []harness.Verdict{v}
}

// bed is one workspace and what each of its checkpoints must hold.
type bed struct {
	root, data string
	svc        *service.Service
	ws         retake.Workspace
	rnd        *rand.Rand
	now        map[string]string
	was        map[int64]map[string]string // by number
}

// round lets packs of one workspace rot. Every object that rots and still has its file is a try.
func round(r *harness.Run, n int, v *harness.Verdict) (err error) {
	ctx := context.Background()
	b := &bed{root: harness.FastDir(r, "g29-ws"), data: harness.FastDir(r, "g29-data"), rnd: rand.New(rand.NewSource(r.Seed*7919 + int64(n))), now: map[string]string{}, was: map[int64]map[string]string{}}
	defer func() { err = errors.Join(err, os.RemoveAll(b.root), os.RemoveAll(b.data)) }()
	if err := b.fill(ctx); err != nil {
		return err
	}
	if err := b.rot(); err != nil {
		return err
	}
	if err := b.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.svc.Close()) }()
	if n%2 == 0 {
		if err := b.edit(3); err != nil {
			return err
		}
	}
	if err := b.save(ctx, false); err != nil { // nobody knows of the rot yet
		return err
	}
	found, err := b.svc.Scrub(ctx, retake.ScrubQuery{Share: 1})
	if err != nil {
		return err
	}
	rotten := b.rottenTexts(found.Damaged)
	v.Tried += int64(len(rotten))
	v.Caught += int64(len(rotten))
	if err := b.save(ctx, n%3 == 0); err != nil {
		return err
	}
	after, err := b.svc.Scrub(ctx, retake.ScrubQuery{Share: 1})
	if err != nil {
		return err
	}
	for text, path := range b.rottenTexts(after.Damaged) {
		v.Fail("round %d: %s is still damaged: %.40q", n, path, text)
	}
	return b.compareNewest(ctx, v)
}

// rottenTexts are the damaged contents that the workspace still has, with the paths they have
// there.
func (b *bed) rottenTexts(damaged []retake.DamagedPath) map[string]string {
	live := map[string]string{}
	for path, text := range b.now {
		live[text] = path
	}
	out := map[string]string{}
	for _, d := range damaged {
		text, known := b.was[d.Number][d.Path]
		if path, ok := live[text]; known && ok {
			out[text] = path
		}
	}
	return out
}

func (b *bed) open(ctx context.Context) error {
	set, err := config.Load(filepath.Join(b.data, "config.json"))
	if err != nil {
		return err
	}
	c := config.Config{DataDir: filepath.Join(b.data, "data"), Home: "/nobody", BootID: "this run"}
	b.svc, err = assemble.OpenService(ctx, c, set, assemble.Options{Derivation: harness.Derivation, Exclusive: true})
	return err
}

// fill makes the workspace and its checkpoints.
func (b *bed) fill(ctx context.Context) error {
	if err := b.open(ctx); err != nil {
		return err
	}
	if err := b.edit(dirs * filesPerDir); err != nil {
		return err
	}
	res, err := b.svc.Init(ctx, retake.InitRequest{Dir: b.root})
	if err != nil {
		return err
	}
	b.ws = res.Workspace
	b.note(res.Checkpoint.Number)
	for range saves {
		if err := b.edit(12); err != nil {
			return err
		}
		if err := b.save(ctx, true); err != nil {
			return err
		}
	}
	return b.svc.Close()
}

// edit writes files.
func (b *bed) edit(n int) error {
	for i := range n {
		if n < dirs*filesPerDir {
			i = b.rnd.Intn(dirs * filesPerDir)
		}
		path := fmt.Sprintf("d%d/f%d", i%dirs, i/dirs)
		b.now[path] = fmt.Sprintf("%s %d %s", path, b.rnd.Int63(), strings.Repeat(fmt.Sprint(b.rnd.Int63()), 1+b.rnd.Intn(60)))
		file := filepath.Join(b.root, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(b.now[path]), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

func (b *bed) save(ctx context.Context, always bool) error {
	res, err := b.svc.Save(ctx, retake.SaveRequest{Workspace: b.ws.ID, IfChanged: !always})
	if err == nil {
		b.note(res.Checkpoint.Number)
	}
	return err
}

func (b *bed) note(number int64) {
	state := make(map[string]string, len(b.now))
	for p, t := range b.now {
		state[p] = t
	}
	b.was[number] = state
}

// rot damages half of the packs of files.
func (b *bed) rot() error {
	packs, err := filepath.Glob(filepath.Join(b.data, "data/store/blobs/p*"))
	if err != nil {
		return err
	}
	for _, p := range packs {
		if b.rnd.Intn(2) == 0 {
			continue
		}
		bytes, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		switch at := b.rnd.Intn(len(bytes)); b.rnd.Intn(4) {
		case 0:
			bytes[at] ^= 1
		case 1:
			clear(bytes[at/4096*4096:])
		case 2:
			bytes = bytes[:at]
		default:
			if err := os.Remove(p); err != nil {
				return err
			}
			continue
		}
		if err := os.WriteFile(p, bytes, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// compareNewest restores the newest checkpoint elsewhere and compares every byte.
func (b *bed) compareNewest(ctx context.Context, v *harness.Verdict) error {
	dir := filepath.Join(b.data, "fork")
	if _, err := b.svc.Fork(ctx, retake.ForkRequest{Workspace: b.ws.ID, Ref: "latest", Dir: dir}); err != nil {
		v.Fail("the newest checkpoint cannot be restored: %v", err)
		return nil
	}
	for path, want := range b.now {
		if got, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(got) != want {
			v.Fail("%s was restored as %.40q: %v", path, got, err)
		}
	}
	return nil
}
