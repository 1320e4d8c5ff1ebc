package cli_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/cli"
)

// The words of a turn are not said again below a head that says them.
func TestCardSaysAPromptOnce(t *testing.T) {
	t.Parallel()
	c := thirteen()
	c.Checkpoint.Trigger, c.Checkpoint.Intent = retake.TriggerTurn, "refactor auth to sessions"
	turn := *c.Checkpoint.Turn
	turn.Prompt = "refactor auth to sessions"
	c.Checkpoint.Turn = &turn
	got := cli.RenderCard(cli.NewLook(80, now, false, false), c)
	if strings.Count(got, "refactor auth to sessions") != 1 || strings.Contains(got, "  turn ") {
		t.Errorf("got\n%s", got)
	}
	turn.Prompt += "\nand the tests"
	if got = cli.RenderCard(cli.NewLook(80, now, false, false), c); !strings.Contains(got, "\n  turn       +1 line\n") {
		t.Errorf("got\n%s", got)
	}
}

// Paths that differ never look the same because they were cut.
func TestCardKeepsPathsApart(t *testing.T) {
	t.Parallel()
	deep := "/a/long/way/down/to/the/very/same/place/index.ts"
	st := retake.Story{Groups: []retake.Group{{Theme: retake.ThemeSource, Files: 2, Items: []retake.Item{
		{Path: "first" + deep, What: retake.Edited, Files: 1, Plus: 1}, {Path: "other" + deep, What: retake.Edited, Files: 1, Plus: 1},
	}}}}
	got := cli.RenderCard(cli.NewLook(80, now, false, false), cardOf(st))
	for _, want := range []string{"first/", "other/", "index.ts"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestStatSetsNumbersBelowEachOther(t *testing.T) {
	t.Parallel()
	d := retake.Comparison{From: &retake.Checkpoint{Number: 8, Time: at(9, 50), Intent: "x"}, To: &retake.Checkpoint{Number: 10, Time: at(10, 2), Intent: "y"}}
	got := cli.RenderStat(cli.NewLook(80, now, false, false), d, nil, nil, [2][]retake.Answer{})
	if !strings.HasPrefix(got, "from   8  09:50  x\nto    10  10:02  y\n") {
		t.Errorf("got\n%s", got)
	}
}
