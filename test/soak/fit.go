package main

import (
	"fmt"
	"math"
)

// slope is how fast a quantity grows in the second half of a run.
type slope struct {
	What    string  `json:"what"`
	Unit    string  `json:"unit"`
	PerDay  float64 `json:"per_day"`
	Error   float64 `json:"standard_error"`
	Bound   float64 `json:"bound,omitempty"` // 0: none
	Samples int     `json:"samples"`
}

func (s slope) String() string {
	text := fmt.Sprintf("%-12s %+.3f ± %.3f %s a day, %d samples", s.What, s.PerDay, s.Error, s.Unit, s.Samples)
	if s.Bound > 0 {
		text += fmt.Sprintf(", bound %g", s.Bound)
	}
	return text
}

// sureness is how many standard errors a slope must be above its bound. A short run is full of
// noise, and a slope that may as well be below its bound is not a leak.
const sureness = 3

// isSteep reports whether the quantity surely grows faster than its bound.
func (s slope) isSteep() bool {
	return s.Bound > 0 && s.Samples >= minFit && s.PerDay-sureness*s.Error > s.Bound
}

// point is one value. Values of different processes have different lives.
type point struct {
	x, y float64
	life int
}

const minFit = 5

// fitSlope is the least-squares slope of y over x, with an intercept for each life: a daemon that was
// killed starts small again, which would hide what it leaked before.
func fitSlope(points []point) (perX, stderr float64, ok bool) {
	type mean struct{ n, x, y float64 }
	lives := map[int]*mean{}
	for _, p := range points {
		if lives[p.life] == nil {
			lives[p.life] = &mean{}
		}
		m := lives[p.life]
		m.n, m.x, m.y = m.n+1, m.x+p.x, m.y+p.y
	}
	var sxx, sxy, syy float64
	for _, p := range points {
		m := lives[p.life]
		dx, dy := p.x-m.x/m.n, p.y-m.y/m.n
		sxx, sxy, syy = sxx+dx*dx, sxy+dx*dy, syy+dy*dy
	}
	free := float64(len(points) - len(lives) - 1)
	if sxx <= 0 || free < 1 {
		return 0, 0, false
	}
	perX = sxy / sxx
	return perX, math.Sqrt(max(syy-perX*sxy, 0) / free / sxx), true
}

// quantity is something that is measured and fitted.
type quantity struct {
	what, unit string
	of         func(sample) float64
	bound      func(options) float64 // nil: none
	kind       string                // of the failure
}

var quantities = []quantity{
	{"memory", "MB", func(s sample) float64 { return s.Memory }, func(o options) float64 { return o.MemoryBound }, failedMemory},
	{"descriptors", "", func(s sample) float64 { return float64(s.Descriptors) }, func(o options) float64 { return o.DescriptorBound }, failedDescriptors},
	{"threads", "", func(s sample) float64 { return float64(s.Threads) }, nil, ""},
	{"goroutines", "", func(s sample) float64 { return float64(s.Goroutines) }, nil, ""},
	{"store", "MB", func(s sample) float64 { return s.Store }, nil, ""},
	{"home files", "", func(s sample) float64 { return float64(s.Files) }, nil, ""},
}

// fit fits all quantities over the second half of the samples.
func (r *result) fit(all []sample) {
	half := all[len(all)/2:]
	r.Slopes = nil
	for _, q := range quantities {
		var points []point
		for _, s := range half {
			if s.PID != 0 {
				points = append(points, point{s.Day, q.of(s), s.PID})
			}
		}
		s := slope{What: q.what, Unit: q.unit, Samples: len(points)}
		if q.bound != nil {
			s.Bound = q.bound(r.Settings)
		}
		var ok bool
		if s.PerDay, s.Error, ok = fitSlope(points); !ok {
			s.Samples = 0 // nothing is said
		}
		r.Slopes = append(r.Slopes, s)
		if s.isSteep() {
			r.Failed++
			r.Failures = append(r.Failures, failure{Day: r.Days, Kind: q.kind, Text: "it grows too fast: " + s.String()})
		}
	}
}

// measureHighest finds the highest values, and compares the store with its limit.
func (r *result) measureHighest(all []sample) {
	r.Highest = map[string]float64{}
	for _, s := range all {
		for k, v := range map[string]float64{
			"memory_mb": s.Memory, "descriptors": float64(s.Descriptors), "threads": float64(s.Threads), "goroutines": float64(s.Goroutines), "home_mb": s.Home,
			"store_mb": s.Store, "files": float64(s.Files), "checkpoints": float64(s.Checkpoints), "queue": float64(s.Queue),
		} {
			r.Highest[k] = max(r.Highest[k], v)
		}
	}
	if most := float64(r.Settings.Limit + r.Settings.Slack); r.Highest["store_mb"] > most {
		r.Failed++
		r.Failures = append(r.Failures, failure{Day: r.Days, Kind: failedDisk, Text: fmt.Sprintf("the store had %.1f MB, limit and slack are %.0f MB", r.Highest["store_mb"], most)})
	}
}
