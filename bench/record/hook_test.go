package record_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake/bench/record"
)

func TestTail(t *testing.T) {
	t.Parallel()
	var all []float64
	for i := range 100 {
		all = append(all, float64(100-i))
	}
	for name, c := range map[string]struct {
		of   []float64
		want float64
		ok   bool
	}{
		"none":    {nil, 0, false},
		"one":     {[]float64{7}, 7, true},
		"twenty":  {all[80:], 19, true},
		"hundred": {all, 95, true},
	} {
		if v, ok := record.Tail(c.of); v != c.want || ok != c.ok {
			t.Errorf("%s: %v %v, want %v %v", name, v, ok, c.want, c.ok)
		}
	}
}

// The bar of a prompt after an edit is held by the tail: a few slow ones in twenty
// break it, one does not.
func TestBarsOfTheHook(t *testing.T) {
	t.Parallel()
	for slow, held := range map[int]bool{0: true, 1: true, 3: false} {
		r := &record.Record{V: record.Version}
		r.Begin(&record.Scenario{Letter: "k", Title: "The hook", Date: "2025-01-02"})
		for _, key := range []record.Key{record.HookSame, record.HookShared, record.HookRandom, record.HookForeign} {
			w := r.Row("k", key, record.Millis, "hook")
			for i := range 20 {
				v := 10.0
				if i < slow {
					v = 100
				}
				w.Add(record.Process, v)
			}
		}
		var b strings.Builder
		if got := r.Check(&b); got != held {
			t.Errorf("%d slow of 20: held %v\n%s", slow, got, b.String())
		}
	}
}
