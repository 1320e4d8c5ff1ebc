//go:build linux

// Package g3 kills a restore and cuts its power: it must be told, then finished or unwound.
package g3

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/returnbed"
)

func init() { harness.Register("G3-a-kill", returnsKilled) }

// tally counts what happened in the trials.
type tally struct {
	mu sync.Mutex
	n  map[string]int // guarded by mu
}

func (t *tally) add(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = map[string]int{}
	}
	t.n[what]++
}

// returnsKilled is G3 (a): the process that restores is killed before an operation.
func returnsKilled(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "G3", What: "SIGKILL in a restore: told, then finished or unwound", Control: "a restorer that copies over, without a journal"}
	k, err := newKiller(r)
	if err != nil {
		v.Fail("prepare: %v", err)
		return []harness.Verdict{v}
	}
	n := r.Figure(100, 800)
	var counts tally
	var mu sync.Mutex
	harness.Share(n, func(i int) {
		at := k.checkpoint(i, n)
		err := k.trial(i, at, &counts)
		mu.Lock()
		defer mu.Unlock()
		v.Tried++
		if err != nil {
			v.Fail("trial %d, operation %d: %v", i, at, err)
		}
	})
	first := ""
	const control = 12
	harness.Share(control, func(i int) {
		caught, err := k.copied(i, control)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			v.Fail("control: %v", err)
		}
		if caught != nil {
			v.Caught++
			first = caught.Error()
		}
	})
	v.Detail = map[string]any{"operations": k.ops, "from the journal on": k.low, "outcomes": counts.n, "control tried": control, "control example": first}
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// killer kills restores.
type killer struct {
	r         *harness.Run
	ops       int64 // of one restore, from opening the store to the acknowledgement
	low, high int64 // those between which a journal is there
}

func newKiller(r *harness.Run) (*killer, error) {
	k := &killer{r: r}
	err := k.in("count", 1, func(p *returnbed.Voyage) error {
		c := k.child(p, retake.CourseRestore, 0)
		c.count = true
		out, _, err := c.start()
		if err == nil {
			k.ops, err = strconv.ParseInt(strings.TrimSpace(out), 10, 64)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if k.low, err = k.search(1, k.ops*3/4, true); err == nil {
		k.high, err = k.search(k.low, k.ops+1, false)
	}
	return k, err
}

// in makes a voyage and runs f on it.
func (k *killer) in(name string, seed int64, f func(*returnbed.Voyage) error) error {
	dir := harness.FastDir(k.r, name)
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	p, err := returnbed.NewVoyage(context.Background(), filepath.Join(dir, "data"), filepath.Join(dir, "ws"), "one", seed)
	if err != nil {
		return err
	}
	return f(p)
}

func (k *killer) child(p *returnbed.Voyage, course retake.Course, at int64) returning {
	return returning{data: p.Data, ws: p.Ws, boot: "one", course: string(course), at: at}
}

// search finds the operation from which on a kill leaves a journal, or none any more.
func (k *killer) search(low, high int64, appears bool) (int64, error) {
	for low < high {
		mid := (low + high) / 2
		err := k.in("search", 1, func(p *returnbed.Voyage) error {
			if _, _, err := k.child(p, retake.CourseRestore, mid).start(); err != nil {
				return err
			}
			t := cutTrial{Voyage: p, boot: func() string { return "one" }}
			in, err := t.told(context.Background())
			if (in != nil) == appears {
				high = mid
			} else {
				low = mid + 1
			}
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return low, nil
}

// checkpoint spreads half of the trials over all operations, and half over those between
// the journal's first and last.
func (k *killer) checkpoint(i, n int) int64 {
	if i%4 < 2 {
		return harness.SpreadOver(i/4*2+i%2, n/2, k.ops)
	}
	return k.low - 1 + harness.SpreadOver(i/4*2+i%2, n/2, k.high-k.low+1)
}

// trial kills one restore before an operation, and judges what is left.
func (k *killer) trial(i int, at int64, counts *tally) error {
	return k.in("return", k.r.Seed*1000+int64(i), func(p *returnbed.Voyage) error {
		_, dead, err := k.child(p, retake.CourseRestore, at).start()
		if err != nil {
			return err
		}
		t := cutTrial{Voyage: p, i: i, boot: func() string { return "one" }, ops: k.high, report: counts.add}
		t.crash = func(course retake.Course, at int64) error {
			_, _, err := k.child(p, course, at).start()
			return err
		}
		return t.judge(context.Background(), !dead)
	})
}

// copied is the control: what a kill leaves of a restorer that removes and copies.
func (k *killer) copied(i, n int) (caught, err error) {
	err = k.in("copied", int64(i), func(p *returnbed.Voyage) error {
		good := filepath.Join(filepath.Dir(p.Ws), "good")
		if err := os.Mkdir(good, 0o755); err != nil {
			return err
		}
		g := &returnbed.Gardener{Root: good, Seed: int64(i)}
		if g.Plant(); g.Err != nil {
			return g.Err
		}
		at := strconv.Itoa(1 + i*100/n)
		if _, dead, err := again([]string{"child", "g3-copy", good, p.Ws, at}); err != nil || !dead {
			return fmt.Errorf("the copy was not killed: %w", err)
		}
		t := cutTrial{Voyage: p, boot: func() string { return "one" }, report: func(string) {}}
		caught, err = t.lost(context.Background())
		return err
	})
	return caught, err
}

// lost: nobody tells of it, and by what is in the files it is neither checkpoint.
func (t *cutTrial) lost(ctx context.Context) (caught, err error) {
	in, err := t.told(ctx)
	if err != nil || in != nil {
		return nil, err
	}
	got, err := returnbed.ShapeOf(t.Ws)
	if err != nil {
		return nil, err
	}
	all := func(string) bool { return true }
	old, want := t.Before.Unlike(got, returnbed.Nobody, all), t.Target.Unlike(got, returnbed.Nobody, all)
	if len(old) > 0 && len(want) > 0 {
		caught = fmt.Errorf("%d paths are not as before, %d not as wanted: %s", len(old), len(want), some(want))
	}
	return caught, nil
}
