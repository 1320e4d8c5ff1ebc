package record_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake/bench/record"
)

// The bars of stories are absolute: each of them breaks by itself.
func TestBarsOfStories(t *testing.T) {
	t.Parallel()
	rows := map[record.Key]struct {
		tool string
		held float64
	}{
		record.StoryShared: {record.Retake, 10}, record.StoryRandom: {record.Retake, 10},
		record.StoryInstall: {record.Retake, 300}, record.StoryScreen: {record.Process, 100},
	}
	for slow := range rows {
		for _, over := range []float64{0, 0.5} {
			r := &record.Record{V: record.Version}
			r.Begin(&record.Scenario{Letter: "l", Title: "Stories", Date: "2025-01-02"})
			for key, is := range rows {
				v := is.held
				if key == slow {
					v += over
				}
				r.Row("l", key, record.Millis, "story").Add(is.tool, v)
			}
			var b strings.Builder
			if got := r.Check(&b); got != (over == 0) {
				t.Errorf("%s, %v above: held %v\n%s", slow, over, got, b.String())
			}
		}
	}
}
