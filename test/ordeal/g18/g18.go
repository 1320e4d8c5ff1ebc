// Package g18 steps the clock and reclaims space while many processes save to one store.
package g18

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/test/ordeal/harness"
)

func init() {
	harness.Register("G18-reclaim", reclaim)
	harness.Register("G18-clock", clockSteps)
}

// line is a made-up workspace whose checkpoints are sealed straight into a store:
// a few hundred files in eight directories, ten of them edited each time.
type line struct {
	ws    retake.Workspace
	rnd   *rand.Rand
	files [8][]retake.Entry
	want  map[int64]retake.ObjectID // number to tree, of those that must be there
	next  int64
}

func newLine(seed int64) *line {
	id := retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString())
	return &line{ws: retake.Workspace{ID: id, Name: "line", Root: "/line"}, rnd: rand.New(rand.NewSource(seed)), want: map[int64]retake.ObjectID{}, next: 1}
}

func text(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%x ", r.Int63())
	}
	return b.String()[:n]
}

// seal edits and seals one checkpoint with a state object.
func (l *line) seal(ctx context.Context, w store.Writer, at time.Time) error {
	edits := 10
	if l.next == 1 {
		edits = 240
	}
	for i := range edits {
		d, name := l.rnd.Intn(8), fmt.Sprintf("f%d", l.rnd.Intn(30))
		if l.next == 1 {
			d, name = i%8, fmt.Sprintf("f%d", i/8)
		}
		body := text(l.rnd, 2000+l.rnd.Intn(4000))
		id, n, err := w.WriteFile(ctx, name, strings.NewReader(body))
		if err != nil {
			return err
		}
		e := retake.Entry{Name: name, Kind: retake.KindFile, Mode: 0o644, Size: n, ModTime: at.UnixNano(), Object: id}
		l.put(d, e)
	}
	return l.sealTree(ctx, w, at)
}

func (l *line) put(d int, e retake.Entry) {
	for i := range l.files[d] {
		if l.files[d][i].Name == e.Name {
			l.files[d][i] = e
			return
		}
	}
	l.files[d] = append(l.files[d], e)
}

func (l *line) sealTree(ctx context.Context, w store.Writer, at time.Time) error {
	var root []retake.Entry
	for d := range l.files {
		id, sum, err := w.WriteDir(ctx, l.files[d], at.UnixNano())
		if err != nil {
			return err
		}
		root = append(root, retake.Entry{Name: fmt.Sprintf("d%d", d), Kind: retake.KindDir, Mode: 0o755, ModTime: at.UnixNano(), Object: id, Sum: sum})
	}
	id, sum, err := w.WriteDir(ctx, root, at.UnixNano())
	if err != nil {
		return err
	}
	files := retake.Entry{Kind: retake.KindDir, Mode: 0o755, ModTime: at.UnixNano(), Object: id, Sum: sum}
	cp := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: l.ws.ID, Number: l.next, Time: at, Tree: id, Trigger: retake.TriggerManual}
	err = w.Seal(ctx, store.SealRequest{Card: retake.Card{V: 1, Checkpoint: cp}, Files: files, State: map[string][]byte{"turn.json": []byte(text(l.rnd, 500))}})
	if err == nil {
		l.want[l.next] = id
		l.next++
	}
	return err
}

// forget keeps every keep-th checkpoint and the newest.
func (l *line) forget(ctx context.Context, s store.Store, keep int64, at time.Time) error {
	w, err := s.Begin(ctx, l.ws)
	if err != nil {
		return err
	}
	var stones []retake.Tombstone
	for n := range l.want {
		if n%keep != 0 && n != l.next-1 {
			stones = append(stones, retake.Tombstone{Number: n, ID: "x", At: at})
			delete(l.want, n)
		}
	}
	return errors.Join(w.Forget(ctx, stones), w.Close())
}

// check reads every checkpoint that must be there.
func (l *line) check(ctx context.Context, s store.Store, v *harness.Verdict) {
	got := map[int64]retake.ObjectID{}
	err := s.Records(ctx, l.ws.ID, 0, func(leaf *store.Record, _ *retake.Tombstone) error {
		if leaf != nil {
			got[leaf.Card.Checkpoint.Number] = leaf.Files.Object
		}
		return nil
	})
	if err != nil {
		v.Fail("list: %v", err)
	}
	for n, id := range l.want {
		v.Tried++
		if got[n] != id {
			v.Fail("checkpoint %d is %q instead of %s", n, got[n], id)
		}
	}
	rep, err := s.Scrub(ctx, retake.ScrubQuery{Share: 1})
	if err != nil || len(rep.Failed) > 0 {
		v.Fail("scrub: %v %v", err, rep.Failed)
	}
}

func openStore(r *harness.Run, dir string, c clock.Clock, create bool) (*kopia.Store, error) {
	o := kopia.Options{Dir: filepath.Join(dir, "store"), FS: fsx.OS(), Locks: fsx.NewLocks(dir), Clock: c, Derivation: harness.Derivation}
	if create {
		if err := os.MkdirAll(o.Dir, 0o700); err != nil {
			return nil, err
		}
		return kopia.Create(context.Background(), o)
	}
	return kopia.Open(context.Background(), o)
}

// reclaim: forget 90 % of a long line; one sweep gives the bytes back with little
// extra room, and everything kept reads. A simulated minute lies between two saves.
func reclaim(r *harness.Run) []harness.Verdict {
	ctx := context.Background()
	n := r.Figure(600, 10000)
	v := harness.Verdict{Guarantee: "G18", What: fmt.Sprintf("forget 90 %% of %d checkpoints, sweep once, read all", n), Control: "a pack of the store is cut off", Detail: map[string]any{}}
	c := clock.NewManual(time.Now().Add(-time.Duration(n) * time.Minute))
	dir := r.Scratch("reclaim")
	s, err := openStore(r, dir, c, true)
	if err != nil {
		v.Fail("create: %v", err)
		return []harness.Verdict{v}
	}
	l := newLine(r.Seed)
	if err := fill(ctx, s, l, c, n, &v); err != nil {
		v.Fail("fill: %v", err)
		return []harness.Verdict{v}
	}
	if err := l.forget(ctx, s, 10, c.Now()); err != nil {
		v.Fail("forget: %v", err)
	}
	rep, err := s.Sweep(ctx, store.SweepOptions{Room: 32 << 20})
	if err != nil {
		v.Fail("sweep: %v", err)
	}
	v.Detail["before_mb"], v.Detail["after_mb"] = rep.Before/1e6, rep.After/1e6
	v.Detail["peak_extra_mb"] = rep.Peak / 1e6
	fresh, err := copyKept(ctx, r, s, l)
	if err != nil {
		v.Fail("copy: %v", err)
	}
	v.Detail["fresh_copy_mb"] = fresh / 1e6
	if float64(rep.After) > 1.1*float64(fresh) {
		v.Fail("%d MB are left; a fresh store of what was kept has %d", rep.After/1e6, fresh/1e6)
	}
	l.check(ctx, s, &v)
	if err := s.Close(); err != nil {
		v.Fail("close: %v", err)
	}
	if s, err = openStore(r, dir, c, false); err != nil {
		v.Fail("reopen: %v", err)
		return []harness.Verdict{v}
	}
	l.check(ctx, s, &v)
	v.Caught = cutPack(ctx, s, filepath.Join(dir, "store", "blobs"))
	_ = s.Close()
	return []harness.Verdict{v}
}

// fill seals n checkpoints and notes how the time of one grows.
func fill(ctx context.Context, s store.Store, l *line, c *clock.Manual, n int, v *harness.Verdict) error {
	w, err := s.Begin(ctx, l.ws)
	if err != nil {
		return err
	}
	var early, late time.Duration
	for i := range n {
		c.Advance(time.Minute)
		start := time.Now()
		if err := l.seal(ctx, w, c.Now()); err != nil {
			return errors.Join(err, w.Close())
		}
		switch d := time.Since(start); {
		case i > 0 && i <= n/10:
			early += d
		case i >= n-n/10:
			late += d
		}
	}
	v.Detail["seal_ms_first_tenth"] = early.Seconds() * 1000 / float64(n/10)
	v.Detail["seal_ms_last_tenth"] = late.Seconds() * 1000 / float64(n/10)
	return w.Close()
}

// cutPack is the control: the scrub must miss bytes that are not there.
func cutPack(ctx context.Context, s store.Store, blobs string) int64 {
	packs, _ := filepath.Glob(filepath.Join(blobs, "p*.f"))
	if len(packs) == 0 || os.Truncate(packs[0], 10) != nil {
		return 0
	}
	rep, err := s.Scrub(ctx, retake.ScrubQuery{Share: 1})
	if err != nil {
		return 1
	}
	return int64(len(rep.Failed))
}

// copyKept writes what was kept into a new store, in one session, and answers its
// size: the least that can be left after a sweep.
func copyKept(ctx context.Context, r *harness.Run, from store.Store, l *line) (int64, error) {
	to, err := openStore(r, r.Scratch("fresh"), clock.Wall, true)
	if err != nil {
		return 0, err
	}
	defer to.Close() //nolint:errcheck // scratch
	w, err := to.Begin(ctx, l.ws)
	if err != nil {
		return 0, err
	}
	c := &copier{from: from, w: w, done: map[retake.ObjectID]retake.ObjectID{}}
	err = from.Records(ctx, l.ws.ID, 0, func(leaf *store.Record, _ *retake.Tombstone) error {
		if leaf == nil {
			return nil
		}
		files := leaf.Files
		if files.Object, err = c.copy(ctx, files); err != nil {
			return err
		}
		state := map[string][]byte{"turn.json": []byte(text(l.rnd, 500))}
		leaf.Card.Checkpoint.Tree = files.Object
		return w.Seal(ctx, store.SealRequest{Card: leaf.Card, Files: files, State: state})
	})
	if err = errors.Join(err, w.Close()); err != nil {
		return 0, err
	}
	if _, err := to.Sweep(ctx, store.SweepOptions{}); err != nil { // packs of single seals, merged
		return 0, err
	}
	return to.Size(ctx)
}

type copier struct {
	from store.Store
	w    store.Writer
	done map[retake.ObjectID]retake.ObjectID
}

func (c *copier) copy(ctx context.Context, e retake.Entry) (retake.ObjectID, error) {
	if id, ok := c.done[e.Object]; ok {
		return id, nil
	}
	var id retake.ObjectID
	if e.Kind == retake.KindDir {
		entries, err := c.from.Dir(ctx, e.Object)
		if err != nil {
			return "", err
		}
		for i := range entries {
			if entries[i].Object, err = c.copy(ctx, entries[i]); err != nil {
				return "", err
			}
		}
		if id, _, err = c.w.WriteDir(ctx, entries, e.ModTime); err != nil {
			return "", err
		}
	} else {
		f, err := c.from.File(ctx, e.Object)
		if err != nil {
			return "", err
		}
		defer f.Close() //nolint:errcheck // nothing was written
		if id, _, err = c.w.WriteFile(ctx, e.Name, f); err != nil {
			return "", err
		}
	}
	c.done[e.Object] = id
	return id, nil
}
