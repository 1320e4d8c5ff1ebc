// Package record keeps what runs of the benchmark measured, and tells it: as JSON
// with every sample, as a table, as a page of the documentation with plots.
//
// It only turns values into text. It never measures, and knows no path or name of
// the machine.
//
//	K1  A ratio compares medians of the same scenario and the same run of it.
//	K2  What was not measured is not told: what was not there is named as such.
//	K3  A scenario that is measured again replaces its rows, and no others.
package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// Version of the JSON.
const Version = 2

// Unit says what a sample is.
type Unit string

// The units.
const (
	Millis  Unit = "ms"
	Bytes   Unit = "bytes"
	Count   Unit = "count"
	Percent Unit = "percent"
)

// Record is all that was measured on one machine with one configuration.
type Record struct {
	V         int         `json:"v"`
	Machine   Machine     `json:"machine"`
	Config    []Setting   `json:"config"` // of retake: the one default configuration
	Tools     []Tool      `json:"tools"`
	Scenarios []*Scenario `json:"scenarios"`
	Rows      []*Row      `json:"rows"`
	Curves    []*Curve    `json:"curves"`
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

// Setting is one key of retake's configuration.
type Setting struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Tool is a program that took part, and how it was set up.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	How     string `json:"how"`
}

// Letter names a scenario.
type Letter string

// Scenario is one run of one letter.
type Scenario struct {
	Letter  Letter    `json:"letter"`
	Title   string    `json:"title"`
	Date    string    `json:"date"`
	Quick   bool      `json:"quick"`
	Seconds float64   `json:"seconds"`
	Facts   []string  `json:"facts"` // what a reader must know about it
	Missing []Missing `json:"missing"`
}

// Missing is a program or a measurement that was not there.
type Missing struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Row is one measurement of all tools. Base is what the values are held against,
// when there is such a thing.
type Row struct {
	Scenario Letter               `json:"scenario"`
	Key      Key                  `json:"key"`
	Title    string               `json:"title"`
	Unit     Unit                 `json:"unit"`
	Samples  map[string][]float64 `json:"samples"`
	Base     []float64            `json:"base,omitempty"`
	BaseName string               `json:"base_name,omitempty"`
}

// Curve is a value over the number of checkpoints.
type Curve struct {
	Scenario Letter    `json:"scenario"`
	Key      Key       `json:"key"`
	Title    string    `json:"title"`
	Unit     Unit      `json:"unit"`
	X        []float64 `json:"x"`
	Y        []float64 `json:"y"`
}

// Begin opens a scenario anew: what an earlier run of it left is dropped.
func (r *Record) Begin(s *Scenario) {
	r.Scenarios = slices.DeleteFunc(r.Scenarios, func(x *Scenario) bool { return x.Letter == s.Letter })
	r.Rows = slices.DeleteFunc(r.Rows, func(x *Row) bool { return x.Scenario == s.Letter })
	r.Curves = slices.DeleteFunc(r.Curves, func(x *Curve) bool { return x.Scenario == s.Letter })
	r.Scenarios = append(r.Scenarios, s)
	slices.SortFunc(r.Scenarios, func(a, b *Scenario) int { return strings.Compare(string(a.Letter), string(b.Letter)) })
}

// Scenario answers one, or nil.
func (r *Record) Scenario(l Letter) *Scenario {
	for _, s := range r.Scenarios {
		if s.Letter == l {
			return s
		}
	}
	return nil
}

// Fact adds something to know, once.
func (s *Scenario) Fact(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Facts, text) {
		s.Facts = append(s.Facts, text)
	}
}

// Miss says that something was not there, once; it reports whether that is new.
func (s *Scenario) Miss(name, why string) bool {
	m := Missing{name, why}
	if slices.Contains(s.Missing, m) {
		return false
	}
	s.Missing = append(s.Missing, m)
	return true
}

// Row answers the row of a key and begins it when it is not there.
func (r *Record) Row(l Letter, key Key, unit Unit, title string) *Row {
	if w := r.Find(key); w != nil {
		return w
	}
	w := &Row{Scenario: l, Key: key, Title: title, Unit: unit, Samples: map[string][]float64{}}
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

// Curve answers the curve of a key and begins it when it is not there.
func (r *Record) Curve(l Letter, key Key, unit Unit, title string) *Curve {
	if c := r.FindCurve(key); c != nil {
		return c
	}
	c := &Curve{Scenario: l, Key: key, Title: title, Unit: unit}
	r.Curves = append(r.Curves, c)
	return c
}

// FindCurve answers the curve of a key, or nil.
func (r *Record) FindCurve(key Key) *Curve {
	for _, c := range r.Curves {
		if c.Key == key {
			return c
		}
	}
	return nil
}

// Add adds a point.
func (c *Curve) Add(x, y float64) { c.X, c.Y = append(c.X, x), append(c.Y, y) }

// Add adds a sample of a tool.
func (w *Row) Add(tool string, v float64) { w.Samples[tool] = append(w.Samples[tool], v) }

// Median is of one tool; ok is false when it has no sample. A nil row has none.
func (w *Row) Median(tool string) (v float64, ok bool) {
	if w == nil {
		return 0, false
	}
	return Median(w.Samples[tool])
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

// Tail is what 95 of 100 samples are not above; ok is false when there are none.
func Tail(samples []float64) (v float64, ok bool) {
	if len(samples) == 0 {
		return 0, false
	}
	s := slices.Sorted(slices.Values(samples))
	return s[(len(s)*95+99)/100-1], true
}

// AddTool notes a tool, in the place of an earlier one of its name.
func (r *Record) AddTool(t Tool) {
	i := slices.IndexFunc(r.Tools, func(x Tool) bool { return x.Name == t.Name })
	if i < 0 {
		r.Tools = append(r.Tools, t)
		return
	}
	r.Tools[i] = t
}

// Write writes the record as JSON.
func (r *Record) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
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

// Load reads the record of a file; one that is not there is empty.
func Load(path string) (*Record, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &Record{V: Version}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open record: %w", err)
	}
	defer f.Close() //nolint:errcheck // only read
	return Read(f)
}

// Save writes the file anew. An interrupted one leaves the old file whole.
func (r *Record) Save(path string) error {
	f, err := os.Create(path + ".new")
	if err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	if err := errors.Join(r.Write(f), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("write record: %w", err)
	}
	return nil
}
