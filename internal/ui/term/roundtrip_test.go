package term_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
	"github.com/retake-dev/retake/internal/view"
)

const randomTimelines = 2000

// What a daemon or a server answers is drawn as what the service arranged: nothing that a
// drawing needs stays behind on the way through JSON, and nothing hostile gets out.
func TestAViewIsDrawnTheSameAfterJSON(t *testing.T) {
	t.Parallel()
	for seed := range uint64(randomTimelines) {
		in := termtest.RandomTimeline(seed)
		in.FoldReplaced = seed%2 == 1
		here := view.Timeline(in)
		there := throughJSON(t, here)
		l := term.NewLook([]int{80, 160}[seed/2%2], termtest.Now, seed%5 == 0, false)
		want := term.RenderTimeline(l, here)
		if got := term.RenderTimeline(l, there); got != want {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, got, want)
		}
		if strings.ContainsAny(want, "\x1b\u202e") {
			t.Fatalf("seed %d: not escaped: %q", seed, want)
		}
	}
}

// A control: a view that loses one flag on its way is drawn otherwise.
func TestControlALostFlagIsSeen(t *testing.T) {
	t.Parallel()
	here := view.Timeline(termtest.SampleTimeline())
	there := throughJSON(t, here)
	for i := range there.Rows {
		if len(there.Rows[i].Flags) > 0 {
			there.Rows[i].Flags = nil
			break
		}
	}
	l := term.NewLook(80, termtest.Now, false, false)
	if term.RenderTimeline(l, here) == term.RenderTimeline(l, there) {
		t.Fatal("a lost flag was not seen")
	}
}

func throughJSON(t *testing.T, v retake.TimelineView) (out retake.TimelineView) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
