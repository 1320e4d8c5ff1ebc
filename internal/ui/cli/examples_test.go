package cli_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/ui/cli"
)

func commands(t *testing.T) *cobra.Command {
	t.Helper()
	return cli.Root(cli.Deps{Clock: clock.Wall})
}

// walkCommands calls f for every command below root, hidden ones too.
func walkCommands(root *cobra.Command, f func(*cobra.Command)) {
	for _, cmd := range root.Commands() {
		if strings.HasPrefix(cmd.Name(), "__") {
			continue
		}
		f(cmd)
		walkCommands(cmd, f)
	}
}

// typed splits a line as a shell does, as far as examples need it.
func typed(line string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`"([^"]*)"|'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		out = append(out, m[1]+m[2]+m[3])
	}
	return out
}

// ours is the part of a line that runs our program, without redirections and comments.
func ours(line string) string {
	line, _, _ = strings.Cut(line, "  # ")
	if i := strings.Index(line, "<(retake "); i >= 0 {
		line = strings.TrimSuffix(line[i+2:], ")")
	}
	if _, after, ok := strings.Cut(line, " -- retake "); ok {
		line = "retake " + after
	}
	for _, sign := range []string{" | ", " > ", " < "} {
		line, _, _ = strings.Cut(line, sign)
	}
	return strings.TrimSpace(line)
}

// Each command has two examples, and each of them would be understood: the command and
// its flags exist, and as many words are there as it takes.
func TestX5_EveryCommandHasExamplesThatParse(t *testing.T) {
	t.Parallel()
	walkCommands(commands(t), func(cmd *cobra.Command) {
		if cmd.Hidden && cmd.Name() != "man" {
			return
		}
		lines := strings.Split(cmd.Example, "\n")
		if cmd.Example == "" || len(lines) < 2 {
			t.Errorf("%s: %d examples; give it two in help.txt", cmd.CommandPath(), len(lines))
			return
		}
		for _, line := range lines {
			if line := ours(line); strings.HasPrefix(line, "retake") {
				understood(t, line)
			}
		}
	})
}

// understood parses a line with commands of its own: flags keep what was parsed.
func understood(t *testing.T, line string) {
	t.Helper()
	root := commands(t)
	cmd, rest, err := root.Find(typed(line)[1:])
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil && cmd != root {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	if err != nil {
		t.Errorf("%s: %v", line, err)
	}
}

func TestX5_EveryHelpPagePointsToTheFlagsOnce(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for _, args := range [][]string{{"help", "restore"}, {"restore", "--help"}, {"help", "keys", "make"}} {
		got := uncolored(p.types("", args...).out)
		if !strings.Contains(got, "retake help flags") || strings.Contains(got, "--no-color") || !strings.Contains(got, "Examples") {
			t.Errorf("%v:\n%s", args, got)
		}
	}
	if got := p.types("", "help", "flags").out; !strings.Contains(got, "--no-color") || !strings.Contains(got, "--no-pager") {
		t.Errorf("the flags:\n%s", got)
	}
}

func TestX5_WordsOfOtherTools(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for word, want := range map[string]string{
		"rollback": "retake restore good", "revert": "retake undo", "reset": "retake restore good", "checkout": "retake restore good",
		"history": "retake log", "list": "retake log", "stauts": "retake status",
	} {
		if got := p.types("", word); got.code != 2 || !strings.Contains(flat(got.err), want) {
			t.Errorf("%s: %s", word, got.err)
		}
	}
}

func TestX5_VersionFlags(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	for _, args := range [][]string{{"--version"}, {"-V"}, {"-v"}, {"version"}} {
		if got := p.types("", args...); got.code != 0 || got.out != "retake test\n" {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := p.types("", "--version", "--json"); got.out != "{\"v\":1,\"version\":\"test\"}\n" {
		t.Errorf("as JSON: %+v", got)
	}
}

func TestX5_CompletionKnowsRefs(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init", "--name", "shop").want(t, 0, "", "")
	p.write("b.txt", "b")
	p.types("", "save", "second \x1b[31mthing", "--pin", "works").want(t, 0, "", "")
	for line, want := range map[string][]string{
		"restore ":         {"2\t", `second \x1b[31mthing`, "1\t", "latest\t", "good\t", "works\t"},
		"diff 1 ":          {"2\t", "latest\t"},
		"log --workspace ": {"shop\t"},
		"unpin ":           {"works"},
		"config keep":      {"keep-within\t"},
		"agents install ":  {"claude-code"},
	} {
		words := strings.Split(line, " ")
		got := p.types("", append([]string{"__complete"}, words...)...).out
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%q misses %q:\n%q", line, w, got)
			}
		}
	}
}

func TestX5_ManualPages(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	if got := p.types("", "man", "pages"); got.code != 0 {
		t.Fatal(got.err)
	}
	walkCommands(commands(t), func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Parent().Hidden {
			return
		}
		text := p.read(filepath.Join("pages", strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		if !strings.HasPrefix(text, ".TH RETAKE") || !strings.Contains(text, ".SH EXAMPLES") {
			t.Errorf("%s:\n%s", cmd.CommandPath(), text)
		}
		for _, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, ".") && !regexp.MustCompile(`^\.(TH|SH|B|BR|TP|PP|nf|fi)\b`).MatchString(line) {
				t.Errorf("%s: %q is a request of the formatter", cmd.CommandPath(), line)
			}
		}
	})
}

func TestX5_PagerOnlyForLongAnswersOnATerminal(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	var shown []string
	p.pager = func(text string) error { shown = append(shown, text); return nil }
	p.types("", "init").want(t, 0, "Protected.", "")
	p.types("", "log").want(t, 0, "start", "") // it fits
	if len(shown) > 0 {
		t.Fatalf("paged what fits: %q", shown)
	}
	if got := p.types("", "help", "--all"); got.out != "" || len(shown) != 1 || !strings.Contains(shown[0], "rebuild") {
		t.Errorf("a long answer is not paged: %q", got.out)
	}
	p.types("", "help", "--all", "--no-pager").want(t, 0, "rebuild", "")
	p.types("", "help", "--all", "--json").want(t, 0, "rebuild", "")
	if len(shown) != 1 {
		t.Error("paged although it was not to be")
	}
}
