//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/parts"
)

// upgradeResult is what became of a busy address whose servers were replaced.
type upgradeResult struct {
	Old      string       `json:"old"`
	Steps    []stepResult `json:"steps"`
	Saves    int          `json:"acknowledged_saves"`
	Restores int          `json:"restores"`
	Checked  int          `json:"saves_read_back"`
	Lost     []string     `json:"lost"`
	Failures []string     `json:"failures"`
}

// stepResult is one change of servers, and the load after it.
type stepResult struct {
	Name     string   `json:"name"`
	Trouble  string   `json:"trouble,omitempty"` // a server that did not stop or start as told
	Requests int      `json:"requests"`
	Retries  int      `json:"retries"`
	Failed   int      `json:"failed"`    // after all retries
	Longest  float64  `json:"longest_s"` // of one request, with its retries
	Why      []string `json:"why,omitempty"`
	Seen     []string `json:"retried_after,omitempty"` // answers, each once
}

// fleet is two servers behind one address.
type fleet struct {
	old, new string // programs
	pg       *parts.Postgres
	s3       *parts.S3
	proxy    *parts.Proxy
	servers  []*server
	on       parts.Serving
	clients  []*client
	count    *counter
}

const (
	upgradeTenants = 4
	perTenant      = 2 // clients
)

// playUpgrade replaces both servers under load, rolls one back, and forward again.
func (o *options) playUpgrade(ctx context.Context, dir string, res *result) ([]string, error) {
	f := &fleet{new: o.program, count: &counter{seen: map[string]bool{}}}
	defer f.close()
	var err error
	if o.next {
		err = f.buildNext(o, dir)
	} else {
		f.old, err = buildOld(ctx, o.old, dir)
	}
	if err != nil {
		return nil, err
	}
	if err := f.lay(ctx, dir); err != nil {
		return nil, err
	}
	u := &upgradeResult{Old: o.old, Lost: []string{}}
	res.Upgrade = u
	load, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	for _, c := range f.clients {
		all.Go(func() { c.work(load) })
	}
	for _, s := range f.steps() {
		u.Steps = append(u.Steps, f.step(ctx, s, o.span))
	}
	stop()
	all.Wait()
	f.verify(ctx, u)
	return f.judge(u), ctx.Err()
}

type step struct {
	name   string
	change func() error
}

func (f *fleet) steps() []step {
	replace := func(i int, program string) func() error {
		return func() error {
			s := f.servers[i]
			if err := s.stop(); err != nil {
				return err
			}
			return s.start(program)
		}
	}
	return []step{
		{"old and old", func() error { return nil }},
		{"old and new", replace(1, f.new)},
		{"new and new", replace(0, f.new)},
		{"new and old: one is rolled back", replace(1, f.old)},
		{"new and new again", replace(1, f.new)},
	}
}

// step changes the servers, and lets the clients work on. Its figures are those of the change, too.
func (f *fleet) step(ctx context.Context, s step, span time.Duration) stepResult {
	note("upgrade: %s", s.name)
	f.count.reset()
	err := s.change()
	select {
	case <-ctx.Done():
	case <-time.After(span):
	}
	r := f.count.result()
	r.Name = s.name
	if err != nil {
		r.Trouble = err.Error()
	}
	note("upgrade: %s: %d requests, %d retries, %d failed; %s", s.name, r.Requests, r.Retries, r.Failed, r.Trouble)
	return r
}

func (f *fleet) judge(u *upgradeResult) []string {
	out := []string{}
	for _, s := range u.Steps {
		if s.Trouble != "" {
			out = append(out, s.name()+"a server did not start or stop: "+s.Trouble)
		}
		if s.Failed > 0 {
			out = append(out, fmt.Sprintf("%s%d requests failed after retries: %v", s.name(), s.Failed, s.Why))
		}
		if s.Requests == 0 {
			out = append(out, s.name()+"there was no load")
		}
	}
	for i, s := range f.servers {
		if n := s.crashes(); n > 0 {
			out = append(out, fmt.Sprintf("server %d ended %d times by itself", i, n))
		}
	}
	if len(u.Lost) > 0 {
		out = append(out, fmt.Sprintf("%d of %d acknowledged saves are lost or wrong: %.5q", len(u.Lost), u.Saves, u.Lost))
	}
	u.Failures = out
	return out
}

func (s *stepResult) name() string { return s.Name + ": " }

// buildNext takes this source for the older servers, and a next release for the newer ones.
func (f *fleet) buildNext(o *options, dir string) (err error) {
	at := filepath.Join(dir, "next")
	if err := os.Mkdir(at, 0o755); err != nil {
		return err
	}
	o.old, f.old = "this source, and a next release with newer tables", o.program
	f.new, err = parts.BuildNext(at)
	return err
}

// buildOld builds the programs of an older commit from what git has of it.
func buildOld(ctx context.Context, commit, dir string) (string, error) {
	source := filepath.Join(dir, "source")
	if err := os.Mkdir(source, 0o755); err != nil {
		return "", err
	}
	top, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", fmt.Errorf("find the repository: %w", err)
	}
	tarball := filepath.Join(dir, "source.tar")
	for _, args := range [][]string{{"git", "-C", strings.TrimSpace(string(top)), "archive", "-o", tarball, commit}, {"tar", "-x", "-f", tarball, "-C", source}} {
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("get the older source: %w\n%s", err, out)
		}
	}
	return build(ctx, source, filepath.Join(dir, "old"))
}

// lay starts a database, a bucket and two old servers on them.
func (f *fleet) lay(ctx context.Context, dir string) (err error) {
	if f.pg, err = parts.StartPostgres(filepath.Join(dir, "pg")); err != nil {
		return err
	}
	dsn, err := f.pg.Database("upgrade")
	if err != nil {
		return err
	}
	if f.s3, err = parts.StartS3(filepath.Join(dir, "s3")); err != nil {
		return err
	}
	f.on = parts.Serving{
		Program: f.old, Dir: filepath.Join(dir, "servers"), Data: filepath.Join(dir, "data"), Postgres: dsn,
		S3: "http://" + f.s3.Endpoint + "/" + f.s3.Name, AccessKey: f.s3.AccessKey, SecretKey: f.s3.SecretKey,
	}
	var tenants []*tenant
	for i := range upgradeTenants {
		t, err := addTenant(ctx, &f.on, fmt.Sprintf("team-%d", i))
		if err != nil {
			return err
		}
		tenants = append(tenants, t)
	}
	var at []string
	for i := range 2 {
		s, err := newServer(f.on, fmt.Sprintf("server-%d", i), nil)
		if err != nil {
			return err
		}
		f.servers = append(f.servers, s)
		at = append(at, s.address)
		if err := s.start(f.old); err != nil {
			return err
		}
	}
	if f.proxy, err = parts.StartProxy(at...); err != nil {
		return err
	}
	return f.furnish(ctx, tenants)
}

func (f *fleet) furnish(ctx context.Context, tenants []*tenant) error {
	for i, t := range tenants {
		c := newCaller(f.servers[i%2], time.Minute) // which opens the namespace
		if err := c.widen(ctx, t, nil); err != nil {
			return err
		}
		for j := range perTenant {
			ws, err := c.addWorkspace(ctx, t, fmt.Sprintf("work-%d", j))
			if err != nil {
				return err
			}
			f.clients = append(f.clients, newClient("http://"+f.proxy.Address(), t.keys[retake.KeyAgent], ws, uint64(i*perTenant+j), f.count))
		}
	}
	return nil
}

func (f *fleet) close() {
	if f.proxy != nil {
		_ = f.proxy.Close() // all goes away with the directory
	}
	for _, s := range f.servers {
		s.kill()
	}
	if f.s3 != nil {
		f.s3.Kill()
	}
	if f.pg != nil {
		f.pg.Kill()
	}
}

// verify reads every acknowledged save back, and restores the newest of each client.
func (f *fleet) verify(ctx context.Context, u *upgradeResult) {
	for _, c := range f.clients {
		u.Saves += len(c.acks)
		u.Restores += c.restored
		u.Lost = append(u.Lost, c.wrong...)
		for i, a := range c.acks {
			err := c.readBack(ctx, a)
			if err == nil && i >= len(c.acks)-3 {
				err = c.restore(ctx, a)
			}
			if err != nil && !errors.Is(err, context.Canceled) {
				u.Lost = append(u.Lost, fmt.Sprintf("%s: %v", a.id, err))
			}
			u.Checked++
		}
		if n := len(c.acks); n > 0 && c.readBack(ctx, saved{c.acks[n-1].id, "another text"}) == nil {
			u.Lost = append(u.Lost, "the judge is blind: a save that holds something else is taken for the one that was made")
		}
	}
}
