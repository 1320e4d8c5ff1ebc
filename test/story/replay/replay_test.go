package replay_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/retake-dev/retake/test/story/replay"
)

func corpus(t *testing.T) []replay.Run {
	t.Helper()
	runs, err := replay.Load("../corpus")
	if err != nil {
		t.Fatal(err)
	}
	return runs
}

func TestCorpusIsLargeEnough(t *testing.T) {
	t.Parallel()
	held, lies, liars := 0, 0, 0
	runs := corpus(t)
	for _, r := range runs {
		if r.HeldOut {
			held++
		}
		before := lies
		for _, turn := range r.Turns {
			if turn.Lie != "" {
				lies++
			}
		}
		if lies > before {
			liars++
		}
	}
	if len(runs) < 24 || held*3 < len(runs) {
		t.Errorf("%d runs, %d held out", len(runs), held)
	}
	if lies < 6 || liars < 5 || liars*2 > len(runs) {
		t.Errorf("%d lies in %d of %d runs", lies, liars, len(runs))
	}
}

func TestCorpusHasItsForm(t *testing.T) {
	t.Parallel()
	for _, r := range corpus(t) {
		if n := len(r.Turns); n < 5 || n > 9 {
			t.Errorf("%s has %d turns", r.Name, n)
		}
		if !strings.HasPrefix(r.Name, "h") && !strings.HasPrefix(r.Name, "r") {
			t.Errorf("%s is neither held out nor not", r.Name)
		}
		for _, turn := range r.Turns {
			silent := !turn.Person && turn.Prompt == ""
			if silent && turn.Lie == "" {
				t.Errorf("turn %d of %s says nothing, and that is no lie", turn.Number, r.Name)
			}
			if turn.Says != "" && turn.Prompt == "" {
				t.Errorf("turn %d of %s answers nobody", turn.Number, r.Name)
			}
		}
	}
}

// load writes one run and reads it back.
func load(t *testing.T, text string) ([]replay.Run, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "r00-tiny.txtar"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return replay.Load(dir)
}

const header = "title: a\ncomplaint: b\ncheck: true\nanswer: 1\n"

func TestLoadReadsARun(t *testing.T) {
	t.Parallel()
	runs, err := load(t, header+`needs: git root
-- setup.sh --
: >a
-- 01.sh --
# agent: codex
# prompt: do it: now
# says: Done.
# lie: it was not
echo b >a
# prompt: no more header
-- 02.sh --
# by: person
# intent: by hand
rm a
`)
	if err != nil {
		t.Fatal(err)
	}
	r := runs[0]
	if r.Name != "r00-tiny" || r.HeldOut || r.Title != "a" || r.Complaint != "b" || r.Check != "true" || r.Answer != 1 || len(r.Needs) != 2 || len(r.Turns) != 2 {
		t.Errorf("run is %+v", r)
	}
	if one := r.Turns[0]; one.Number != 1 || one.Agent != "codex" || one.Prompt != "do it: now" || one.Says != "Done." || one.Lie != "it was not" || one.Person {
		t.Errorf("turn 1 is %+v", one)
	}
	if two := r.Turns[1]; two.Number != 2 || !two.Person || two.Intent != "by hand" || two.Prompt != "" {
		t.Errorf("turn 2 is %+v", two)
	}
}

func TestLoadRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	two := "-- setup.sh --\n:\n-- 01.sh --\n# prompt: x\n:\n-- 02.sh --\n# prompt: y\n:\n"
	for name, text := range map[string]string{
		"no complaint":       "title: a\ncheck: true\nanswer: 1\n" + two,
		"a strange line":     header + "colour: red\n" + two,
		"a strange need":     header + "needs: moon\n" + two,
		"no number":          "title: a\ncomplaint: b\ncheck: true\nanswer: x\n" + two,
		"an answer too late": "title: a\ncomplaint: b\ncheck: true\nanswer: 2\n" + two,
		"no setup":           header + strings.TrimPrefix(two, "-- setup.sh --\n:\n"),
		"a turn left out":    header + strings.Replace(two, "02.sh", "03.sh", 1),
		"a strange comment":  header + strings.Replace(two, "prompt: x", "mood: x", 1),
		"two voices":         header + strings.Replace(two, "# prompt: x", "# by: person\n# prompt: x", 1),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := load(t, text); err == nil {
				t.Error("it was taken")
			}
		})
	}
}
