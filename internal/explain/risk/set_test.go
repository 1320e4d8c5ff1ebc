package risk_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
)

// labelled is one line of a set.
type labelled struct {
	line        int
	destructive bool
	kind        string // of the effect; empty: none
	command     string
}

func readSet(t testing.TB, name string) []labelled {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []labelled
	seen := map[string]bool{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		labels, command, ok := strings.Cut(line, "\t")
		if !ok && (line == "" || strings.HasPrefix(line, "# ")) {
			continue
		}
		if !ok || seen[command] {
			t.Fatalf("%s:%d: no tab, or a command that is there already: %s", name, n, line)
		}
		seen[command] = true
		l := labelled{line: n, command: strings.ReplaceAll(command, "⏎", "\n")}
		for _, label := range strings.Split(labels, ",") {
			switch {
			case label == "D":
				l.destructive = true
			case strings.HasPrefix(label, "E:"):
				l.kind = label[2:]
			case label != "-":
				t.Fatalf("%s:%d: label %q", name, n, label)
			}
		}
		list = append(list, l)
	}
	return list
}

// score counts how often the rules agree with the labels.
type score struct {
	commands, harmless     int
	destroys, destroysSeen int
	effects, effectsSeen   int
	kinds                  int // effects of the right kind
	falseDestroys          int // among those that destroy nothing
	falseEffects           int // among those that do nothing outside
	notDestroying, inside  int
	missed                 []string
}

func measure(set []labelled) score {
	s := score{commands: len(set)}
	for _, l := range set {
		got := risk.Judge(retake.Call{Kind: retake.CallShell, Command: l.command})
		said := ""
		if l.destructive {
			s.destroys++
			if got.Destructive {
				s.destroysSeen++
			} else {
				said += " destruction missed"
			}
		} else {
			s.notDestroying++
			if got.Destructive {
				s.falseDestroys++
				said += " false destruction by " + got.Rule
			}
		}
		said += s.effect(l, got.Effects)
		if !l.destructive && l.kind == "" {
			s.harmless++
		}
		if said != "" {
			s.missed = append(s.missed, fmt.Sprintf("line %d:%s: %s", l.line, said, l.command))
		}
	}
	return s
}

func (s *score) effect(l labelled, got []risk.ExternalEffect) string {
	if l.kind == "" {
		s.inside++
		if len(got) > 0 {
			s.falseEffects++
			return " false effect by " + got[0].Rule
		}
		return ""
	}
	s.effects++
	if len(got) == 0 {
		return " effect missed"
	}
	s.effectsSeen++
	for _, e := range got {
		if e.Kind == l.kind {
			s.kinds++
			return ""
		}
	}
	return " effect of kind " + got[0].Kind
}

// String is the line that docs/use/risky-commands.md quotes.
func (s score) String() string {
	return fmt.Sprintf("%d commands: destructive %d of %d found, %d false alarms in %d; outside %d of %d found, %d with the right kind, %d false alarms in %d",
		s.commands, s.destroysSeen, s.destroys, s.falseDestroys, s.notDestroying, s.effectsSeen, s.effects, s.kinds, s.falseEffects, s.inside)
}

// Floors hold what was measured; a rule that gets worse fails here. They are the
// figures themselves less one command, so that one label may be argued about.
func TestRulesAgreeWithTheLabels(t *testing.T) {
	t.Parallel()
	for name, floor := range map[string]struct{ destroys, effects, kinds, falseAlarms int }{
		"commands.txt":         {166, 156, 156, 0},
		"commands-holdout.txt": {32, 40, 38, 0},
	} {
		s := measure(readSet(t, name))
		t.Logf("%s: %s", name, s)
		for _, m := range s.missed {
			t.Logf("%s: %s", name, m)
		}
		if s.destroysSeen < floor.destroys || s.effectsSeen < floor.effects || s.kinds < floor.kinds {
			t.Errorf("%s: the rules find less than before: %s", name, s)
		}
		if s.falseDestroys > floor.falseAlarms || s.falseEffects > floor.falseAlarms {
			t.Errorf("%s: more false alarms than before: %s", name, s)
		}
	}
}

// The sets are large enough for the figures to mean something.
func TestSetsAreBalanced(t *testing.T) {
	t.Parallel()
	s := measure(readSet(t, "commands.txt"))
	if s.destroys < 90 || s.effects < 90 || s.harmless < 80 || s.commands < 260 {
		t.Errorf("too few commands: %+v", s)
	}
	if h := measure(readSet(t, "commands-holdout.txt")); h.commands < 60 {
		t.Errorf("too few commands in the holdout: %d", h.commands)
	}
	main := map[string]bool{}
	for _, l := range readSet(t, "commands.txt") {
		main[l.command] = true
	}
	for _, l := range readSet(t, "commands-holdout.txt") {
		if main[l.command] {
			t.Errorf("in both sets: %s", l.command)
		}
	}
}

var rewrite = flag.Bool("rewrite", false, "write the table and the figures into docs/use/risky-commands.md")

const document = "../../../docs/use/risky-commands.md"

// The document holds the rules and the figures as they are.
func TestDocumentIsTrue(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for mark, part := range map[string]string{"rules": ruleTable(), "figures": figures(t)} {
		begin, end := "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->"
		head, rest, ok := strings.Cut(text, begin)
		_, tail, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			t.Fatalf("no place for the %s", mark)
		}
		text = head + begin + part + end + tail
	}
	if text == string(raw) {
		return
	}
	if !*rewrite {
		t.Fatal("docs/use/risky-commands.md is not what the rules say: go test ./internal/explain/risk -run TestDocumentIsTrue -rewrite")
	}
	if err := os.WriteFile(document, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func ruleTable() string {
	var b strings.Builder
	b.WriteString("| rule | judges | counts | example |\n|---|---|---|---|\n")
	cell := strings.NewReplacer("|", "\\|", "<", "&lt;")
	for _, r := range risk.Rules() {
		judges := "destructive"
		if r.Kind != "" {
			judges = "outside: " + r.Kind
		}
		fmt.Fprintf(&b, "| %s | %s | %s | `%s` |\n", r.Name, judges, cell.Replace(r.Text), strings.ReplaceAll(r.Example, "|", "\\|"))
	}
	return b.String()
}

func figures(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| | commands | destructive found | false alarms | outside found | of the right kind | false alarms |\n|---|---|---|---|---|---|---|\n")
	for _, set := range [][2]string{{"tuned on", "commands.txt"}, {"holdout", "commands-holdout.txt"}} {
		s := measure(readSet(t, set[1]))
		fmt.Fprintf(&b, "| %s | %d | %d of %d (%.1f %%) | %d in %d | %d of %d (%.1f %%) | %d | %d in %d |\n", set[0], s.commands,
			s.destroysSeen, s.destroys, 100*float64(s.destroysSeen)/float64(s.destroys), s.falseDestroys, s.notDestroying,
			s.effectsSeen, s.effects, 100*float64(s.effectsSeen)/float64(s.effects), s.kinds, s.falseEffects, s.inside)
	}
	return b.String()
}
