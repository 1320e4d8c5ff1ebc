//go:build linux

// Command fleet puts a server of Retake under load and under faults, on real PostgreSQL
// and S3: several servers behind one address, many namespaces, clients that edit files and
// remember what they were told. It prints how many were tried and how many failed, and
// each promise has a control that must fail.
//
//	go run ./test/fleet -quick                                      a small version of both, for .ci/run
//	go run ./test/fleet -for 15m -namespaces 20 -workspaces 200     load: rates, times, what a checkpoint costs
//	go run ./test/fleet -chaos -for 15m                             kills, cuts, freezes, a full disk
//	go run ./test/fleet -report fleet.json -page docs/internals/scale.md      the figures of a run, into the page
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/retake-dev/retake/test/parts"
)

type options struct {
	span       time.Duration // of a phase
	namespaces int
	workspaces int
	servers    int
	think      time.Duration
	rows       int
	sample     int
	seed       int64
	program    string
	dir        string
	logs       string
	quick      bool
}

// verdict is one row, as those of test/ordeal.
type verdict struct {
	Guarantee string         `json:"guarantee"`
	What      string         `json:"what"`
	Tried     int64          `json:"tried"`
	Failed    int64          `json:"failed"`
	Control   string         `json:"control"`        // what was taken away
	Caught    int64          `json:"control_caught"` // how often that made it fail; 0 means the harness is blind
	Detail    map[string]any `json:"detail,omitempty"`
	Seconds   float64        `json:"seconds"`
	Failures  []string       `json:"failures,omitempty"` // the first few
}

func (v *verdict) fail(format string, a ...any) {
	v.Failed++
	if len(v.Failures) < 10 {
		v.Failures = append(v.Failures, fmt.Sprintf(format, a...))
	}
}

// result is what a run leaves behind.
type result struct {
	V        int               `json:"v"`
	Machine  map[string]string `json:"machine"`
	Options  map[string]any    `json:"options"`
	Rows     []verdict         `json:"rows"`
	Load     *loadResult       `json:"load,omitempty"`
	Timeline []timelineResult  `json:"timeline,omitempty"`
	Chaos    *chaosResult      `json:"chaos,omitempty"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx)
	stop()
	os.Exit(code)
}

func run(ctx context.Context) int {
	var o options
	flag.DurationVar(&o.span, "for", 15*time.Minute, "length of load or chaos")
	flag.IntVar(&o.namespaces, "namespaces", 20, "namespaces")
	flag.IntVar(&o.workspaces, "workspaces", 200, "workspaces of all namespaces together")
	flag.IntVar(&o.servers, "servers", 3, "servers")
	flag.DurationVar(&o.think, "think", 2*time.Second, "what a client waits between turns at first; load finds what suits the machine")
	flag.IntVar(&o.rows, "rows", 1_000_000, "checkpoints in the long timeline; 0: none is made")
	flag.IntVar(&o.sample, "sample", 500, "checkpoints that are read back after chaos")
	flag.Int64Var(&o.seed, "seed", 1, "seed of everything random")
	flag.StringVar(&o.program, "retake", "", "the command retake; built when it is not given")
	flag.StringVar(&o.dir, "dir", "", "scratch directory")
	flag.StringVar(&o.logs, "logs", "", "copy the logs of all parts to this directory")
	flag.BoolVar(&o.quick, "quick", false, "a small version of load and chaos; with -chaos, of that alone")
	chaos := flag.Bool("chaos", false, "chaos instead of load")
	out := flag.String("o", "", "write the result as JSON")
	report := flag.String("report", "", "print the figures of a result as a page does, and do nothing else")
	page := flag.String("page", "", "with -report: put them between the markers of this page")
	flag.Parse()
	if *report != "" {
		return told(tellFigures(*report, *page))
	}
	load := !*chaos
	if o.quick {
		load, *chaos = !*chaos, true // with -chaos, that alone
		o.span, o.namespaces, o.workspaces, o.think, o.sample = 40*time.Second, 3, 9, 500*time.Millisecond, 1<<30
		o.rows = min(o.rows, 20_000)
	}
	res, err := o.play(ctx, load, *chaos)
	bad := err != nil
	for _, v := range res.Rows {
		bad = say(v) || bad
	}
	if *out != "" {
		err = join(err, write(*out, res))
	}
	if told(err) != 0 || bad {
		return 1
	}
	return 0
}

func told(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// play runs what was asked for in a directory that goes away.
func (o *options) play(ctx context.Context, load, chaos bool) (res result, err error) {
	res = result{V: 1, Machine: machine(), Options: map[string]any{
		"for": o.span.String(), "namespaces": o.namespaces, "workspaces": o.workspaces, "servers": o.servers, "rows": o.rows, "seed": o.seed, "quick": o.quick,
	}}
	dir, remove, err := parts.Scratch(o.dir)
	if err != nil {
		return res, err
	}
	defer func() { err = join(err, remove()) }()
	if o.program == "" {
		if o.program, err = build(ctx, dir); err != nil {
			return res, err
		}
	}
	if load {
		if err := o.playLoad(ctx, filepath.Join(dir, "load"), &res); err != nil {
			return res, err
		}
	}
	if chaos {
		return res, o.playChaos(ctx, filepath.Join(dir, "chaos"), &res)
	}
	return res, nil
}

// say prints a row and answers whether it is a failure: something failed, nothing was
// tried, or the control was not caught.
func say(v verdict) bool {
	bad := v.Failed > 0 || v.Tried == 0 || v.Caught == 0
	word := "ok  "
	if bad {
		word = "FAIL"
	}
	fmt.Printf("%s %-5s %-62s tried %8d  failed %d  control caught %d  %.1f s\n", word, v.Guarantee, v.What, v.Tried, v.Failed, v.Caught, v.Seconds)
	for _, f := range v.Failures {
		fmt.Println("       ", f)
	}
	return bad
}

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
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				m["processor"] = strings.TrimSpace(value)
				break
			}
		}
	}
	return m
}

// note tells who watches how far it is.
func note(format string, a ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", a...)
}
