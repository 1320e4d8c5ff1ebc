//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// openLoads are the shares of the rate at which the machine is full.
var openLoads = []float64{0.3, 0.5, 0.7}

// openResult is how long requests take at a rate that does not depend on the answers: turns arrive
// whether or not the ones before are done, and wait for their workspace.
type openResult struct {
	Share   float64          `json:"share"`
	Offered float64          `json:"turns_per_second_offered"`
	Done    float64          `json:"turns_per_second_done"`
	Busy    float64          `json:"machine_busy"`
	Turns   int              `json:"turns"`
	Times   map[string]times `json:"times"`
}

// arrival names the time from the arrival of a turn until its save is acknowledged.
const arrival = "save, from its arrival"

// openLoops measures each of openLoads for a while. full is the rate of turns that the machine bears.
func (b *bed) openLoops(ctx context.Context, full float64, span time.Duration) ([]openResult, error) {
	var all []openResult
	for _, share := range openLoads {
		r := b.openLoop(ctx, share*full, span)
		r.Share = share
		note("open loop, %.0f %%: %.1f turns a second offered, %.1f done, machine %.0f %% busy, save p50 %.1f ms, p99 %.1f ms",
			100*share, r.Offered, r.Done, 100*r.Busy, r.Times[arrival].P50, r.Times[arrival].P99)
		all = append(all, r)
		if ctx.Err() != nil {
			return all, ctx.Err()
		}
	}
	return all, nil
}

// openLoop lets turns arrive at random times for a while, and waits for those under way.
func (b *bed) openLoop(ctx context.Context, rate float64, span time.Duration) openResult {
	queues := make([]chan time.Time, len(b.desks))
	var working sync.WaitGroup
	var mu sync.Mutex
	var waited []time.Duration
	for i, d := range b.desks {
		queues[i] = make(chan time.Time, 1+int(10*rate*span.Seconds())) // an arrival never waits to be noted
		working.Go(func() {
			for at := range queues[i] {
				if took, ok := d.arrivedTurn(ctx, at); ok {
					mu.Lock()
					waited = append(waited, took)
					mu.Unlock()
				}
			}
		})
	}
	busy, idle := machineTicks()
	began := time.Now()
	turns, rnd := 0, rand.New(rand.NewPCG(uint64(b.o.seed), uint64(rate*1000))) //nolint:gosec // a seed
	for at := began; ; turns++ {
		at = at.Add(time.Duration(rnd.ExpFloat64() / rate * float64(time.Second)))
		if at.Sub(began) > span || ctx.Err() != nil {
			break
		}
		wait(ctx, time.Until(at))
		queues[rnd.IntN(len(queues))] <- at
	}
	for _, q := range queues {
		close(q)
	}
	working.Wait()
	took, asked, refused, why := b.caller.harvest()
	b.sums.add(asked, refused, why)
	took[arrival] = waited
	toBusy, toIdle := machineTicks()
	seconds := time.Since(began).Seconds()
	return openResult{
		Offered: rate, Done: float64(len(waited)) / seconds, Turns: turns, Times: allTimes(took),
		Busy: float64(toBusy-busy) / max(1, float64(toBusy-busy+toIdle-idle)),
	}
}

// arrivedTurn edits, saves and looks as a turn of the mixed phase does. It returns how long it took
// from the arrival until the save was acknowledged.
func (d *desk) arrivedTurn(ctx context.Context, at time.Time) (time.Duration, bool) {
	if d.lost || ctx.Err() != nil {
		return 0, false
	}
	if err := d.edit(ctx); err != nil {
		d.mistaken("edit: %v", err)
		return 0, false
	}
	d.turn++
	err := d.save(ctx)
	took := time.Since(at)
	if err != nil { // the caller has counted it
		return 0, false
	}
	_ = d.look(ctx) // counted too
	if d.turn%8 == 7 {
		_ = d.goBack(ctx)
	}
	return took, true
}

// openTable is how long requests take at loads that a server is planned for.
func openTable(t *strings.Builder, all []openResult) {
	if len(all) == 0 {
		return
	}
	t.WriteString("\n| milliseconds, p50 / p99 |")
	for _, r := range all {
		fmt.Fprintf(t, " %.0f %% load (%.1f turns a second) |", 100*r.Share, r.Offered)
	}
	t.WriteString("\n|---|" + strings.Repeat("---|", len(all)) + "\n")
	for _, name := range []string{arrival, "restore", "list", "get", "read", "events"} {
		fmt.Fprintf(t, "| %s |", name)
		for _, r := range all {
			fmt.Fprintf(t, " %.1f / %.1f |", r.Times[name].P50, r.Times[name].P99)
		}
		t.WriteString("\n")
	}
	t.WriteString("| turns |")
	for _, r := range all {
		fmt.Fprintf(t, " %d |", r.Turns)
	}
	t.WriteString("\n| processors busy |")
	for _, r := range all {
		fmt.Fprintf(t, " %.0f %% |", 100*r.Busy)
	}
	t.WriteString("\n")
}
