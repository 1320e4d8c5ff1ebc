package record_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/bench/record"
)

func sample() *record.Record {
	r := &record.Record{
		V: record.Version, Date: "2025-01-02",
		Machine: record.Machine{System: "linux", Kernel: "6.1", Cores: 2, Memory: 8e9, FileSystem: "ext4", Go: "go1.26"},
		Setup:   record.Setup{Files: 100, Dirs: 10, Bytes: 1e6, Large: 2e9, Rounds: 3, Firsts: 1, Edits: 10},
		Tools:   []record.Tool{{Name: "retake", Version: "dev"}, {Name: "git", Version: "2"}},
		Missing: []record.Missing{{Name: "restic", Why: "not on the path"}},
	}
	w := r.Row(record.Random, record.Millis, "save of 10 files")
	for _, v := range []float64{50, 10, 20} {
		w.Add("retake", v)
	}
	w.Add("git", 30)
	w.Add("git", 50)
	s := r.Row(record.RandomStore, record.Bytes, "store grows by")
	s.Base, s.BaseName = []float64{1000}, "compressed"
	s.Add("retake", 2500)
	r.Row(record.Large, record.Millis, "one page of 2 GB").Add("retake", 4000)
	r.Row(record.LargeStore, record.Bytes, "store grows by").Add("retake", 4e6)
	return r
}

func TestMedianAndRatio(t *testing.T) {
	t.Parallel()
	w := sample().Find(record.Random)
	if v, ok := w.Median("retake"); !ok || v != 20 {
		t.Errorf("median of three: %v %v", v, ok)
	}
	if v, ok := w.Median("git"); !ok || v != 40 {
		t.Errorf("median of two: %v %v", v, ok)
	}
	if v, ok := w.Ratio("git"); !ok || v != 0.5 {
		t.Errorf("ratio: %v %v", v, ok)
	}
	if _, ok := w.Ratio("kopia"); ok {
		t.Error("a ratio to a tool that was not there")
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
	if _, err := record.Read(strings.NewReader(`{"v":99}`)); err == nil {
		t.Error("another version was read")
	}
}

func TestTableTellsMediansRatiosAndWhatIsMissing(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	sample().Table(&b)
	for _, want := range []string{"20 ms", "40 ms", "0.50×", "compressed: 1 kB", "2.50 kB", "not there: restic: not on the path"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestReportTellsOnlyWhatWasMeasured(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	sample().Report(&b, "bench/results/x.json")
	for _, want := range []string{"`bench/results/x.json`", "| save of 10 files | 20 ms | 40 ms | 0.50× |", "500 MB/s", "restic (not on the path)", "2 cores, 8 GB"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	for _, no := range []string{"Opening", "The disk"} {
		if strings.Contains(b.String(), no) {
			t.Errorf("%q is told, and nothing of it was measured", no)
		}
	}
}

func quick() *record.Record {
	r := sample()
	for key, v := range map[record.Key][2]float64{
		record.First: {100, 100}, record.Together: {100, 100}, record.Same: {100, 100}, record.Flat: {100, 100},
	} {
		w := r.Row(key, record.Millis, string(key))
		w.Add("retake", v[0])
		w.Add("git", v[1])
	}
	r.Row(record.WarmSave, record.Millis, "warm").Add("retake", 10)
	r.Row(record.SyncsClose, record.Count, "close").Add("retake", 0)
	for _, v := range []float64{4, 7, 4} { // one of them did the upkeep
		r.Row(record.SyncsStore, record.Count, "fsyncs").Add("retake", v)
	}
	return r
}

func TestBoundsHoldAndBreak(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(*record.Record)
		held  bool
	}{
		"as it is":            {func(*record.Record) {}, true},
		"one more sync":       {func(r *record.Record) { r.Find(record.SyncsStore).Samples["retake"] = []float64{5, 5, 4} }, false},
		"a sync at the close": {func(r *record.Record) { r.Find(record.SyncsClose).Samples["retake"] = []float64{1} }, false},
		"syncs not counted":   {func(r *record.Record) { delete(r.Find(record.SyncsStore).Samples, "retake") }, false},
		"a slow save":         {func(r *record.Record) { r.Find(record.Random).Samples["retake"] = []float64{9000} }, false},
		"a fat save":          {func(r *record.Record) { r.Find(record.RandomStore).Samples["retake"] = []float64{9000} }, false},
		"git not there":       {func(r *record.Record) { delete(r.Find(record.Random).Samples, "git") }, true},
	} {
		var b strings.Builder
		r := quick()
		c.spoil(r)
		if got := r.Check(&b); got != c.held {
			t.Errorf("%s: held %v, want %v\n%s", name, got, c.held, b.String())
		}
	}
}
