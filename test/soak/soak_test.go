//go:build testing

package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSlopeOfEachLifeCounts(t *testing.T) {
	t.Parallel()
	var points []point
	for i := range 40 { // the second process starts small again and grows as fast
		x := float64(i)
		points = append(points, point{x, 100 + 3*x + float64(i%2), 1}, point{x + 40, 20 + 3*(x+40) - 120 + float64(i%2), 2})
	}
	per, stderr, ok := fitSlope(points)
	if !ok || math.Abs(per-3) > 0.05 || stderr > 0.05 {
		t.Errorf("%v ± %v, %v; want 3", per, stderr, ok)
	}
	if _, _, ok := fitSlope(points[:2]); ok {
		t.Error("two values have a slope")
	}
}

func TestOnlyASureLeakFails(t *testing.T) {
	t.Parallel()
	rows := func(perDay, noise float64) []sample {
		var out []sample
		for i := range 100 {
			day := float64(i) / 10
			out = append(out, sample{Day: day, PID: 7, Memory: 80 + perDay*day + noise*float64(i%5), Descriptors: 20})
		}
		return out
	}
	for name, c := range map[string]struct {
		rows []sample
		want int
	}{
		"level": {rows(0, 1), 0}, "below the bound": {rows(1.5, 1), 0}, "leak": {rows(4, 1), 1}, "noise": {rows(2.2, 60), 0}, "few": {rows(9, 0)[:4], 0},
	} {
		r := result{Settings: options{MemoryBound: 2, DescriptorBound: 1, Limit: 10}}
		if r.fit(c.rows); r.Failed != c.want {
			t.Errorf("%s: %d failures, want %d: %v", name, r.Failed, c.want, r.Failures)
		}
	}
}

func TestStoreAboveItsLimitFails(t *testing.T) {
	t.Parallel()
	r := result{Settings: options{Limit: 100, Slack: 20}}
	r.measureHighest([]sample{{Store: 119}})
	if r.Failed != 0 {
		t.Error(r.Failures)
	}
	if r.measureHighest([]sample{{Store: 121}}); r.Failed != 1 || r.Failures[0].Kind != failedDisk {
		t.Error(r.Failures)
	}
}

func TestThinKeepsBothEnds(t *testing.T) {
	t.Parallel()
	var rows []sample
	for i := range 1001 {
		rows = append(rows, sample{Seconds: float64(i)})
	}
	if out := thin(rows, maxRows); len(out) != maxRows || out[0].Seconds != 0 || out[maxRows-1].Seconds != 1000 {
		t.Errorf("%d rows, %v to %v", len(out), out[0], out[len(out)-1])
	}
	if out := thin(rows[:3], maxRows); len(out) != 3 {
		t.Errorf("%d rows of 3", len(out))
	}
}

func TestPlotsAreMadeOfTheStoredResult(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := result{V: 1, Settings: options{Limit: 128, Days: 2}, Samples: []sample{{Day: 0.5, Memory: 61, Store: 20}, {Day: 1.5, Memory: 64, Store: 40, Descriptors: 30}}}
	if err := r.write(filepath.Join(dir, "r.json")); err != nil {
		t.Fatal(err)
	}
	stored, err := readResult(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, res := range map[string]result{"a": r, "b": stored} {
		if err := drawPlots(res, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"memory", "descriptors", "disk", "checkpoints"} {
		a, err1 := os.ReadFile(filepath.Join(dir, "a", "soak-"+name+".svg"))
		b, err2 := os.ReadFile(filepath.Join(dir, "b", "soak-"+name+".svg"))
		if err1 != nil || err2 != nil || string(a) != string(b) || !strings.Contains(string(a), "days") {
			t.Errorf("%s: %v %v, equal %v", name, err1, err2, string(a) == string(b))
		}
	}
}

func TestControlMustFindEverything(t *testing.T) {
	t.Parallel()
	r := result{Settings: options{Control: true}, Failures: []failure{{Kind: failedBytes}, {Kind: failedMemory}}}
	if r.exitCode() != 0 {
		t.Error("a control that missed something fails as it should")
	}
	r.Failures = append(r.Failures, failure{Kind: failedDescriptors})
	if r.exitCode() != 1 {
		t.Error("a control that found everything does not fail")
	}
}
