package bisect_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/bisect"
)

// newLine makes checkpoints from 1 on, one for each content.
func newLine(contents ...string) []retake.Checkpoint {
	var out []retake.Checkpoint
	for i, c := range contents {
		out = append(out, retake.Checkpoint{Number: int64(i + 1), Content: retake.ContentID(c)})
	}
	return out
}

func TestPoints(t *testing.T) {
	t.Parallel()
	cps := newLine("a", "a", "b", "c", "c", "a")
	slices.Reverse(cps)
	want := []bisect.Point{{Numbers: []int64{1, 2}, Content: "a"}, {Numbers: []int64{3}, Content: "b"}, {Numbers: []int64{4, 5}, Content: "c"}, {Numbers: []int64{6}, Content: "a"}}
	if diff := cmp.Diff(want, bisect.Points(cps)); diff != "" {
		t.Error(diff)
	}
	if got := bisect.Points(nil); len(got) != 0 {
		t.Error(got)
	}
}

// testHistory returns as the checkpoints of a history do: "P" passes, "F" fails, "-" cannot be run.
type testHistory struct {
	points []bisect.Point
	says   map[retake.ContentID]retake.Verdict
	runs   int
}

var verdicts = map[byte]retake.Verdict{'P': retake.Passed, 'F': retake.Failed, '-': retake.CouldNotRun}

// newTestHistory makes a world of checkpoints with contents of their own.
func newTestHistory(says string) *testHistory {
	w := &testHistory{says: map[retake.ContentID]retake.Verdict{}}
	for i := range len(says) {
		p := bisect.Point{Numbers: []int64{int64(i + 1)}, Content: retake.ContentID(fmt.Sprint("c", i))}
		w.points = append(w.points, p)
		w.says[p.Content] = verdicts[says[i]]
	}
	return w
}

func (w *testHistory) search(t interface{ Fatalf(string, ...any) }, known map[retake.ContentID]retake.Verdict) (bisect.Result, *bisect.Search) {
	s := bisect.New(w.points, known)
	asked := map[retake.ContentID]bool{}
	for {
		i, ok := s.Next()
		if !ok {
			return s.Result(), s
		}
		if why := s.Result().Why; why != "" {
			t.Fatalf("it says %q and goes on", why)
		}
		c := w.points[i].Content
		if asked[c] || known[c] == retake.Passed || known[c] == retake.Failed {
			t.Fatalf("point %d is asked again", i)
		}
		asked[c] = true
		w.runs++
		s.SetVerdict(i, w.says[c])
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	for says, want := range map[string]bisect.Result{
		"":         {Good: -1, Bad: -1, Why: "there is no checkpoint"},
		"P":        {Good: 0, Bad: -1, Why: "it passes at the newest checkpoint"},
		"F":        {Good: -1, Bad: 0, Why: "it fails already at the first"},
		"-":        {Good: -1, Bad: -1, Skipped: []int{0}, Why: "nothing could be run"},
		"PF":       {Good: 0, Bad: 1},
		"FP":       {Good: 1, Bad: -1, Why: "it passes at the newest checkpoint"},
		"PPPPPPFF": {Good: 5, Bad: 6},
		"PFFFFFFF": {Good: 0, Bad: 1},
		"FFFFFFFF": {Good: -1, Bad: 0, Why: "it fails already at the first"},
		"---":      {Good: -1, Bad: -1, Skipped: []int{0, 1, 2}, Why: "nothing could be run"},
		"PP--":     {Good: 1, Bad: -1, Skipped: []int{2, 3}, Why: "it passes at 2, and nothing after it could be run"},
		"-F":       {Good: -1, Bad: 1, Skipped: []int{0}, Why: "it fails at 2, and nothing before it could be run"},
		"-FF-":     {Good: -1, Bad: 1, Skipped: []int{0, 3}, Why: "it fails at 2, and nothing before it could be run"},
		"-PF-":     {Good: 1, Bad: 2, Skipped: []int{0, 3}},
		"P--F":     {Good: 0, Bad: 3, Skipped: []int{1, 2}, Why: "between 1 and 4 nothing could be run"},
		"P-PFF":    {Good: 2, Bad: 3},
	} {
		got, s := newTestHistory(says).search(t, nil)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", says, diff)
		}
		if n := s.MaxRuns(); n != 0 {
			t.Errorf("%q: %d runs are left at the end", says, n)
		}
	}
}

func TestNewestThenOldestThenTheMiddle(t *testing.T) {
	t.Parallel()
	w := newTestHistory("PPPPPPPPF")
	s := bisect.New(w.points, nil)
	for at, want := range []int{8, 0, 4, 6} {
		i, ok := s.Next()
		if !ok || i != want {
			t.Fatalf("run %d is at %d, want %d", at, i, want)
		}
		s.SetVerdict(i, w.says[w.points[i].Content])
	}
}

func TestBesideWhatCannotRunComeItsNeighbours(t *testing.T) {
	t.Parallel()
	w := newTestHistory("P-------F")
	s := bisect.New(w.points, nil)
	var asked []int
	for i, ok := s.Next(); ok; i, ok = s.Next() {
		asked = append(asked, i)
		s.SetVerdict(i, w.says[w.points[i].Content])
	}
	if want := []int{8, 0, 4, 5, 3, 6, 2, 7, 1}; !slices.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
}

func TestAThousandCheckpointsTakeTwelveRuns(t *testing.T) {
	t.Parallel()
	for border := 1; border < 1000; border += 7 {
		says := make([]byte, 1000)
		for i := range says {
			says[i] = 'P'
			if i >= border {
				says[i] = 'F'
			}
		}
		w := newTestHistory(string(says))
		if most := bisect.New(w.points, nil).MaxRuns(); most > 12 {
			t.Fatalf("it may take %d runs", most)
		}
		r, _ := w.search(t, nil)
		if r.Good != border-1 || r.Bad != border || r.Why != "" || w.runs > 12 {
			t.Fatalf("border %d: %+v after %d runs", border, r, w.runs)
		}
		again := &testHistory{points: w.points}
		if stored, _ := again.search(t, w.says); stored.Good != r.Good || stored.Bad != r.Bad || again.runs != 0 {
			t.Fatalf("with everything stored: %+v after %d runs", stored, again.runs)
		}
	}
}

// A return to a checkpoint that passes, and what broke after it: the old break does not count.
func TestContentThatCameAgainSharesItsAnswer(t *testing.T) {
	t.Parallel()
	points := bisect.Points(newLine("p1", "p2", "p3", "f1", "f2", "p3", "p4", "f3", "f4"))
	w := &testHistory{points: points, says: map[retake.ContentID]retake.Verdict{}}
	for _, p := range points {
		w.says[p.Content] = verdicts[map[byte]byte{'p': 'P', 'f': 'F'}[p.Content[0]]]
	}
	if r, _ := w.search(t, nil); r.Good != 6 || r.Bad != 7 || w.runs != 6 {
		t.Errorf("%+v after %d runs", r, w.runs)
	}
	w.runs = 0
	if r, _ := w.search(t, map[retake.ContentID]retake.Verdict{"p3": retake.Passed}); r.Good != 6 || r.Bad != 7 || w.runs != 3 {
		t.Errorf("with one stored: %+v after %d runs", r, w.runs)
	}
}

func TestWhatCouldNotRunOnceIsTriedAgain(t *testing.T) {
	t.Parallel()
	w := newTestHistory("PPF")
	r, _ := w.search(t, map[retake.ContentID]retake.Verdict{"c2": retake.CouldNotRun, "c1": retake.RanOnOther})
	if r.Good != 1 || r.Bad != 2 || w.runs != 3 {
		t.Errorf("%+v after %d runs", r, w.runs)
	}
}

func TestAnswersOfNoPointChangeNothing(t *testing.T) {
	t.Parallel()
	w := newTestHistory("PF")
	s := bisect.New(w.points, nil)
	s.SetVerdict(-1, retake.Passed)
	s.SetVerdict(2, retake.Failed)
	if i, ok := s.Next(); !ok || i != 1 {
		t.Errorf("next is %d, %v", i, ok)
	}
}

// isBorder looks at every point, as somebody would who has all the time.
func isBorder(w *testHistory, r bisect.Result) bool {
	if r.Good < 0 || r.Bad <= r.Good || w.says[w.points[r.Good].Content] != retake.Passed || w.says[w.points[r.Bad].Content] != retake.Failed {
		return false
	}
	for i := r.Good + 1; i < r.Bad; i++ {
		if w.says[w.points[i].Content] != retake.CouldNotRun {
			return false
		}
	}
	return true
}

// ends are what a walk over all points sees first from either side.
func (w *testHistory) ends() (oldest, newest retake.Verdict) {
	for _, p := range w.points {
		if v := w.says[p.Content]; v != retake.CouldNotRun {
			newest = v
			if oldest == "" {
				oldest = v
			}
		}
	}
	return oldest, newest
}

func TestSearchAgreesWithAWalk(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SampledFrom([]string{"PF", "PF-", "PPF", "PFF", "P-F---"}).Draw(t, "kinds")
		contents := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 60).Draw(t, "contents")
		w := &testHistory{says: map[retake.ContentID]retake.Verdict{}}
		var names []string
		for _, c := range contents {
			id := retake.ContentID(fmt.Sprint("c", c))
			names = append(names, string(id))
			if _, ok := w.says[id]; !ok {
				w.says[id] = verdicts[rapid.SampledFrom([]byte(kinds)).Draw(t, "says")]
			}
		}
		w.points = bisect.Points(newLine(names...))
		known := map[retake.ContentID]retake.Verdict{}
		for id, v := range w.says {
			if rapid.IntRange(0, 3).Draw(t, "stored") == 0 {
				known[id] = v
			}
		}
		r, _ := w.search(t, known)
		oldest, newest := w.ends()
		switch {
		case newest == "":
			if r.Good != -1 || r.Bad != -1 || r.Why == "" {
				t.Fatalf("nothing runs: %+v", r)
			}
		case newest == retake.Passed:
			if r.Good == -1 || r.Bad != -1 || r.Why == "" {
				t.Fatalf("the newest passes: %+v", r)
			}
		case r.Good == -1:
			if oldest != retake.Failed || r.Bad == -1 || r.Why == "" {
				t.Fatalf("the oldest is %s: %+v", oldest, r)
			}
		default:
			if !isBorder(w, r) || (r.Why == "") != (r.Bad == r.Good+1) {
				t.Fatalf("%+v", r)
			}
			for i := r.Bad; i < len(w.points); i++ {
				if known[w.points[i].Content] == retake.Passed {
					t.Fatalf("%+v: point %d is known to pass, and is nearer", r, i)
				}
			}
		}
	})
}

func TestMostIsKept(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "n")
		says := make([]byte, n)
		for i := range says {
			says[i] = rapid.SampledFrom([]byte("PF")).Draw(t, "says")
		}
		w := newTestHistory(string(says))
		known := map[retake.ContentID]retake.Verdict{}
		for i, p := range w.points {
			if rapid.IntRange(0, 9).Draw(t, "stored") == 0 {
				known[p.Content] = verdicts[says[i]]
			}
		}
		s := bisect.New(w.points, known)
		for {
			most := s.MaxRuns()
			i, ok := s.Next()
			if !ok {
				if most != 0 {
					t.Fatalf("%d runs are left at the end", most)
				}
				return
			}
			s.SetVerdict(i, w.says[w.points[i].Content])
			if now := s.MaxRuns(); now >= most {
				t.Fatalf("from %d runs to %d", most, now)
			}
		}
	})
}
