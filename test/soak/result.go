package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kinds of failures.
const (
	failedBytes       = "wrong bytes"
	failedLost        = "lost checkpoint"
	failedHidden      = "checkpoint not found for a while" // it is there before and after
	failedLate        = "too slow"
	failedPanic       = "panic"
	failedInternal    = "internal error"
	failedRefusal     = "refusal without a cause"
	failedHook        = "hook"
	failedMemory      = "memory"
	failedDescriptors = "descriptors"
	failedDisk        = "disk"
	failedSoak        = "soak" // the soak itself could not go on
)

// failure is something that must not happen.
type failure struct {
	Day  float64 `json:"day"`
	Kind string  `json:"kind"`
	Text string  `json:"text"`
}

// sample is one look at the daemon and its home.
type sample struct {
	Seconds     float64 `json:"s"`
	Day         float64 `json:"day"`
	PID         int     `json:"pid"`
	Memory      float64 `json:"memory_mb"`
	Descriptors int     `json:"descriptors"`
	Threads     int     `json:"threads"`
	Goroutines  int     `json:"goroutines,omitempty"`
	Home        float64 `json:"home_mb"`
	Store       float64 `json:"store_mb"`
	Files       int     `json:"files"` // of the home
	Checkpoints int64   `json:"checkpoints"`
	Queue       int     `json:"queue"`
}

// counts say how much was done. Maps have a row for each kind.
type counts struct {
	Turns     int64            `json:"turns"`
	Hooks     int64            `json:"hooks"`
	Missed    map[string]int64 `json:"hooks_that_took_no_checkpoint"` // in a fault, or without one
	Commands  map[string]int64 `json:"commands"`
	Sampled   int64            `json:"trees_remembered"`
	Compared  map[string]int64 `json:"compared"`          // trees that were equal
	Named     map[string]int64 `json:"damage_named"`      // refusals after a bit was flipped
	Refused   map[string]int64 `json:"refused,omitempty"` // by kind of error
	Forgotten int64            `json:"forgotten"`         // remembered trees that retention deleted
	Faults    map[string]int64 `json:"faults"`
	Steps     int64            `json:"clock_steps"`
	Amid      int64            `json:"clock_steps_amid_a_command"`
	Slowest   map[string]span  `json:"slowest"`                     // by command
	Undone    map[string]int64 `json:"undo_not_compared,omitempty"` // why
}

// result is what a run gives.
type result struct {
	V        int                `json:"v"`
	Started  time.Time          `json:"started"`
	Seconds  float64            `json:"seconds"`
	Days     float64            `json:"days"`
	Settings options            `json:"settings"`
	Counts   counts             `json:"counts"`
	Slopes   []slope            `json:"slopes"`
	Highest  map[string]float64 `json:"highest"`
	Failed   int                `json:"failed"`
	Failures []failure          `json:"failures"` // the first ones
	Notes    []string           `json:"notes,omitempty"`
	Kept     string             `json:"kept,omitempty"` // the directory, if something failed
	Samples  []sample           `json:"samples"`
}

const (
	maxRows     = 200
	maxFailures = 50
	maxNotes    = 40
)

// thin keeps at most n rows, evenly, with the first and the last.
func thin(rows []sample, n int) []sample {
	if len(rows) <= n {
		return rows
	}
	out := make([]sample, 0, n)
	for i := range n {
		out = append(out, rows[i*(len(rows)-1)/(n-1)])
	}
	return out
}

func (r *result) write(path string) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o644)
}

func readResult(path string) (result, error) {
	var r result
	b, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	return r, err
}

// print writes a summary for people.
func (r *result) print() {
	c := r.Counts
	fmt.Printf("%.1f days in %s: %d turns, %d hooks, %d trees remembered, %d forgotten by retention\n",
		r.Days, time.Duration(r.Seconds*float64(time.Second)).Round(time.Second), c.Turns, c.Hooks, c.Sampled, c.Forgotten)
	for _, row := range []struct {
		name string
		m    map[string]int64
	}{{"commands", c.Commands}, {"compared", c.Compared}, {"damage named", c.Named}, {"refused", c.Refused}, {"no checkpoint", c.Missed}, {"faults", c.Faults}} {
		fmt.Printf("  %-14s %s\n", row.name, joinCounts(row.m))
	}
	for _, s := range r.Slopes {
		fmt.Println(" ", s)
	}
	fmt.Printf("  highest: memory %.0f MB, descriptors %.0f, store %.0f MB, files of the home %.0f\n",
		r.Highest["memory_mb"], r.Highest["descriptors"], r.Highest["store_mb"], r.Highest["files"])
	for _, f := range r.Failures {
		fmt.Printf("FAIL day %.2f  %s: %s\n", f.Day, f.Kind, f.Text)
	}
	fmt.Printf("%d failed\n", r.Failed)
	if r.Kept != "" {
		fmt.Println("the directory is kept:", r.Kept)
	}
}

func joinCounts(m map[string]int64) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}

// book takes down what all goroutines see.
type book struct {
	mu  sync.Mutex
	day func() float64
	res result // guarded by mu
}

func newBook(o options) *book {
	b := &book{res: result{V: 1, Settings: o, Failures: []failure{}}}
	c := &b.res.Counts
	for _, m := range []*map[string]int64{&c.Missed, &c.Commands, &c.Compared, &c.Named, &c.Refused, &c.Faults, &c.Undone} {
		*m = map[string]int64{}
	}
	c.Slowest = map[string]span{}
	return b
}

// count changes the counts.
func (b *book) count(change func(*counts)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.res.Counts)
}

// fail takes down a failure, and prints it at once: a run is long.
func (b *book) fail(kind, format string, a ...any) {
	f := failure{Day: b.day(), Kind: kind, Text: fmt.Sprintf(format, a...)}
	fmt.Fprintf(os.Stderr, "FAIL day %.2f  %s: %s\n", f.Day, f.Kind, f.Text)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.res.Failed++
	if len(b.res.Failures) < maxFailures {
		b.res.Failures = append(b.res.Failures, f)
	}
}

// note takes down what is not a failure, and explains a count.
func (b *book) note(format string, a ...any) {
	text := fmt.Sprintf("day %.2f  ", b.day()) + fmt.Sprintf(format, a...)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.res.Notes) < maxNotes {
		b.res.Notes = append(b.res.Notes, text)
	}
}
