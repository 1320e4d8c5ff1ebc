// Package g28 damages every file of a store, one at a time and in pairs: what does not need the
// damaged bytes is read exactly, what does is named, and what exists anywhere comes back.
package g28

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() { harness.Register("G28", damageStaysLocal) }

// page is how much of a file a bad sector takes.
const page = 4096

// damages are what happens to a file; other is the one it is exchanged with.
var damages = map[string]func(path, other string, rnd *rand.Rand) error{
	"flipped": func(path, _ string, rnd *rand.Rand) error {
		return change(path, func(b []byte) []byte { b[rnd.Intn(len(b))] ^= 1 << rnd.Intn(8); return b })
	},
	"zeroed": func(path, _ string, rnd *rand.Rand) error {
		return change(path, func(b []byte) []byte {
			at := rnd.Intn(len(b)) / page * page
			clear(b[at:min(at+page, len(b))])
			return b
		})
	},
	"cut": func(path, _ string, rnd *rand.Rand) error {
		return change(path, func(b []byte) []byte { return b[:rnd.Intn(len(b))] })
	},
	"gone": func(path, _ string, _ *rand.Rand) error { return os.Remove(path) },
	"exchanged": func(path, other string, _ *rand.Rand) error {
		if err := os.Rename(path, path+".x"); err != nil {
			return err
		}
		return errors.Join(os.Rename(other, path), os.Rename(path+".x", other))
	},
}

// change gives a file other bytes. The old ones may be shared by a link, so it is made anew.
func change(path string, f func([]byte) []byte) error {
	b, err := os.ReadFile(path)
	if err != nil || len(b) == 0 {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return os.WriteFile(path, f(slices.Clone(b)), 0o600)
}

// harm is one damage of one file.
type harm struct{ file, how, other string }

func (h harm) String() string { return h.file + " " + h.how }

func damageStaysLocal(r *harness.Run) []harness.Verdict {
	v := harness.Verdict{
		Guarantee: "G28", What: "damage in one file of the store, or in two, stays local, is named, and is repaired from what exists",
		Control: "the same damages of metadata without its second copy", Detail: map[string]any{},
	}
	o, err := fill(r)
	if err != nil {
		v.Fail("fill a store: %v", err)
		return []harness.Verdict{v}
	}
	g := &trial{r: r, o: o, v: &v, counts: map[string]int{}}
	singles := o.harms("blobs")
	rnd := rand.New(rand.NewSource(r.Seed))
	rnd.Shuffle(len(singles), func(i, j int) { singles[i], singles[j] = singles[j], singles[i] })
	singles = singles[:min(r.Figure(120, len(singles)), len(singles))]
	harness.Share(len(singles), func(i int) { g.try(i, singles[i:i+1]) })
	all := append(o.harms("blobs"), append(o.harms("copies"), o.harms("keys")...)...)
	pairs := make([][]harm, r.Figure(60, 2000))
	for i := range pairs {
		pairs[i] = []harm{all[rnd.Intn(len(all))], all[rnd.Intn(len(all))]}
	}
	harness.Share(len(pairs), func(i int) { g.try(len(singles)+i, pairs[i]) })
	v.Caught = g.control(singles[:min(len(singles), r.Figure(40, 400))])
	for name, n := range g.counts {
		v.Detail[name] = n
	}
	v.Detail["files"], v.Detail["single damages"], v.Detail["pairs"] = len(o.harms("blobs"))/len(damages), len(singles), len(pairs)
	v.Detail["checkpoints"] = workspaces * checkpoints
	return []harness.Verdict{v}
}

// harms lists every damage of every file in a directory of the store.
func (o *oracle) harms(dir string) []harm {
	entries, err := os.ReadDir(filepath.Join(o.dir, dir))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.Name() != "intact" && e.Name() != ".shards" {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	var out []harm
	for i, n := range names {
		for how := range damages {
			out = append(out, harm{n, how, names[(i+1)%len(names)]})
		}
	}
	slices.SortFunc(out, func(a, b harm) int { return strings.Compare(a.String(), b.String()) })
	return out
}

type trial struct {
	r  *harness.Run
	o  *oracle
	mu sync.Mutex
	v  *harness.Verdict // guarded by mu, as is counts

	counts map[string]int
}

func (g *trial) fail(format string, a ...any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.v.Fail(format, a...)
}

func (g *trial) count(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.counts[name]++
}

// try damages a copy of the store and looks what is left.
func (g *trial) try(i int, harms []harm) {
	ctx, rnd := context.Background(), rand.New(rand.NewSource(g.r.Seed*1_000_003+int64(i)))
	dir, err := g.place(harms, rnd)
	defer os.RemoveAll(filepath.Dir(dir)) //nolint:errcheck // scratch
	if err != nil {
		return // the second damage hit what the first took away
	}
	g.mu.Lock()
	g.v.Tried++
	g.mu.Unlock()
	s, err := kopia.Open(ctx, options(dir, filepath.Join(filepath.Dir(dir), "locks")))
	both := hitsBothCopies(harms)
	if err != nil {
		if both && errors.Is(err, store.ErrDamaged) {
			g.count("both copies of one file: the store does not open, and says so")
			return
		}
		g.fail("%v: open: %v", harms, err)
		return
	}
	defer s.Close() //nolint:errcheck // scratch
	bad := g.readAll(ctx, s, harms, both)
	if both {
		if len(bad) > 0 {
			g.count("both copies of one file: checkpoints are lost, and named")
		}
		return
	}
	if len(bad) > 0 {
		g.count("damages of files, named")
		g.checkNamed(ctx, s, harms, bad)
		g.repair(ctx, s, harms)
	}
}

// place makes the damaged copy.
func (g *trial) place(harms []harm, rnd *rand.Rand) (string, error) {
	top := harness.FastDir(g.r, "g28")
	dir := filepath.Join(top, "store")
	if err := os.MkdirAll(filepath.Join(top, "locks"), 0o700); err != nil {
		return dir, err
	}
	if err := os.CopyFS(dir, os.DirFS(g.o.dir)); err != nil {
		return dir, err
	}
	for _, h := range harms {
		if err := damages[h.how](filepath.Join(dir, h.file), filepath.Join(dir, h.other), rnd); err != nil {
			return dir, err
		}
	}
	return dir, nil
}

// hitsBothCopies reports whether two damages hit a file and its copy.
func hitsBothCopies(harms []harm) bool {
	if len(harms) < 2 {
		return false
	}
	touched := func(h harm) []string {
		out := []string{h.file}
		if h.how == "exchanged" {
			out = append(out, h.other)
		}
		return out
	}
	for _, a := range touched(harms[0]) {
		for _, b := range touched(harms[1]) {
			if a != b && filepath.Base(a) == filepath.Base(b) {
				return true
			}
		}
	}
	return false
}

// packs are the packs of files that were damaged.
func packs(harms []harm) map[string]bool {
	out := map[string]bool{}
	for _, h := range harms {
		for _, f := range []string{h.file, h.other} {
			if f == h.other && h.how != "exchanged" {
				continue
			}
			if dir, name := filepath.Split(f); dir == "blobs/" && strings.HasPrefix(name, "p") {
				out[name] = true
			}
		}
	}
	return out
}

type where struct {
	ws     retake.WorkspaceID
	number int64
}

// readAll reads every checkpoint, and returns those that are damaged.
func (g *trial) readAll(ctx context.Context, s store.Store, harms []harm, both bool) map[where]bool {
	bad, hit, rd := map[where]bool{}, packs(harms), newReader(s)
	for _, ws := range g.o.ids {
		for n, want := range g.o.state[ws] {
			err := rd.check(ctx, ws, int64(n+1), want)
			switch {
			case errors.Is(err, errWrong):
				g.fail("%v: checkpoint %d: %v", harms, n+1, err)
			case err != nil && !both && !needs(want, hit):
				g.fail("%v: checkpoint %d does not need it: %v", harms, n+1, err)
			case err != nil && !errors.Is(err, store.ErrDamaged) && !(both && errors.Is(err, store.ErrNotFound)): // without its index nobody knows that it was there
				g.fail("%v: checkpoint %d: not called damage: %v", harms, n+1, err)
			case err != nil:
				bad[where{ws, int64(n + 1)}] = true
			}
		}
	}
	return bad
}

func needs(state map[string]*version, hit map[string]bool) bool {
	for _, v := range state {
		if hit[v.pack] {
			return true
		}
	}
	return false
}

// checkNamed wants a scrub to name exactly the damaged checkpoints.
func (g *trial) checkNamed(ctx context.Context, s *kopia.Store, harms []harm, bad map[where]bool) {
	rep, err := s.Scrub(ctx, retake.ScrubQuery{Share: 1})
	if err != nil {
		g.fail("%v: scrub: %v", harms, err)
		return
	}
	named := map[where]bool{}
	for _, d := range rep.Damaged {
		named[where{d.Workspace, d.Number}] = true
	}
	for w := range bad {
		if !named[w] {
			g.fail("%v: checkpoint %d is damaged and not named", harms, w.number)
		}
	}
	for w := range named {
		if !bad[w] {
			g.fail("%v: checkpoint %d is named and reads well", harms, w.number)
		}
	}
}

// repair writes the newest state of every workspace again, as the next saves do: all that needs
// nothing else is then whole.
func (g *trial) repair(ctx context.Context, s *kopia.Store, harms []harm) {
	if err := s.Maintain(ctx); err != nil {
		g.fail("%v: maintain: %v", harms, err)
		return
	}
	live := map[*version]bool{}
	for _, ws := range g.o.ids {
		newest := g.o.state[ws][checkpoints-1]
		for _, v := range newest {
			live[v] = true
		}
		if err := writeAgain(ctx, s, ws, newest); err != nil {
			g.fail("%v: write again: %v", harms, err)
			return
		}
	}
	hit, rd := packs(harms), newReader(s)
	for _, ws := range g.o.ids {
		for n, want := range g.o.state[ws] {
			lost := false
			for _, v := range want {
				lost = lost || hit[v.pack] && !live[v]
			}
			err := rd.check(ctx, ws, int64(n+1), want)
			if errors.Is(err, errWrong) || err != nil && !lost {
				g.fail("%v: after the repair: checkpoint %d: %v", harms, n+1, err)
			}
		}
	}
}

func writeAgain(ctx context.Context, s store.Store, ws retake.WorkspaceID, now map[string]*version) error {
	w, err := s.Begin(ctx, retake.Workspace{ID: ws, Name: "w", Root: "/w"})
	if err != nil {
		return err
	}
	_, err = writeFiles(ctx, w, now)
	if err == nil {
		err = w.Flush(ctx)
	}
	return errors.Join(err, w.Close())
}

// control counts the damages of metadata that lose something when there is no second copy.
func (g *trial) control(harms []harm) int64 {
	var caught int64
	var mu sync.Mutex
	ctx := context.Background()
	harness.Share(len(harms), func(i int) {
		h := harms[i]
		if strings.HasPrefix(filepath.Base(h.file), "p") {
			return
		}
		top := harness.FastDir(g.r, "g28")
		defer os.RemoveAll(top) //nolint:errcheck // scratch
		dir := filepath.Join(top, "store")
		err := os.CopyFS(dir, os.DirFS(g.o.dir))
		if err == nil {
			err = errors.Join(os.RemoveAll(filepath.Join(dir, "copies")), os.RemoveAll(filepath.Join(dir, "keys")), os.MkdirAll(filepath.Join(top, "locks"), 0o700))
		}
		if err == nil {
			err = damages[h.how](filepath.Join(dir, h.file), filepath.Join(dir, h.other), rand.New(rand.NewSource(int64(i))))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "control:", err)
			return
		}
		s, err := kopia.Open(ctx, options(dir, filepath.Join(top, "locks")))
		lost := err != nil
		if err == nil {
			rd := newReader(s)
			for _, ws := range g.o.ids {
				for n, want := range g.o.state[ws] {
					lost = lost || rd.check(ctx, ws, int64(n+1), want) != nil
				}
			}
			_ = s.Close() // scratch
		}
		if lost {
			mu.Lock()
			caught++
			mu.Unlock()
		}
	})
	return caught
}
