package record_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake/bench/record"
)

// returns is a record of going back and of forks in which every bar holds.
func returns(quick bool) *record.Record {
	r := &record.Record{V: record.Version}
	r.Begin(&record.Scenario{Letter: "i", Title: "Going back", Date: "2025-01-02", Quick: quick})
	r.Begin(&record.Scenario{Letter: "j", Title: "Forks", Date: "2025-01-02", Quick: quick})
	for _, key := range []record.Key{record.BackShared, record.BackRandom, record.LooseShared, record.LooseRandom} {
		w := r.Row("i", key, record.Millis, "taken back")
		w.Add(record.Retake, 100)
		w.Add(record.Process, 120)
		w.Add(record.Git, 600)
	}
	touched := r.Row("i", record.BackTouched, record.Count, "paths touched")
	for range 3 {
		touched.Add(record.Retake, 0)
		touched.Add(record.Process, 0)
		touched.Add(record.Git, 7)
	}
	fork := r.Row("j", record.Fork, record.Millis, "files, xfs")
	for tool, v := range map[string]float64{record.Retake: 3000, record.Process: 3100, record.Copy: 9900, record.Clone: 4000} {
		fork.Add(tool, v)
	}
	r.Row("j", record.StatusHome, record.Millis, "git status").Add(record.Git, 200)
	r.Row("j", record.StatusFork, record.Millis, "git status, in the fork").Add(record.Git, 250)
	r.Row("j", record.ReadHome, record.Millis, "read").Add(record.Cat, 1000)
	r.Row("j", record.ReadFork, record.Millis, "read, in the fork").Add(record.Cat, 1100)
	return r
}

func TestBarsOfGoingBackAndForks(t *testing.T) {
	t.Parallel()
	set := func(key record.Key, tool string, v ...float64) func(*record.Record) {
		return func(r *record.Record) { r.Find(key).Samples[tool] = v }
	}
	for name, c := range map[string]struct {
		spoil       func(*record.Record)
		full, quick bool
	}{
		"as it is":                               {func(*record.Record) {}, true, true},
		"a quarter of git's time":                {set(record.LooseRandom, record.Retake, 150), false, true},
		"far above git's time":                   {set(record.BackShared, record.Retake, 3000), false, false},
		"one other path in one of three returns": {set(record.BackTouched, record.Retake, 0, 0, 1), false, false},
		"one by a process":                       {set(record.BackTouched, record.Process, 0, 1, 0), false, false},
		"nobody looked":                          {set(record.BackTouched, record.Process), false, false},
		"half of the time of cp":                 {set(record.Fork, record.Process, 5000), false, true},
		"twice the time of cp":                   {set(record.Fork, record.Retake, 20000), false, false},
		"status takes twice as long":             {set(record.StatusFork, record.Git, 400), false, true},
		"reading takes four times as long":       {set(record.ReadFork, record.Cat, 4000), false, false},
		"no fork was measured":                   {set(record.Fork, record.Retake), false, false},
	} {
		for quick, want := range map[bool]bool{false: c.full, true: c.quick} {
			var b strings.Builder
			r := returns(quick)
			c.spoil(r)
			if got := r.Check(&b); got != want {
				t.Errorf("%s, quick %v: held %v\n%s", name, quick, got, b.String())
			}
		}
	}
}

func TestForksWithoutAPlaceForThemAreExcused(t *testing.T) {
	t.Parallel()
	r := returns(false)
	for _, key := range []record.Key{record.Fork, record.StatusFork, record.ReadFork} {
		r.Find(key).Samples = map[string][]float64{}
	}
	if r.Check(&strings.Builder{}) {
		t.Fatal("nothing was measured, nothing was said, and it holds")
	}
	r.Scenario("j").Miss(record.XFS, "only root can mount an image")
	var b strings.Builder
	if !r.Check(&b) {
		t.Errorf("it was said, and does not hold\n%s", b.String())
	}
}

func TestReportHasGoingBackAndForks(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	returns(false).Report(&b, "x.json")
	for _, want := range []string{
		"## i. Going back\n", "## j. Forks\n", "| taken back | 100 ms | 120 ms | 600 ms |", "| paths touched | 0 | 0 | 7 |",
		"|  | retake | process | git | cp | clone | cat |", "| files, xfs | 3000 ms | 3100 ms | - | 9900 ms | 4000 ms | - |",
		"| i. paths touched besides the plan, in any round, in the daemon | ≤ 0 | 0 | - | yes |",
		"| j. fork in the daemon, shared blocks, to cp -a | ≤ 1/3 | 3000 ms to 9900 ms | 1/3.30 | yes |",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
