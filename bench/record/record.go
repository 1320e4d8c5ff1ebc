// Package record keeps what a run of the benchmark measured, and tells it: as
// JSON with every sample, as a table, as a page of the documentation.
//
// It only turns values into text. It never measures, and knows no path or name of
// the machine.
//
//	K1  A ratio compares two tools of the same run, and medians only.
//	K2  What was not measured is not told: a tool that was not there is named as such.
package record

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Version of the JSON.
const Version = 1

// Subject is the tool that the others are compared with.
const Subject = "retake"

// Unit says what a sample is.
type Unit string

// The units.
const (
	Millis Unit = "ms"
	Bytes  Unit = "bytes"
	Count  Unit = "count"
)

// Key names a row, so that a later run can be laid beside this one.
type Key string

// The rows.
const (
	First             Key = "first"
	FirstMemory       Key = "first.memory"
	Random            Key = "save.random"
	RandomMemory      Key = "save.random.memory"
	RandomStore       Key = "save.random.store"
	RandomAll         Key = "save.random.all"
	Together          Key = "save.together"
	TogetherStore     Key = "save.together.store"
	Same              Key = "save.same"
	Flat              Key = "flat"
	LargeFirst        Key = "large.first"
	Large             Key = "large"
	LargeStore        Key = "large.store"
	SyncsStore        Key = "syncs.store"
	SyncsClose        Key = "syncs.close"
	SyncsTree         Key = "syncs.workspace"
	TracedStore       Key = "syncs.traced.store"
	TracedRest        Key = "syncs.traced.rest"
	TracedTree        Key = "syncs.traced.workspace"
	StoreWait         Key = "syncs.traced.store.wait"
	RestWait          Key = "syncs.traced.rest.wait"
	TreeWait          Key = "syncs.traced.workspace.wait"
	WarmSave          Key = "save.warm"
	StartVersion      Key = "start.version"
	StartLog          Key = "start.log"
	Million           Key = "million.first"
	MillionMemory     Key = "million.first.memory"
	MillionSave       Key = "million.save"
	MillionSaveMemory Key = "million.save.memory"
)

// Record is one run.
type Record struct {
	V       int       `json:"v"`
	Date    string    `json:"date"`
	Machine Machine   `json:"machine"`
	Setup   Setup     `json:"setup"`
	Tools   []Tool    `json:"tools"`
	Missing []Missing `json:"missing"`
	Rows    []*Row    `json:"rows"`
}

// Machine is what a reader needs to judge the figures.
type Machine struct {
	System     string `json:"system"`
	Kernel     string `json:"kernel"`
	Cores      int    `json:"cores"`
	Memory     int64  `json:"memory"`
	FileSystem string `json:"file_system"`
	Go         string `json:"go"`
}

// Setup is the one configuration of the run.
type Setup struct {
	Quick   bool   `json:"quick"`
	Seed    uint64 `json:"seed"`
	Files   int    `json:"files"`
	Dirs    int    `json:"dirs"`
	Bytes   int64  `json:"bytes"`
	Flat    int    `json:"flat"`
	Large   int64  `json:"large"`
	Million int    `json:"million"`
	Firsts  int    `json:"firsts"`
	Rounds  int    `json:"rounds"`
	Edits   int    `json:"edits"`
}

// Tool is a program that took part, and how it was set up.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	How     string `json:"how"`
}

// Missing is a program or a measurement that was not there.
type Missing struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Row is one measurement of all tools. Base is what the values are held against,
// when there is such a thing.
type Row struct {
	Key      Key                  `json:"key"`
	Title    string               `json:"title"`
	Unit     Unit                 `json:"unit"`
	Samples  map[string][]float64 `json:"samples"`
	Base     []float64            `json:"base,omitempty"`
	BaseName string               `json:"base_name,omitempty"`
}

// Row answers the row of a key and begins it when it is not there.
func (r *Record) Row(key Key, unit Unit, title string) *Row {
	if w := r.Find(key); w != nil {
		return w
	}
	w := &Row{Key: key, Title: title, Unit: unit, Samples: map[string][]float64{}}
	r.Rows = append(r.Rows, w)
	return w
}

// Find answers the row of a key, or nil.
func (r *Record) Find(key Key) *Row {
	for _, w := range r.Rows {
		if w.Key == key {
			return w
		}
	}
	return nil
}

// Add adds a sample of a tool.
func (w *Row) Add(tool string, v float64) { w.Samples[tool] = append(w.Samples[tool], v) }

// Median is of one tool; ok is false when it has no sample. A nil row has none.
func (w *Row) Median(tool string) (v float64, ok bool) {
	if w == nil {
		return 0, false
	}
	return Median(w.Samples[tool])
}

// Ratio is the subject's median as a multiple of a peer's.
func (w *Row) Ratio(peer string) (v float64, ok bool) {
	own, ok := w.Median(Subject)
	other, there := w.Median(peer)
	if !ok || !there || other == 0 {
		return 0, false
	}
	return own / other, true
}

// Median of samples; ok is false when there are none.
func Median(samples []float64) (v float64, ok bool) {
	if len(samples) == 0 {
		return 0, false
	}
	s := slices.Sorted(slices.Values(samples))
	m := len(s) / 2
	if len(s)%2 == 1 {
		return s[m], true
	}
	return (s[m-1] + s[m]) / 2, true
}

// Peers are the tools beside the subject, in the order of the record.
func (r *Record) Peers() []string {
	var out []string
	for _, t := range r.Tools {
		if t.Name != Subject {
			out = append(out, t.Name)
		}
	}
	return out
}

// Write writes the record as JSON.
func (r *Record) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}

// Read reads a record.
func Read(from io.Reader) (*Record, error) {
	var r Record
	if err := json.NewDecoder(from).Decode(&r); err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	if r.V != Version {
		return nil, fmt.Errorf("read record: version %d, not %d", r.V, Version)
	}
	return &r, nil
}
