//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// calamity is one kind of fault.
type calamity struct {
	name string
	do   func(context.Context)
}

// deck is every kind of fault, kills first.
func (s *storm) deck() []calamity {
	one := func(f func()) func(context.Context) { return func(context.Context) { f() } }
	some := func(i int) func(context.Context) { return func(context.Context) { s.killServer(i) } }
	all := []calamity{
		{"kill a server", some(s.pick(len(s.b.servers)))},
		{"kill all servers", one(s.killServers)},
		{"kill postgres", one(s.killPostgres)},
		{"kill s3", one(s.killS3)},
		{"kill a server", some(s.pick(len(s.b.servers)))},
		{"cut clients", one(func() { s.b.proxy.Cut() })},
		{"cut clients", one(func() { s.b.proxy.Cut() })},
		{"cut s3", one(func() { s.b.counter.Cut() })},
		{"cut postgres", one(s.cutPostgres)},
		{"slow clients", s.slow},
		{"freeze postgres", func(ctx context.Context) { s.halt(ctx, &s.b.pg.Process) }},
		{"freeze s3", func(ctx context.Context) { s.halt(ctx, &s.b.s3.Process) }},
		{"freeze a server", func(ctx context.Context) { s.halt(ctx, &s.b.servers[s.pick(len(s.b.servers))].Process) }},
	}
	if s.disk {
		all = append(all, calamity{"disk full", s.fill})
	}
	return all
}

const kills = 5 // of a deck, at its beginning

// fault does the next of a shuffled deck, and sometimes a kill before that has ended.
func (s *storm) fault(ctx context.Context) {
	if len(s.next) == 0 {
		s.next = s.deck()
		s.rnd.Shuffle(len(s.next), func(i, j int) { s.next[i], s.next[j] = s.next[j], s.next[i] })
	}
	f := s.next[0]
	s.next = s.next[1:]
	s.count(f.name)
	if s.pick(4) > 0 {
		f.do(ctx)
		return
	}
	g := s.deck()[s.pick(kills)]
	s.count(g.name)
	var both sync.WaitGroup
	both.Go(func() { f.do(ctx) })
	wait(ctx, s.short())
	g.do(ctx)
	both.Wait()
}

// pick answers a number below n.
func (s *storm) pick(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rnd.IntN(n)
}

func (s *storm) count(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.r.Faults[name]++
}

// short is a checkpoint in which things happen.
func (s *storm) short() time.Duration {
	return time.Duration(100+s.pick(1500)) * time.Millisecond
}

func (s *storm) killServer(i int) {
	s.down[i].Store(true)
	s.killed[i].Store(true)
	s.b.servers[i].Kill()
	time.Sleep(s.short())
	s.down[i].Store(false) // who supervises it starts it again
}

func (s *storm) killServers() {
	for i := range s.b.servers {
		s.down[i].Store(true)
		s.killed[i].Store(true)
	}
	for _, server := range s.b.servers {
		server.Kill()
	}
	time.Sleep(s.short())
	for i := range s.b.servers {
		s.down[i].Store(false)
	}
}

func (s *storm) killPostgres() {
	s.b.pg.Kill()
	time.Sleep(s.short())
	if err := s.b.pg.Start(); err != nil {
		note("start postgres: %v", err)
	}
}

func (s *storm) killS3() {
	s.b.s3.Kill()
	time.Sleep(s.short())
	if err := s.b.s3.Start(); err != nil {
		note("start s3: %v", err)
	}
}

// cutPostgres ends every session of a server in the database.
func (s *storm) cutPostgres() {
	err := s.b.pg.Run("postgres", "postgres", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '"+database+"'")
	if err != nil {
		note("cut postgres: %v", err)
	}
}

func (s *storm) slow(ctx context.Context) {
	s.b.proxy.Delay(time.Duration(20+s.pick(200)) * time.Millisecond)
	wait(ctx, 3*s.short())
	s.b.proxy.Delay(0)
}

func (s *storm) halt(ctx context.Context, p interface {
	Freeze() error
	Thaw()
}) {
	if err := p.Freeze(); err != nil {
		return // it is down
	}
	wait(ctx, s.freeze)
	p.Thaw()
}

// fill leaves no room on the disk of the data directory for some seconds.
func (s *storm) fill(ctx context.Context) {
	at := filepath.Join(s.b.dir, "data", "full")
	f, err := os.Create(at)
	if err != nil {
		return // it is full
	}
	var size int64
	for piece := int64(64 << 20); piece >= 4096; {
		if err := syscall.Fallocate(int(f.Fd()), 0, size, piece); errors.Is(err, syscall.ENOSPC) {
			piece /= 4
			continue
		} else if err != nil {
			note("fill the disk: %v", err)
			break
		}
		size += piece
	}
	wait(ctx, s.freeze/2)
	if err := join(f.Close(), os.Remove(at)); err != nil {
		note("empty the disk: %v", err)
	}
}

func runAll(commands ...[]string) error {
	for _, c := range commands {
		if out, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %.200s", c[0], err, out)
		}
	}
	return nil
}
