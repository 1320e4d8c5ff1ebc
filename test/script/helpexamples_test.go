//go:build unix

package script_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// exampleWaits are examples that wait for somebody, or need a server, a disk of their own or a host.
var exampleWaits = regexp.MustCompile(`^retake (console|serve|tui|mount|demo|webhooks|keys|schedule|audit|deletions|usage|admin|backup|remote (add|check)|attach|daemon run|mcp|completion)\b|^(sudo|claude) |RETAKE_SERVER|\| *(less|jq)\b`)

// Every example in the help of a command runs. It may be refused, because the example names what
// is not here or because nobody answers; it may not be misunderstood, nor fail.
func TestHelpExamplesRun(t *testing.T) {
	t.Parallel()
	needs(t, "bash", "git")
	s := newDocStage(t)
	text, err := os.ReadFile("../../internal/ui/cli/help.txt")
	if err != nil {
		t.Fatal(err)
	}
	examples, waiting := examplesIn(string(text))
	run, well, fresh := 0, 0, false
	for _, line := range sample(t, examples) {
		if !fresh || strings.Contains(line, "retake init") { // which goes elsewhere
			if err := s.begin(t.Context(), "page", docBlock{typed: []string{line}}); err != nil {
				t.Fatal(err)
			}
		}
		fresh = onlyReads.MatchString(line) && !strings.ContainsAny(line, ">|;&")
		code, out, err := s.enter(t.Context(), "echo '{}' > event.json; tar -cf release.tar src 2> /dev/null; "+line)
		if run++; code == 0 && err == nil {
			well++
		} else if err != nil || !understood(code) && !ownExit(line, code) {
			t.Errorf("%s: exit code %d, %v\n%s", line, code, err, out)
		}
	}
	t.Logf("%d examples run, %d ended well, %d need a server, a screen or a host", run, well, waiting)
	if run == 0 || well < run/2 {
		t.Errorf("only %d of %d examples ended well", well, run)
	}
}

// examplesIn are the examples that can run, and how many cannot.
func examplesIn(help string) (examples []string, waiting int) {
	for line := range strings.SplitSeq(help, "\n") {
		line, ok := strings.CutPrefix(line, "$ ")
		line = endComment.ReplaceAllString(line, "")
		switch {
		case ok && exampleWaits.MatchString(line):
			waiting++
		case ok:
			examples = append(examples, line)
		}
	}
	return examples, waiting
}

// ownExit reports whether an exit code is that of the command in an example.
func ownExit(line string, code int) bool {
	return strings.Contains(line, " -- ") && (strings.HasPrefix(line, "retake run ") || strings.HasPrefix(line, "retake at ")) || strings.HasPrefix(line, "retake verify") && code == 1
}
