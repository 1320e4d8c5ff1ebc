package record_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/bench/record"
)

func sample() *record.Record {
	r := &record.Record{
		V:       record.Version,
		Machine: record.Machine{System: "linux", Kernel: "6.1", Cores: 2, Memory: 8e9, FileSystem: "ext4", Go: "go1.26"},
		Config:  []record.Setting{{Key: "gitignore", Value: "false"}, {Key: "floor"}},
	}
	r.AddTool(record.Tool{Name: record.Git, Version: "1", How: "old"})
	r.AddTool(record.Tool{Name: record.Git, Version: "2", How: "shadow"})
	s := &record.Scenario{Letter: "a", Title: "Saves", Date: "2025-01-02", Seconds: 12}
	r.Begin(s)
	s.Fact("The workspace has %d files.", 100)
	s.Fact("The workspace has %d files.", 100)
	s.Miss("restic", "not on the path")
	shared := r.Row("a", record.Shared, record.Millis, "save, shared")
	random := r.Row("a", record.Random, record.Millis, "save, random")
	for _, w := range []*record.Row{shared, random} {
		for _, v := range []float64{50, 10, 20} {
			w.Add(record.Retake, v)
		}
		w.Add(record.Engine, 8)
		w.Add(record.Git, 300)
		w.Add(record.Git, 500)
		w.Add(record.Solo, 700)
	}
	r.Row("a", record.Syncs, record.Count, "fsyncs").Add(record.Retake, 4)
	r.Row("a", record.SyncsStore, record.Count, "fsyncs of the store").Add(record.Solo, 4)
	for _, key := range []record.Key{record.SharedStore, record.RandomStore} {
		w := r.Row("a", key, record.Bytes, "store grows by")
		w.BaseName = "compressed"
		for i, v := range []float64{1000, 1000, 9000} {
			w.Base = append(w.Base, v)
			w.Add(record.Retake, v*[]float64{1, 1.2, 1.4}[i])
		}
	}
	return r
}

func TestMedian(t *testing.T) {
	t.Parallel()
	w := sample().Find(record.Random)
	if v, ok := w.Median(record.Retake); !ok || v != 20 {
		t.Errorf("median of three: %v %v", v, ok)
	}
	if v, ok := w.Median(record.Git); !ok || v != 400 {
		t.Errorf("median of two: %v %v", v, ok)
	}
	if _, ok := w.Median(record.Kopia); ok {
		t.Error("a median of a tool that was not there")
	}
}

func TestRecordSurvivesJSON(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := sample().Write(&b); err != nil {
		t.Fatal(err)
	}
	got, err := record.Read(&b)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sample(), got); d != "" {
		t.Error(d)
	}
	if _, err := record.Read(strings.NewReader(`{"v":1}`)); err == nil {
		t.Error("another version was read")
	}
}

func TestAScenarioReplacesItsOwnRowsOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "r.json")
	if r, err := record.Load(path); err != nil || len(r.Rows) != 0 {
		t.Fatalf("a file that is not there: %v %v", r, err)
	}
	if err := sample().Save(path); err != nil {
		t.Fatal(err)
	}
	r, err := record.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	r.Begin(&record.Scenario{Letter: "e"})
	r.Curve("e", record.LineSave, record.Millis, "median").Add(100, 5)
	if r.Find(record.Random) == nil {
		t.Error("a new scenario dropped the rows of another")
	}
	r.Begin(&record.Scenario{Letter: "e"})
	if r.FindCurve(record.LineSave) != nil || len(r.Scenarios) != 2 {
		t.Errorf("a scenario that runs again kept its curve; %d scenarios", len(r.Scenarios))
	}
	r.Begin(&record.Scenario{Letter: "a"})
	if r.Find(record.Random) != nil || r.Scenarios[0].Letter != "a" {
		t.Error("a scenario that runs again kept its rows, or its place was lost")
	}
}

func TestTableTellsMediansSpreadAndWhatIsMissing(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	sample().Table(&b)
	for _, want := range []string{"20 ms (10 – 50)", "400 ms (300 – 500)", "compressed: 1 kB", "not there: restic: not on the path"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestReportTellsOnlyWhatWasMeasured(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	r := sample()
	r.Report(&b, "bench/results/x.json")
	for _, want := range []string{
		"`bench/results/x.json`", "| a. save in the daemon, random places, to the engine bare | ≤ 5× | 20 ms to 8 ms | 2.50× | yes |",
		"| ≤ 1/15 | 20 ms to 400 ms | 1/20 | yes |", "restic (not on the path)", "2 cores, 8 GB", "| git | 2 | shadow |",
		"| gitignore | false |", "| floor | (not set) |", "](plots/saves.svg)",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for _, no := range []string{"line-save.svg", "A long line", "install"} {
		if strings.Contains(b.String(), no) {
			t.Errorf("%q is told, and nothing of it was measured", no)
		}
	}
	if got := strings.Count(b.String(), "The workspace has 100 files."); got != 1 {
		t.Errorf("a fact is told %d times", got)
	}
	r.Begin(&record.Scenario{Letter: "e"})
	r.Curve("e", record.LineSave, record.Millis, "median").Add(100, 5)
	if p := r.Plots(); len(p) != 2 || p[1].File != "line-save.svg" || !strings.Contains(p[1].SVG, "<polyline") {
		t.Errorf("%d plots", len(p))
	}
}

func TestBarsHoldAndBreak(t *testing.T) {
	t.Parallel()
	set := func(key record.Key, tool string, v ...float64) func(*record.Record) {
		return func(r *record.Record) { r.Find(key).Samples[tool] = v }
	}
	for name, c := range map[string]struct {
		spoil func(*record.Record)
		held  bool
	}{
		"as it is":                    {func(*record.Record) {}, true},
		"one more sync":               {set(record.Syncs, record.Retake, 5, 5, 4), false},
		"one of several saves packed": {set(record.Syncs, record.Retake, 4, 9, 4), true},
		"syncs not counted":           {set(record.Syncs, record.Retake), false},
		"syncs not counted, and said": {func(r *record.Record) {
			set(record.Syncs, record.Retake)(r)
			r.Scenario("a").Miss(record.Strace, "not on the path")
		}, true},
		"three times and a half the engine": {set(record.Shared, record.Retake, 25), false},
		"a slow save":                       {set(record.Random, record.Retake, 9000), false},
		"fat saves, and a large file":       {set(record.SharedStore, record.Retake, 2000, 1700, 9000), false},
		"one fat save of three":             {set(record.SharedStore, record.Retake, 2000, 1000, 9000), true},
		"growth without its payload":        {set(record.SharedStore, record.Retake, 1000), false},
		"git not there": {func(r *record.Record) {
			delete(r.Find(record.Random).Samples, record.Git)
			delete(r.Find(record.Shared).Samples, record.Git)
		}, false},
		"git not there, and said": {func(r *record.Record) {
			delete(r.Find(record.Random).Samples, record.Git)
			delete(r.Find(record.Shared).Samples, record.Git)
			r.Scenario("a").Miss(record.Git, "not on the path")
		}, true},
	} {
		var b strings.Builder
		r := sample()
		c.spoil(r)
		if got := r.Check(&b); got != c.held {
			t.Errorf("%s: held %v, want %v\n%s", name, got, c.held, b.String())
		}
	}
}

func TestAQuickRunHasSlackAndNoneForCounts(t *testing.T) {
	t.Parallel()
	check := func(spoil func(*record.Record)) bool {
		r := sample()
		r.Scenario("a").Quick = true
		spoil(r)
		return r.Check(&strings.Builder{})
	}
	if !check(func(r *record.Record) { r.Find(record.Shared).Samples[record.Retake] = []float64{40} }) {
		t.Error("five times the engine is within the slack")
	}
	if check(func(r *record.Record) { r.Find(record.Shared).Samples[record.Retake] = []float64{60} }) {
		t.Error("more than six times the engine is not")
	}
	if check(func(r *record.Record) { r.Find(record.Syncs).Samples[record.Retake] = []float64{5} }) {
		t.Error("a fifth sync is not")
	}
	zero := func(events float64) bool {
		return check(func(r *record.Record) {
			r.Begin(&record.Scenario{Letter: "g", Quick: true})
			r.Row("g", record.ReadEvents, record.Count, "events").Add(record.Retake, events)
			r.Row("g", record.ReadKept, record.Count, "checkpoints").Add(record.Process, 0)
		})
	}
	if !zero(0) || zero(1) {
		t.Error("no event is held, one is not")
	}
}
