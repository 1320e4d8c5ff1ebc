package risk_test

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
)

// TestUnrecoverable compares the classes of calls that nothing can take back with labels that were
// given without knowledge of the rules. The second set was not looked at while the rules were written.
func TestUnrecoverable(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"unrecoverable.txt", "unrecoverable-holdout.txt", "unrecoverable-fresh.txt"} {
		calls := readGateSet(t, set)
		positive, seen, harmless, alarms, wrong := 0, 0, 0, 0, 0
		for _, c := range calls {
			var got []string
			for _, u := range risk.Judge(retake.Call{Kind: retake.CallShell, Command: c.command}).Unrecoverable {
				got = append(got, string(u.Class))
			}
			slices.Sort(got)
			got = slices.Compact(got)
			switch {
			case len(c.classes) == 0 && len(got) == 0:
				harmless++
			case len(c.classes) == 0:
				harmless, alarms = harmless+1, alarms+1
				t.Logf("%s: false alarm %v: %s", set, got, c.command)
			case len(got) == 0:
				positive++
				t.Logf("%s: missed %v: %s", set, c.classes, c.command)
			default:
				positive, seen = positive+1, seen+1
				if !slices.Equal(c.classes, got) {
					wrong++
					t.Logf("%s: %v, want %v: %s", set, got, c.classes, c.command)
				}
			}
		}
		t.Logf("%s: %d calls; %d of %d unrecoverable found, %d of them in other classes; %d false alarms in %d", set, len(calls), seen, positive, wrong, alarms, harmless)
		if 100*seen < 98*positive || 100*alarms > 3*harmless {
			t.Errorf("%s: too many are missed, or too many false alarms", set)
		}
	}
}

type gatedLine struct {
	classes []string
	command string
}

func readGateSet(t *testing.T, name string) []gatedLine {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []gatedLine
	for lines := bufio.NewScanner(f); lines.Scan(); {
		labels, command, ok := strings.Cut(lines.Text(), "\t")
		if !ok {
			continue
		}
		c := gatedLine{command: strings.ReplaceAll(command, "⏎", "\n")}
		if labels != "-" {
			c.classes = strings.Split(labels, ",")
			slices.Sort(c.classes)
		}
		out = append(out, c)
	}
	return out
}
