//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// chaosResult is what was done, and what clients saw of it.
type chaosResult struct {
	Faults       map[string]int64 `json:"faults"`
	Deeds        int64            `json:"deeds"`
	Acknowledged int64            `json:"acknowledged"`
	Troubles     map[string]int64 `json:"troubles"` // answers that were asked again after
	Times        map[string]times `json:"times"`    // of deeds, with all their tries
	Ended        int64            `json:"servers_ended_by_themselves"`
	Messages     int64            `json:"messages"`
	Late         float64          `json:"last_message_after_seconds"`
	Skipped      []string         `json:"skipped,omitempty"`
}

func (o *options) playChaos(ctx context.Context, dir string, res *result) (err error) {
	r := &chaosResult{Faults: map[string]int64{}}
	res.Chaos = r
	disk, why := smallDisk(filepath.Join(dir, "data"))
	if !disk {
		r.Skipped = append(r.Skipped, "disk full: "+why)
	}
	b, err := o.lay(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = join(err, b.close()) }()
	note("chaos: %d workspaces", len(b.desks))
	began := time.Now()
	b.caller.harvest()
	s := newStorm(b, disk, r)
	s.blow(ctx, func() { b.work(ctx, newPace(o.think), o.span, true) })
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.calm(); err != nil {
		return err
	}
	took, asked, refused, why2 := b.caller.harvest()
	r.Times, r.Deeds, r.Troubles = allTimes(took), asked, b.caller.troubles
	for _, d := range b.desks {
		r.Acknowledged += int64(len(d.all()))
	}
	note("chaos: %d acknowledged, faults %v", r.Acknowledged, r.Faults)
	answered := verdict{Guarantee: "CHAOS", What: "deeds are answered in the end", Tried: asked, Failed: refused, Failures: why2, Control: "a key that is not good", Seconds: time.Since(began).Seconds()}
	b.loadControls(ctx, &answered)
	for _, line := range b.panics() {
		answered.fail("%s", line)
	}
	at := b.listRow("CHAOS")
	at.Seconds = answered.Seconds
	res.Rows = append(res.Rows, answered, at)
	return b.judge(ctx, res)
}

// smallDisk puts a disk of its own under a directory, which can be filled.
func smallDisk(at string) (bool, string) {
	if err := os.MkdirAll(at, 0o700); err != nil {
		return false, err.Error()
	}
	if os.Geteuid() != 0 {
		return false, "only root can mount"
	}
	image := at + ".image"
	err := runAll(
		[]string{"truncate", "-s", "1G", image},
		[]string{"mkfs.ext4", "-q", "-m", "0", image},
		[]string{"mount", "-o", "loop", image, at},
	)
	if err == nil {
		return true, ""
	}
	if terr := runAll([]string{"mount", "-t", "tmpfs", "-o", "size=1g", "fleet", at}); terr != nil {
		return false, join(err, terr).Error()
	}
	return true, ""
}

// storm does faults, one after the other, sometimes two at once.
type storm struct {
	b      *bed
	disk   bool
	next   []calamity
	mu     sync.Mutex
	rnd    *rand.Rand   // guarded by mu
	r      *chaosResult // guarded by mu, while faults are done
	freeze time.Duration
	down   []atomic.Bool // servers that we hold down
	killed []atomic.Bool // servers that we ended
	stop   chan struct{}
	ended  atomic.Int64
}

func newStorm(b *bed, disk bool, r *chaosResult) *storm {
	s := &storm{b: b, disk: disk, r: r, rnd: rand.New(rand.NewPCG(uint64(b.o.seed), 99)), freeze: 10 * time.Second, stop: make(chan struct{})}
	if b.o.quick {
		s.freeze = 4 * time.Second
	}
	s.down, s.killed = make([]atomic.Bool, len(b.servers)), make([]atomic.Bool, len(b.servers))
	return s
}

// blow does faults while work is done.
func (s *storm) blow(ctx context.Context, work func()) {
	var all sync.WaitGroup
	for i := range s.b.servers {
		all.Go(func() { s.supervise(i) })
	}
	faults, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(faults)
		for s.pause(ctx, done, time.Second, 4*time.Second) {
			s.fault(ctx)
		}
	}()
	timer := time.AfterFunc(s.b.o.span, func() { close(done) })
	defer timer.Stop()
	work()
	<-faults
	close(s.stop)
	all.Wait()
	s.r.Ended = s.ended.Load()
}

// pause waits for a random time; false: it is over.
func (s *storm) pause(ctx context.Context, done <-chan struct{}, from, to time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-done:
		return false
	case <-time.After(from + time.Duration(s.pick(int((to-from)/time.Millisecond)))*time.Millisecond):
		return true
	}
}

// supervise starts a server again that ended by itself, as whoever runs servers does.
func (s *storm) supervise(i int) {
	server := s.b.servers[i]
	for {
		select {
		case <-s.stop:
			return
		case <-time.After(300 * time.Millisecond):
		}
		if s.down[i].Load() || server.Running() {
			continue
		}
		if !s.killed[i].Swap(false) {
			s.ended.Add(1)
		}
		if err := server.Launch(); err != nil {
			note("launch: %v", err)
		}
	}
}

// calm takes every fault away, and waits until all parts are ready.
func (s *storm) calm() error {
	b := s.b
	b.proxy.Delay(0)
	b.pg.Thaw()
	b.s3.Thaw()
	if !b.pg.Running() {
		if err := b.pg.Start(); err != nil {
			return err
		}
	}
	if !b.s3.Running() {
		if err := b.s3.Start(); err != nil {
			return err
		}
	}
	for _, server := range b.servers {
		server.Thaw()
		if !server.Running() {
			if err := server.Launch(); err != nil {
				return err
			}
		}
		if err := server.Ready(); err != nil {
			return err
		}
	}
	return nil
}

// panics finds what no server may write.
func (b *bed) panics() []string {
	var out []string
	logs, _ := filepath.Glob(filepath.Join(b.serving.Dir, "server-*.log"))
	for _, at := range logs {
		text, err := os.ReadFile(at)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "panic") || strings.Contains(line, "DATA RACE") || strings.Contains(line, "fatal error:") {
				out = append(out, fmt.Sprintf("%s: %.300s", filepath.Base(at), strings.TrimSpace(line)))
			}
		}
	}
	return out
}
