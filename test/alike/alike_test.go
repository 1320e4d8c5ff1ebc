package alike_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
	"github.com/retake-dev/retake/internal/view"
	"github.com/retake-dev/retake/test/alike"
)

const timelines = 2000

// The terminal and the console show the same rows, numbers, titles, flags, counts and words of
// random timelines. The last ones are controls: something was changed on the way to the console.
func TestTerminalAndConsoleShowTheSameTimeline(t *testing.T) {
	t.Parallel()
	var all []alike.Timeline
	for seed := range uint64(timelines) {
		in := termtest.RandomTimeline(seed)
		in.FoldReplaced = seed%2 == 1
		all = append(all, arrange(in))
	}
	controls := map[string]func(*alike.Timeline){
		"row":   func(a *alike.Timeline) { a.Graph.Rows = slices.Delete(a.Graph.Rows, 3, 4) },
		"title": func(a *alike.Timeline) { a.Flat.Rows[2].Title = "another title" },
		"count": func(a *alike.Timeline) { a.Flat.Rows[2].Files = 4321 },
		"flag":  func(a *alike.Timeline) { a.Flat.Rows[2].Flags = []retake.RowFlag{{Word: "strange"}} },
	}
	var names []string
	for name, change := range controls {
		a := arrange(termtest.SampleTimeline())
		change(&a)
		names, all = append(names, name), append(all, a)
	}
	found, err := alike.Compare("../..", all)
	if errors.Is(err, alike.ErrNoConsole) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	differ := 0
	for seed, d := range found[:timelines] {
		if len(d) > 0 {
			if differ++; differ <= 5 {
				t.Errorf("seed %d:\n%s", seed, strings.Join(d, "\n"))
			}
		}
	}
	t.Logf("%d timelines, %d differ", timelines, differ)
	for i, name := range names {
		if len(found[timelines+i]) == 0 {
			t.Errorf("the control %q was not noticed", name)
		}
	}
}

func arrange(in view.Input) alike.Timeline {
	flat, graph := in, in
	flat.Tree, flat.Flat, graph.Graph = false, true, true
	return alike.Timeline{Whole: view.Timeline(in), Flat: view.Timeline(flat), Graph: view.Timeline(graph)}
}
