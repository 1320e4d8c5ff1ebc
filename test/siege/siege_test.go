//go:build linux && siege

package main

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake/test/parts"
)

// buildOnce builds the programs for all tests. What it builds goes away with this process.
var buildOnce = sync.OnceValues(func() (string, error) {
	dir, _, err := parts.Scratch("")
	if err != nil {
		return "", err
	}
	return build(context.Background(), "", filepath.Join(dir, "bin"))
})

func prepare(t *testing.T) (o *options, dir string) {
	t.Helper()
	program, err := buildOnce()
	must(t, err)
	dir, remove, err := parts.Scratch("")
	must(t, err)
	t.Cleanup(func() { must(t, remove()) })
	return &options{program: program, patience: 5 * time.Minute}, dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Slow connections end, and do not keep a server from answering others. The bars leave room for
// a busy machine: a full run has the real ones.
func TestSlowConnectionsEnd(t *testing.T) {
	t.Parallel()
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, dir := prepare(t)
			s, server, err := o.lay(t.Context(), dir, secure)
			must(t, err)
			defer server.kill()
			connections := 120
			if testing.Short() {
				connections = 40
			}
			res, err := s.play(t.Context(), name, plan{
				connections: connections, rounds: 1, times: 5,
				chosen:  func(*kind) bool { return true },
				awaited: func(k *kind) bool { return k.ends <= bodyTime },
				bars:    bars{ratio: 10, floor: 2 * time.Second, slack: time.Minute, descriptors: 20, memory: 512 << 20, patience: 2 * time.Minute},
			})
			must(t, err)
			for _, f := range res.Failures {
				t.Error(f)
			}
		})
	}
}

// What is left of a body is not taken for more requests.
func TestTheRestOfABodyIsNoRequest(t *testing.T) {
	t.Parallel()
	o, dir := prepare(t)
	s, server, err := o.lay(t.Context(), dir, false)
	must(t, err)
	defer server.kill()
	if res, err := twoRequests.send(t.Context(), s.target); err != nil || res.Count < 2 {
		t.Errorf("two requests are counted as %d: %v", res.Count, err)
	}
	for _, one := range leftovers {
		res, err := one.send(t.Context(), s.target)
		must(t, err)
		if res.Count != 1 {
			t.Errorf("%s: one request got %d answers: %q", one.name, res.Count, res.Answers)
		}
	}
}

// A server without limits fails before the same judge.
func TestAServerWithoutLimitsIsFound(t *testing.T) {
	t.Parallel()
	res, err := playControl(t.Context(), 60)
	if err != nil {
		t.Errorf("%v; found: %q", err, res.Failures)
	}
}

// Archives that are bombs are refused, take no more than they may, and leave nothing.
func TestBombsTakeNoMoreThanTheyMay(t *testing.T) {
	t.Parallel()
	o, dir := prepare(t)
	g, err := o.layGround(t.Context(), dir)
	must(t, err)
	defer func() { must(t, g.close()) }()
	for i := range bombs {
		b := &bombs[i]
		if b.long {
			continue
		}
		res, err := g.throw(t.Context(), b)
		must(t, err)
		for _, f := range res.Failures {
			t.Error(f)
		}
	}
	for _, f := range g.control(t.Context()) {
		t.Error(f)
	}
}
