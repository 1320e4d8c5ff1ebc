//go:build linux

// Command siege attacks a server of Retake in ways that cost the attacker little: connections
// that are slow, archives that are bombs. It also replaces the servers of a busy address by newer
// ones and back. What is asked of a server is in docs/server/setup.md; each part prints what
// failed, and a server without limits must fail before the same judge.
//
//	go test -tags 'siege testing' ./test/siege                                  a small version
//	go run -tags testing ./test/siege -connections 1500 -o test/siege/results.json
//	go run -tags testing ./test/siege -parts bombs                              one part of it
//	go run -tags testing ./test/siege -upgrade -old v0.1.0                      needs PostgreSQL and versitygw
//	go run -tags testing ./test/siege -upgrade -next                            with newer tables
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/retake-dev/retake/test/parts"
)

type options struct {
	connections int
	rounds      int
	times       int
	program     string // the command retake
	patience    time.Duration
	only        string // of the bombs: those whose name contains it
	old         string
	next        bool
	span        time.Duration // of load between two steps of an upgrade
}

// result is what a run leaves behind.
type result struct {
	V       int               `json:"v"`
	Machine map[string]string `json:"machine"`
	Sieges  []siegeResult     `json:"sieges,omitempty"`
	Crowd   *crowdResult      `json:"crowd,omitempty"`
	Rest    []restResult      `json:"rest,omitempty"`
	Bombs   []bombResult      `json:"bombs,omitempty"`
	Upgrade *upgradeResult    `json:"upgrade,omitempty"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx)
	stop()
	os.Exit(code)
}

func run(ctx context.Context) int {
	var o options
	flag.IntVar(&o.connections, "connections", 1500, "slow connections at a time")
	flag.IntVar(&o.rounds, "rounds", 4, "rounds of quiet and siege")
	flag.IntVar(&o.times, "times", 60, "times that a normal client does each thing in one of them")
	flag.StringVar(&o.program, "retake", "", "the command retake, beside which is retaked; built when it is not given")
	flag.StringVar(&o.only, "only", "", "only bombs whose name contains this")
	flag.StringVar(&o.old, "old", "9bacd802~1", "commit or tag of the older server")
	flag.BoolVar(&o.next, "next", false, "upgrade from this source to a next release, whose tables have a step more")
	flag.DurationVar(&o.span, "for", 20*time.Second, "load between two steps of an upgrade")
	what := flag.String("parts", "siege,tls,crowd,rest,bombs", "parts to play, with commas between them")
	upgrade := flag.Bool("upgrade", false, "replace servers under load instead")
	out := flag.String("o", "", "write the result as JSON; what the file has of other parts stays")
	dir := flag.String("dir", "", "scratch directory")
	flag.Parse()
	chosen := strings.Split(*what, ",")
	if *upgrade {
		chosen = []string{"upgrade"}
	}
	o.patience = time.Minute
	res := result{V: 1, Machine: machine()}
	if *out != "" {
		res.keep(*out, chosen)
	}
	failures, err := o.play(ctx, *dir, chosen, &res)
	for _, f := range failures {
		fmt.Println("FAIL", f)
	}
	if *out != "" {
		err = errors.Join(err, write(*out, res))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if err != nil || len(failures) > 0 {
		return 1
	}
	fmt.Println("ok")
	return 0
}

// play plays the chosen parts in a directory that goes away, and returns what failed in them.
func (o *options) play(ctx context.Context, base string, chosen []string, res *result) (failures []string, err error) {
	dir, remove, err := parts.Scratch(base)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	if o.program == "" {
		if o.program, err = build(ctx, "", filepath.Join(dir, "bin")); err != nil {
			return nil, err
		}
	}
	all := []struct {
		name string
		play func(ctx context.Context, dir string, res *result) ([]string, error)
	}{{"siege", o.playPlain}, {"tls", o.playSecure}, {"crowd", o.playCrowd}, {"rest", o.playRest}, {"bombs", o.playBombs}, {"upgrade", o.playUpgrade}}
	for _, part := range all {
		if !slices.Contains(chosen, part.name) {
			continue
		}
		note("%s begins", part.name)
		at := filepath.Join(dir, part.name)
		if err := os.Mkdir(at, 0o711); err != nil {
			return failures, err
		}
		found, err := part.play(ctx, at, res)
		for _, f := range found {
			failures = append(failures, part.name+": "+f)
		}
		if err != nil {
			return failures, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return failures, nil
}

func (o *options) playPlain(ctx context.Context, dir string, res *result) ([]string, error) {
	found, err := o.playSiege(ctx, dir, false, res)
	if err != nil {
		return found, err
	}
	control, err := playControl(ctx, min(o.connections, 200))
	note("the control is judged: %q", control.Failures)
	return found, err
}

func (o *options) playSecure(ctx context.Context, dir string, res *result) ([]string, error) {
	return o.playSiege(ctx, dir, true, res)
}

// playSiege is the full siege: every kind, until each connection has ended.
func (o *options) playSiege(ctx context.Context, dir string, secure bool, res *result) ([]string, error) {
	s, server, err := o.lay(ctx, dir, secure)
	if err != nil {
		return nil, err
	}
	defer server.kill()
	every := func(*kind) bool { return true }
	name := map[bool]string{false: "plain", true: "TLS"}[secure]
	one, err := s.play(ctx, name, plan{
		connections: o.connections, rounds: o.rounds, times: o.times, chosen: every, awaited: every,
		bars: bars{ratio: 2, slack: 5 * time.Second, descriptors: 10, memory: 256 << 20, // the store keeps 128 MiB of buffers, and some for each core
			patience: 8 * time.Minute},
	})
	res.Sieges = append(res.Sieges, one)
	for _, f := range one.Operations {
		note("%s: %-4s quiet %.1f ms (p95 %.1f), besieged %.1f ms (p95 %.1f)", name, f.Name, f.Quiet.Median, f.Quiet.P95, f.Besieged.Median, f.Besieged.P95)
	}
	return one.Failures, err
}

// keep takes over what an earlier run found in other parts than those chosen now.
func (r *result) keep(path string, chosen []string) {
	var old result
	if b, err := os.ReadFile(path); err != nil || json.Unmarshal(b, &old) != nil {
		return // there is none
	}
	played := func(part string) bool { return slices.Contains(chosen, part) }
	for _, s := range old.Sieges {
		if !played(partOf[s.Name]) {
			r.Sieges = append(r.Sieges, s)
		}
	}
	if !played("crowd") {
		r.Crowd = old.Crowd
	}
	if !played("rest") {
		r.Rest = old.Rest
	}
	if !played("bombs") {
		r.Bombs = old.Bombs
	}
	if !played("upgrade") {
		r.Upgrade = old.Upgrade
	}
}

// partOf is the part that a siege belongs to, by its name.
var partOf = map[string]string{"plain": "siege", "TLS": "tls"}

func write(path string, res result) error {
	b, err := json.MarshalIndent(res, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

// machine says what the figures were measured on.
func machine() map[string]string {
	m := map[string]string{"cores": fmt.Sprint(runtime.NumCPU()), "go": runtime.Version(), "os": runtime.GOOS + "/" + runtime.GOARCH}
	if b, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m["kernel"] = strings.TrimSpace(string(b))
	}
	return m
}

// note tells who watches how far it is.
func note(format string, a ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", a...)
}
