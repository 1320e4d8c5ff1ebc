package cli

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// helpSource explains every command: "[path]", its paragraphs, and lines to paste that
// begin with "$". Behind "  # " is what such a line does. Help, the manual pages and the
// reference page are made from it.
//
//go:embed help.txt
var helpSource string

// helpText is what help.txt says about a command.
type helpText struct {
	long     string
	examples []string
}

// readHelpTexts parses help.txt. Its sections are named by the command's path.
func readHelpTexts() map[string]helpText {
	out := map[string]helpText{}
	for _, section := range strings.Split("\n"+helpSource, "\n[")[1:] {
		path, body, _ := strings.Cut(section, "]\n")
		var t helpText
		var long []string
		for line := range strings.SplitSeq(body, "\n") {
			if example, ok := strings.CutPrefix(line, "$ "); ok {
				t.examples = append(t.examples, example)
			} else {
				long = append(long, line)
			}
		}
		t.long = strings.NewReplacer("{roles}", keyKindLines(), "{types}", eventTypeLines()).Replace(strings.TrimSpace(strings.Join(long, "\n")))
		out[path] = t
	}
	return out
}

// setHelpTexts gives each command its description and its examples.
func setHelpTexts(root *cobra.Command) {
	texts := readHelpTexts()
	var set func(cmd *cobra.Command)
	set = func(cmd *cobra.Command) {
		t := texts[strings.TrimPrefix(cmd.CommandPath(), "retake ")]
		cmd.Long, cmd.Example = t.long, strings.Join(t.examples, "\n")
		for _, sub := range cmd.Commands() {
			set(sub)
		}
	}
	set(root)
}

// wrapHelp fills the paragraphs of a description. Indented lines stay as they are.
func wrapHelp(long string, width int) []string {
	var out []string
	for i, paragraph := range strings.Split(long, "\n\n") {
		if i > 0 {
			out = append(out, "")
		}
		if strings.HasPrefix(paragraph, " ") {
			out = append(out, strings.Split(paragraph, "\n")...)
		} else {
			out = append(out, term.Wrap(strings.ReplaceAll(paragraph, "\n", " "), width)...)
		}
	}
	return out
}

// renderExamples are the lines to paste, and what they do in a column beside them.
func renderExamples(l term.Style, text string) string {
	wide := 0
	lines := strings.Split(text, "\n")
	for _, line := range lines {
		command, _, _ := strings.Cut(line, "  # ")
		if w := termtext.Width(command); w <= helpColumn+12 {
			wide = max(wide, w)
		}
	}
	var b strings.Builder
	for _, line := range lines {
		command, does, found := strings.Cut(line, "  # ")
		switch {
		case !found:
			fmt.Fprintf(&b, "  %s\n", command)
		case max(termtext.Width(command), wide)+6+termtext.Width(does) > l.Width:
			fmt.Fprintf(&b, "  %s\n    %s\n", command, l.Dim("# "+does))
		default:
			fmt.Fprintf(&b, "  %s  %s\n", termtext.Pad(command, wide), l.Dim("# "+does))
		}
	}
	return b.String()
}
