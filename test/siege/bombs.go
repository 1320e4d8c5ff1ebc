//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/parts"
)

// What the server may take while it imports, beside what the namespace may have.
const (
	smallLimit  = 32 << 20 // bytes of a checkpoint in most namespaces here
	diskSlack   = 48 << 20 // for the database, the history and names
	leftSlack   = 4 << 20  // after a refusal: rows of the audit log
	saveSlack   = 64 << 10 // for each save of another namespace meanwhile
	memorySlack = 512 << 20
)

// house is a namespace with limits, for some of the bombs.
type house struct {
	name   string
	limits map[string]any
}

var houses = map[string]house{
	"small":   {"small", map[string]any{"moment": smallLimit}},
	"large":   {"large", nil},                                                        // as a new namespace is
	"crowded": {"crowded", map[string]any{"moment": smallLimit, "workspaces": 1}},    // which it has
	"stuffed": {"stuffed", map[string]any{"moment": smallLimit, "store": 1_000_000}}, // of history
	"next":    {"next", nil},                                                         // whose client must notice nothing
}

// bombResult is what a bomb did.
type bombResult struct {
	Name     string   `json:"name"`
	Request  string   `json:"request"`
	Answers  []string `json:"answers"`
	Sent     int64    `json:"bytes_sent"` // by all senders
	Before   taken    `json:"before"`
	Peak     taken    `json:"peak"`
	After    taken    `json:"after"`
	Memory   int64    `json:"memory_peak_bytes"`
	Samples  int      `json:"samples"`
	Nearby   figures  `json:"saves_of_another_namespace"`
	Seconds  float64  `json:"seconds"`
	Failures []string `json:"failures"`

	crashed bool
	base    int64 // memory before
}

// ground is a server with its disk, on which bombs are thrown.
type ground struct {
	server  *server
	disk    *disk
	caller  *caller
	tenants map[string]*tenant
	saves   []operation
	turn    int
}

func (o *options) layGround(ctx context.Context, dir string) (g *ground, err error) {
	g = &ground{tenants: map[string]*tenant{}}
	if g.disk, err = newDisk(ctx, dir); err != nil {
		return nil, err
	}
	on := parts.Serving{Program: o.program, Dir: dir, Data: filepath.Join(g.disk.dir, "data")}
	for name := range houses {
		if g.tenants[name], err = addTenant(ctx, &on, name); err != nil {
			return nil, err
		}
	}
	if g.server, err = newServer(on, "server", nil); err != nil {
		return nil, err
	}
	if err := g.server.start(o.program); err != nil {
		return nil, err
	}
	g.caller = newCaller(g.server, 20*time.Minute)
	if err := g.furnish(ctx); err != nil {
		g.server.kill()
		return nil, err
	}
	return g, nil
}

// furnish sets the limits and starts the server again, since a namespace that is open learns of
// new limits some seconds later.
func (g *ground) furnish(ctx context.Context) error {
	for name, h := range houses {
		if err := g.caller.widen(ctx, g.tenants[name], h.limits); err != nil {
			return err
		}
	}
	ws, err := g.caller.addWorkspace(ctx, g.tenants["next"], "everyday")
	if err != nil {
		return err
	}
	g.saves = newCaller(g.server, time.Minute).everyday(g.tenants["next"], ws)[:1]
	return g.server.restart()
}

func (g *ground) close() error {
	g.server.kill()
	return g.disk.close()
}

// throw imports a bomb while another namespace saves, and looks at the disk before, during and
// after.
func (g *ground) throw(ctx context.Context, b *bomb) (res bombResult, err error) {
	begun := time.Now()
	res = bombResult{Name: b.name, Nearby: figures{Name: "save"}}
	if res.Before, err = g.disk.taken(); err != nil {
		return res, err
	}
	if u, err := usedBy(g.server.pid()); err == nil {
		res.base = u.Memory
	}
	falls := g.server.crashes()
	watch := g.disk.sample(ctx, g.server.pid)
	var nearby sync.WaitGroup
	stop := make(chan struct{})
	nearby.Go(func() { g.saveUntil(ctx, stop, &res.Nearby) })
	res.Answers = g.explode(ctx, b, &res)
	close(stop)
	nearby.Wait()
	res.Peak, res.Memory, res.Samples = watch.end()
	res.crashed = g.server.crashes() > falls
	res.Nearby.sumUp()
	g.settle(b, &res)
	res.Seconds = time.Since(begun).Seconds()
	res.Failures = judgeBomb(b, &res)
	return res, ctx.Err()
}

func (g *ground) saveUntil(ctx context.Context, stop chan struct{}, all *figures) {
	for {
		measure(ctx, g.saves, []*figures{all}, 1, true)
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		case <-time.After(300 * time.Millisecond):
		}
	}
}

// explode sends the archive, several times at once if the bomb says so.
func (g *ground) explode(ctx context.Context, b *bomb, res *bombResult) []string {
	out := make([]string, max(b.times, 1))
	var sent atomic.Int64
	var all sync.WaitGroup
	for i := range out {
		g.turn++
		path := fmt.Sprintf("/v1/import?name=bomb-%d%s", g.turn, b.query)
		res.Request = fmt.Sprintf("POST %s, with a key of an operator; namespace limits %v", path, houses[b.house].limits)
		all.Go(func() { out[i] = g.send(ctx, b, path, &sent) })
	}
	all.Wait()
	res.Sent = sent.Load()
	return out
}

var errGone = errors.New("the client goes away")

// countingWriter counts what was written.
type countingWriter struct {
	io.Writer
	n *atomic.Int64
}

func (w countingWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	w.n.Add(int64(n))
	return n, err
}

func (g *ground) send(ctx context.Context, b *bomb, path string, sent *atomic.Int64) string {
	r, w := io.Pipe()
	go func() {
		err := b.write(countingWriter{w, sent})
		if b.leaves && err == nil {
			err = errGone
		}
		_ = w.CloseWithError(err) // never fails
	}()
	status, text, err := g.caller.ask(ctx, http.MethodPost, path, g.tenants[b.house].keys[retake.KeyOperator], r)
	_ = r.Close() // who writes learns that nobody reads
	if err != nil {
		return "no answer: " + err.Error()
	}
	var p struct{ Detail string }
	_ = json.Unmarshal(text, &p) // an answer without it has none
	return fmt.Sprintf("%d %.200s", status, p.Detail)
}

// nearbyBytes is what the other namespace may have taken meanwhile.
func (res *bombResult) nearbyBytes() int64 { return int64(res.Nearby.Besieged.Count) * saveSlack }

// settle waits until a refused archive is gone from the disk.
func (g *ground) settle(b *bomb, res *bombResult) {
	for end := time.Now().Add(30 * time.Second); ; <-time.After(200 * time.Millisecond) {
		t, err := g.disk.taken()
		if res.After = t; err != nil || b.good || t.Bytes <= res.Before.Bytes+leftSlack+res.nearbyBytes() || time.Now().After(end) {
			return
		}
	}
}

// judgeBomb says what is wrong with what a bomb did.
func judgeBomb(b *bomb, res *bombResult) []string {
	out := []string{}
	add := func(format string, a ...any) { out = append(out, b.name+": "+fmt.Sprintf(format, a...)) }
	for _, a := range res.Answers {
		switch {
		case strings.HasPrefix(a, "no answer") && !b.leaves:
			add("%s", a)
		case strings.HasPrefix(a, "500"):
			add("an internal error: %s", a)
		case strings.HasPrefix(a, "201") != b.good && !b.leaves:
			add("taken or refused against what it should be: %s", a)
		}
	}
	if res.crashed {
		add("the server crashed")
	}
	allowed := int64(smallLimit) // also for a namespace that may have more: these archives hold no more
	if b.good {
		allowed *= 2 // and its history
	}
	if grown := res.Peak.Bytes - res.Before.Bytes - res.nearbyBytes(); grown > allowed+diskSlack {
		add("%d MB of disk were taken (%d names), and %d MB are allowed", grown>>20, res.Peak.Names-res.Before.Names, (allowed+diskSlack)>>20)
	}
	if grown := res.After.Bytes - res.Before.Bytes - res.nearbyBytes(); !b.good && grown > leftSlack {
		add("%d MB of disk stay after it was refused (%d names)", grown>>20, res.After.Names-res.Before.Names)
	}
	if grown := res.Memory - res.base; grown > memorySlack {
		add("%d MB of memory were taken", grown>>20)
	}
	if res.Nearby.Failed > 0 || res.Nearby.Besieged.Count == 0 {
		add("another namespace saved %d times and failed %d times: %v", res.Nearby.Besieged.Count, res.Nearby.Failed, res.Nearby.Failures)
	}
	return out
}

// playBombs throws all bombs, one after the other.
func (o *options) playBombs(ctx context.Context, dir string, res *result) ([]string, error) {
	g, err := o.layGround(ctx, dir)
	if err != nil {
		return nil, err
	}
	var failures []string
	for i := range bombs {
		if !strings.Contains(bombs[i].name, o.only) {
			continue
		}
		one, err := g.throw(ctx, &bombs[i])
		res.Bombs = append(res.Bombs, one)
		note("%-45s %5.1f s  sent %d kB  disk +%d MB  memory +%d MB  %s", one.Name, one.Seconds, one.Sent>>10, (one.Peak.Bytes-one.Before.Bytes)>>20, (one.Memory-one.base)>>20, one.Answers[0])
		failures = append(failures, one.Failures...)
		if err != nil {
			return failures, errors.Join(err, g.close())
		}
	}
	return append(failures, g.control(ctx)...), g.close()
}

// control sends an archive that a large namespace takes, and judges it as if it had been refused
// by a small one. If that is fine, the judge is blind.
func (g *ground) control(ctx context.Context) []string {
	one, err := g.throw(ctx, &bomb{name: "control", house: "large", write: entries(1, file("f%d", 150<<20))})
	if err != nil {
		return []string{"control: " + err.Error()}
	}
	found := strings.Join(one.Failures, "; ")
	for _, must := range []string{"against what it should be", "MB of disk were taken", "MB of disk stay"} {
		if !strings.Contains(found, must) {
			return []string{"the judge is blind, it does not find in the control: " + must + "; it found: " + found}
		}
	}
	return nil
}
