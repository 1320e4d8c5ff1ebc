//go:build linux

package g3

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/crashbed"
	"github.com/retake-dev/retake/test/ordeal/harness"
	"github.com/retake-dev/retake/test/ordeal/returnbed"
)

func init() { harness.Register("G3-b-cut", returnsCut) }

// returnsCut is G3 (b): the power goes inside of a restore, or at its acknowledgement.
func returnsCut(r *harness.Run) []harness.Verdict {
	start := time.Now()
	v := harness.Verdict{Guarantee: "G3", What: "power cut in a restore: told, then finished or unwound", Control: "a restorer that copies over, without a journal"}
	n := r.Figure(60, 300)
	var counts tally
	var mu sync.Mutex
	first := ""
	tell := func(kind string, i int, caught, err error) {
		mu.Lock()
		defer mu.Unlock()
		if caught != nil {
			v.Caught++
			first = caught.Error()
		}
		if err != nil {
			v.Fail("%s, trial %d: %v", kind, i, err)
		}
	}
	var wg sync.WaitGroup
	for _, kind := range []string{"ext4", "xfs"} {
		wg.Go(func() {
			for at := 0; at < n/2; at += crashbed.CutsPerBed {
				dark := &darkness{r: r, kind: kind, counts: &counts}
				done, err := dark.series(at, min(crashbed.CutsPerBed, n/2-at), func(i int, err error) { tell(kind, i, nil, err) })
				tell(kind, at, nil, err)
				mu.Lock()
				v.Tried += int64(done)
				mu.Unlock()
			}
			dark := &darkness{r: r, kind: kind, counts: &tally{}}
			dark.control(3, func(i int, caught, err error) { tell(kind, i, caught, err) })
		})
	}
	wg.Wait()
	v.Detail = map[string]any{"outcomes": counts.n, "control tried": 6, "control example": first}
	v.Seconds = time.Since(start).Seconds()
	return []harness.Verdict{v}
}

// darkness is a file system with the store and its workspaces, whose power is cut.
type darkness struct {
	r      *harness.Run
	kind   string
	counts *tally
	bed    *crashbed.Bed
	acks   string
	boots  int
	ops    int64
}

func (d *darkness) boot() string { return strconv.Itoa(d.boots) }

func (d *darkness) up() (err error) {
	if d.bed, err = crashbed.NewBed(d.r, d.kind); err == nil {
		d.acks = filepath.Join(d.r.Scratch("acks"), "ack")
	}
	return err
}

// series runs n trials on one bed, and answers how many it did.
func (d *darkness) series(from, n int, tell func(int, error)) (done int, err error) {
	if err := d.up(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.bed.Close()) }()
	if err := d.measure(); err != nil {
		return 0, err
	}
	for i := range n {
		err := d.trial(from + i)
		if done++; err != nil {
			tell(from+i, err)
		}
	}
	return done, nil
}

// settle creates a workspace on the test disk, and syncs it.
func (d *darkness) settle(name string, seed int64) (*returnbed.Voyage, error) {
	p, err := returnbed.NewVoyage(context.Background(), filepath.Join(d.bed.Mnt, "data"), filepath.Join(d.bed.Mnt, name), d.boot(), seed)
	if err != nil {
		return nil, err
	}
	return p, crashbed.Command("sync", "-f", d.bed.Mnt)
}

func (d *darkness) child(p *returnbed.Voyage, course retake.Course, at int64) returning {
	return returning{data: p.Data, ws: p.Ws, boot: d.boot(), course: string(course), at: at, ack: d.acks}
}

// measure counts the operations of a restore here.
func (d *darkness) measure() error {
	p, err := d.settle("measure", 1)
	if err != nil {
		return err
	}
	c := d.child(p, retake.CourseRestore, 0)
	c.count = true
	out, _, err := c.start()
	if err == nil {
		_, err = fmt.Sscan(out, &d.ops)
	}
	return err
}

// cut runs a child until the power goes, and shows what is left. It answers whether
// the child acknowledged before.
func (d *darkness) cut(c returning) (acknowledged bool, err error) {
	c.cut = d.bed.Mnt
	if err := harness.IgnoreAbsent(os.Remove(d.acks)); err != nil {
		return false, err
	}
	_, dead, err := c.start()
	if err == nil && !dead {
		err = errors.New("the power was not cut")
	}
	d.boots++
	if err = errors.Join(err, d.bed.Remount()); err != nil {
		return false, err
	}
	acks, err := crashbed.ReadAcks(d.acks)
	return len(acks) > 0, err
}

// trial cuts one restore. Every eighth is cut right after it was acknowledged.
func (d *darkness) trial(i int) error {
	p, err := d.settle(fmt.Sprintf("ws%d", i), d.r.Seed*1000+int64(i))
	if err != nil {
		return err
	}
	low := d.ops / 3 // most of what comes before reads only
	at := low + int64(uint64(i+1)*2654435761%uint64(d.ops-low)) + 1
	if i%8 == 7 {
		at = 0
	}
	acknowledged, err := d.cut(d.child(p, retake.CourseRestore, at))
	if err != nil {
		return err
	}
	if acknowledged {
		d.counts.add("acknowledged")
	}
	t := cutTrial{Voyage: p, i: i, boot: d.boot, ops: d.ops, report: d.counts.add}
	t.crash = func(course retake.Course, at int64) error {
		_, err := d.cut(d.child(p, course, at))
		return err
	}
	if err := t.judge(context.Background(), acknowledged); err != nil {
		return fmt.Errorf("cut at operation %d of %d: %w", at, d.ops, err)
	}
	return nil
}

// control copies over, and loses power.
func (d *darkness) control(n int, tell func(i int, caught, err error)) {
	err := d.up()
	if err != nil {
		tell(0, nil, err)
		return
	}
	for i := range n {
		caught, err := d.copied(i, n)
		tell(i, caught, err)
	}
	tell(n, nil, d.bed.Close())
}

func (d *darkness) copied(i, n int) (caught, err error) {
	p, err := d.settle(fmt.Sprintf("copied%d", i), int64(i))
	if err != nil {
		return nil, err
	}
	good := filepath.Join(d.bed.Dir, fmt.Sprintf("good%d", i))
	g := &returnbed.Gardener{Root: good, Seed: int64(i)}
	if g.Plant(); g.Err != nil {
		return nil, g.Err
	}
	if _, dead, err := again([]string{"child", "g3-copy", good, p.Ws, strconv.Itoa(20 + i*60/n)}); err != nil || !dead {
		return nil, fmt.Errorf("the copy was not killed: %w", err)
	}
	power, err := os.Open(d.bed.Mnt)
	if err != nil {
		return nil, err
	}
	if err := crashbed.Command("sync", "-f", d.bed.Mnt); err != nil {
		return nil, err
	}
	crashbed.CutPower(power)
	d.boots++
	if err := errors.Join(power.Close(), d.bed.Remount()); err != nil {
		return nil, err
	}
	t := cutTrial{Voyage: p, boot: d.boot, report: d.counts.add}
	return t.lost(context.Background())
}
