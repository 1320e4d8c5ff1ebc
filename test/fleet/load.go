//go:build linux

package main

import (
	"context"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// loadResult is what load was measured to cost.
type loadResult struct {
	Rest   cost               `json:"rest"`           // nobody asks
	Saves  cost               `json:"saves"`          // edits and saves alone
	Mixed  cost               `json:"mixed"`          // with lists, reads and restores
	Open   []openResult       `json:"open,omitempty"` // the mix at rates below that
	Memory map[string]int64   `json:"memory_bytes"`
	Row    float64            `json:"row_bytes"` // body of a checkpoint in the catalog
	Bare   *bareResult        `json:"bare,omitempty"`
	Ratios map[string]float64 `json:"ratios,omitempty"`
	Top    []statement        `json:"statements,omitempty"` // of the phase of saves, the most frequent first
}

const (
	restTime   = 20 * time.Second
	upkeepTime = 15 * time.Second // what follows saves in their next pause is done then
)

func (o *options) playLoad(ctx context.Context, dir string, res *result) (err error) {
	b, err := o.lay(ctx, dir)
	if err != nil {
		return err
	}
	note("load: %d workspaces", len(b.desks))
	if err := join(b.load(ctx, res), b.close()); err != nil {
		return err
	}
	if o.rows == 0 {
		return nil
	}
	return o.playTimeline(ctx, filepath.Join(dir, "long"), res)
}

// load measures three phases and loads below the last, and what the same would cost without us.
func (b *bed) load(ctx context.Context, res *result) error {
	began, l, p := time.Now(), &loadResult{}, newPace(b.o.think)
	res.Load = l
	b.work(ctx, p, b.o.span/5, false) // finds the pace, opens everything
	_, asked, refused, why := b.caller.harvest()
	b.sums.add(asked, refused, why)
	p.fixed.Store(true)
	wait(ctx, upkeepTime)
	var err error
	if l.Rest, err = b.phase(ctx, "rest", nil, restTime, false); err != nil {
		return err
	}
	if err := b.forgetStatements(); err != nil {
		return err
	}
	before, err := b.read(ctx)
	if err != nil {
		return err
	}
	if l.Saves, err = b.phase(ctx, "saves", p, b.o.span*2/5, false); err != nil {
		return err
	}
	after, err := b.read(ctx)
	if err != nil {
		return err
	}
	if l.Top, err = b.statements(ctx, after.checkpoints-before.checkpoints); err != nil {
		return err
	}
	if l.Mixed, err = b.phase(ctx, "mixed", p, b.o.span*2/5, true); err != nil {
		return err
	}
	if l.Open, err = b.openLoops(ctx, float64(l.Mixed.Times["save"].N)/l.Mixed.Seconds, b.o.span/5); err != nil {
		return err
	}
	l.Memory = b.memory()
	row := verdict{Guarantee: "LOAD", What: "requests are answered", Tried: b.sums.asked, Failed: b.sums.refused, Failures: b.sums.why, Control: "a key that is not good"}
	b.loadControls(ctx, &row)
	back := b.backRow("LOAD", "files read and restored are those that were saved")
	at := b.listRow("LOAD")
	row.Seconds, back.Seconds = time.Since(began).Seconds(), time.Since(began).Seconds()
	res.Rows = append(res.Rows, row, at, back)
	l.Bare, err = b.bare(ctx, before, after, l)
	return err
}

// pace is how long clients wait between turns. Until it is fixed it looks for the point at
// which the machine is busy and not drowned.
type pace struct {
	think atomic.Int64
	fixed atomic.Bool
}

func newPace(think time.Duration) *pace {
	p := &pace{}
	p.think.Store(int64(think))
	return p
}

const (
	tooBusy = 0.92
	tooIdle = 0.75
)

func (p *pace) adapt(stop <-chan struct{}) {
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	busy, idle := machineTicks()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		b, i := machineTicks()
		share := float64(b-busy) / max(1, float64(b-busy+i-idle))
		busy, idle = b, i
		think := p.think.Load()
		switch {
		case p.fixed.Load():
		case share > tooBusy:
			p.think.Store(min(think*5/4, int64(2*time.Minute)))
		case share < tooIdle:
			p.think.Store(max(think*4/5, int64(50*time.Millisecond)))
		}
	}
}

// phase works for a while and answers what that took. Without a pace nobody works.
func (b *bed) phase(ctx context.Context, name string, p *pace, span time.Duration, mixed bool) (cost, error) {
	from, err := b.read(ctx)
	if err != nil {
		return cost{}, err
	}
	if p == nil {
		wait(ctx, span)
	} else {
		b.work(ctx, p, span, mixed)
	}
	took, asked, refused, why := b.caller.harvest()
	b.sums.add(asked, refused, why)
	wait(ctx, flushTime)
	to, err := b.read(ctx)
	if err != nil {
		return cost{}, err
	}
	to.at = to.at.Add(-flushTime)
	c := costOf(name, from, to, took)
	if p != nil {
		c.Think = time.Duration(p.think.Load()).Seconds()
		note("%s", c.brief())
	}
	return c, ctx.Err()
}

// flushTime is how long sessions of the database may keep what they counted.
const flushTime = 2 * time.Second

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// sums are the requests of several phases.
type sums struct {
	asked, refused int64
	why            []string
}

func (s *sums) add(asked, refused int64, why []string) {
	s.asked += asked
	s.refused += refused
	s.why = append(s.why, why...)
}

// work lets every client take turns for a while, and waits for those under way.
func (b *bed) work(ctx context.Context, p *pace, span time.Duration, mixed bool) {
	stop := make(chan struct{})
	timer := time.AfterFunc(span, func() { close(stop) })
	defer timer.Stop()
	var all sync.WaitGroup
	all.Go(func() { p.adapt(stop) })
	for _, d := range b.desks {
		all.Go(func() { d.live(ctx, p, stop, mixed) })
	}
	all.Wait()
}

// live takes turns until it is told to stop.
func (d *desk) live(ctx context.Context, p *pace, stop <-chan struct{}, mixed bool) {
	for !d.lost {
		think := time.Duration(p.think.Load())
		select {
		case <-ctx.Done():
			return
		case <-stop:
			return
		case <-time.After(think/2 + time.Duration(d.rnd.Int64N(int64(think)+1))):
		}
		if err := d.edit(ctx); err != nil {
			d.mistaken("edit: %v", err)
			return
		}
		d.turn++
		if d.save(ctx) != nil || !mixed { // the caller has counted it
			continue
		}
		_ = d.look(ctx) // counted too
		if d.turn%8 == 7 {
			_ = d.goBack(ctx)
		}
	}
}

// backRow counts what was read and restored, and compares one with the wrong tree.
func (b *bed) backRow(guarantee, what string) verdict {
	v := verdict{Guarantee: guarantee, What: what, Control: "the files of one checkpoint held against another"}
	var torn int64
	for _, d := range b.desks {
		d.mu.Lock()
		v.Tried += d.backed
		torn += d.torn
		for _, w := range d.wrong {
			v.fail("%s/%s: %s", d.t.ns, d.ws, w)
		}
		if len(d.acks) > 1 {
			is, err := onDisk(d.root)
			if other := d.acks[0]; err == nil && v.Caught == 0 && is.digest() != other.digest {
				v.Caught++
			}
		}
		d.mu.Unlock()
	}
	v.Detail = map[string]any{"torn": torn}
	return v
}

// listRow counts the looks for the newest checkpoint. The control is one that was never
// made, looked for in an empty list.
func (b *bed) listRow(guarantee string) verdict {
	v := verdict{Guarantee: guarantee, What: "an acknowledged checkpoint is listed at once", Control: "a list without it"}
	for _, d := range b.desks {
		d.mu.Lock()
		v.Tried += d.listed
		for _, id := range d.unlisted {
			v.fail("%s/%s: %s was acknowledged, and the list asked for next lacks it", d.t.ns, d.ws, id)
		}
		d.mu.Unlock()
	}
	empty := &desk{acks: []ack{{id: nobody}}}
	if err := empty.listedAtOnce(answer{body: []byte(`{"checkpoints":[]}`)}); err == nil {
		v.Caught = int64(len(empty.unlisted))
	}
	return v
}

// loadControls asks with a key that nobody has: it must be counted as refused.
func (b *bed) loadControls(ctx context.Context, v *verdict) {
	_, err := b.caller.do(ctx, deed{name: "control", method: http.MethodGet, path: "/v1/namespace", key: "rtk_agent_nobody"})
	if _, _, refused, _ := b.caller.harvest(); err != nil && refused == 1 {
		v.Caught = 1
	}
}

func (b *bed) memory() map[string]int64 {
	out := map[string]int64{}
	for _, s := range b.servers {
		out["servers"] += s.Memory()
	}
	out["postgres"], out["s3"] = b.pg.Memory(), b.s3.Memory()
	return out
}
