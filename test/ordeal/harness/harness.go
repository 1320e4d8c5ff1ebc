// Package harness is what every ordeal registers with: it picks and runs them, and counts
// and reports what they found.
package harness

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Verdict is one row of reliability.json.
type Verdict struct {
	Guarantee string         `json:"guarantee"`
	Tier      string         `json:"tier"`
	What      string         `json:"what"`
	Tried     int64          `json:"tried"`
	Failed    int64          `json:"failed"`
	Control   string         `json:"control"`        // what was taken away
	Caught    int64          `json:"control_caught"` // how often that made it fail; 0 means the harness is blind
	Detail    map[string]any `json:"detail,omitempty"`
	Seconds   float64        `json:"seconds"`
	Failures  []string       `json:"failures,omitempty"` // the first few
}

func (v *Verdict) Fail(format string, a ...any) {
	v.Failed++
	if len(v.Failures) < 10 {
		v.Failures = append(v.Failures, fmt.Sprintf(format, a...))
	}
}

// Run is one invocation.
type Run struct {
	Tier string
	Seed int64
	Dir  string // scratch
}

// Figure picks the number of tries of the tier.
func (r *Run) Figure(q, c int) int {
	if r.Tier == "c" {
		return c
	}
	return q
}

// Scratch makes a new empty directory.
func (r *Run) Scratch(name string) string {
	d, err := os.MkdirTemp(r.Dir, name+"-")
	if err != nil {
		panic(err)
	}
	return d
}

type ordeal struct {
	id string
	do func(*Run) []Verdict
}

var ordeals []ordeal

// Register adds an ordeal; called from init functions.
func Register(id string, do func(*Run) []Verdict) { ordeals = append(ordeals, ordeal{id, do}) }

// Children are re-executions of this program that do one dangerous thing: the
// first argument is "child", the second the name.
var Children = map[string]func(args []string) int{}

func Main() {
	if len(os.Args) > 2 && os.Args[1] == "child" {
		os.Exit(Children[os.Args[2]](os.Args[3:]))
	}
	os.Exit(report())
}

// among reports whether a list names the ordeal, or the guarantee that it is about.
func (o ordeal) among(list string) bool {
	guarantee, _, _ := strings.Cut(o.id, "-")
	names := strings.Split(list, ",")
	return slices.Contains(names, o.id) || slices.Contains(names, guarantee)
}

func report() int {
	tier := flag.String("tier", "q", "q or c")
	only := flag.String("only", "", "guarantees, separated by commas")
	except := flag.String("except", "", "all but these, so that a new one is never forgotten")
	seed := flag.Int64("seed", 1, "seed of everything random")
	out := flag.String("o", "", "write the rows as JSON")
	dir := flag.String("dir", "", "scratch directory")
	list := flag.Bool("list", false, "print the names of the ordeals, and of what they start as children")
	flag.Parse()
	if *list {
		printNames()
		return 0
	}
	scratch, err := os.MkdirTemp(*dir, "ordeal-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // scratch
	r := &Run{Tier: *tier, Seed: *seed, Dir: scratch}
	slices.SortFunc(ordeals, func(a, b ordeal) int { return strings.Compare(a.id, b.id) })
	var rows []Verdict
	bad := false
	for _, o := range ordeals {
		if *only != "" && !o.among(*only) || *except != "" && o.among(*except) {
			continue
		}
		start := time.Now()
		for _, v := range o.do(r) {
			if v.Seconds == 0 {
				v.Seconds = time.Since(start).Seconds()
			}
			start = time.Now()
			v.Tier = *tier
			rows = append(rows, v)
			bad = say(v) || bad
		}
	}
	if *out != "" {
		if err := write(*out, *tier, *seed, rows); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if bad {
		return 1
	}
	return 0
}

// printNames prints what is registered, one name to a line.
func printNames() {
	names := slices.Sorted(maps.Keys(Children))
	for i := range names {
		names[i] = "child " + names[i]
	}
	for _, o := range ordeals {
		names = append(names, o.id)
	}
	slices.Sort(names)
	fmt.Println(strings.Join(names, "\n"))
}

// say prints a row and answers whether it is a failure: something failed, nothing
// was tried, or the control was not caught.
func say(v Verdict) bool {
	bad := v.Failed > 0 || v.Tried == 0 || v.Caught == 0
	word := "ok  "
	if bad {
		word = "FAIL"
	}
	fmt.Printf("%s %-4s %-62s tried %8d  failed %d  control caught %d  %.1f s\n", word, v.Guarantee, v.What, v.Tried, v.Failed, v.Caught, v.Seconds)
	for _, f := range v.Failures {
		fmt.Println("       ", f)
	}
	return bad
}

func write(path, tier string, seed int64, rows []Verdict) error {
	b, err := json.MarshalIndent(map[string]any{"v": 1, "tier": tier, "seed": seed, "rows": rows}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}
