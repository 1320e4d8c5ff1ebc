package cli

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/view"
)

// typedCommand is the command as the user typed it. Hints repeat it with other flags.
type typedCommand struct {
	words []string // retake, the command, its arguments and flags
	paths []string // behind the dashes
}

func (s typedCommand) withFlags(flags ...string) string {
	words := append(slices.Clone(s.words), flags...)
	if len(s.paths) > 0 {
		words = append(append(words, "--"), s.paths...)
	}
	return strings.Join(words, " ")
}

func acceptFlags(p *retake.Plan, accepted []string) []string {
	for _, o := range view.Unaccepted(p, accepted) {
		accepted = append(slices.Clone(accepted), o.Class)
	}
	if len(accepted) == 0 {
		return nil
	}
	return []string{"--accept", strings.Join(accepted, ",")}
}

// yesNotEnoughError returns the error of a plan that --yes, or its digest, does not cover.
func yesNotEnoughError(p *retake.Plan, accepted []string, typed typedCommand, flag string) error {
	open := view.Unaccepted(p, accepted)
	say := flag
	if flag == "--digest" {
		say = "--digest " + p.Short()
	}
	return &retake.Error{
		Kind: retake.Denied, What: "this would " + open[0].Deed + ", and " + flag + " alone does not cover that",
		Safe: strings.TrimSpace(nothingChanged + " " + otherClassesText(open[1:])),
		Hint: "preview: " + typed.withFlags("--plan") + "\ngo ahead: " + typed.withFlags(append([]string{say}, acceptFlags(p, accepted)...)...),
	}
}

var smallNumbers = []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

// otherClassesText names the classes of obstacles after the first.
func otherClassesText(open []retake.PlanAsk) string {
	if len(open) == 0 {
		return ""
	}
	classes := make([]string, len(open))
	for i, o := range open {
		classes[i] = o.Class
	}
	list := strings.Join(classes, ", ")
	if len(open) == 1 {
		return "One more warning needs confirmation: " + list + "."
	}
	n := termtext.Count(int64(len(open)))
	if len(open) < len(smallNumbers) {
		n = smallNumbers[len(open)]
	}
	return term.AsSentence(n + " more warnings need confirmation: " + list)
}

// noTerminalError returns the error of a plan that needs an answer while there is nobody to
// ask.
func noTerminalError(p *retake.Plan, accepted []string, typed typedCommand) error {
	open := view.Unaccepted(p, accepted)
	would := strings.Join(view.OfPlan(p).Numbers, ", ")
	if len(open) > 0 {
		would = open[0].Deed
		open = open[1:]
	}
	if would == "" {
		would = "continue the interrupted restore"
	}
	flags := acceptFlags(p, accepted)
	return &retake.Error{
		Kind: retake.Denied, What: "this would " + would + ", which needs your confirmation",
		Safe: strings.TrimSpace(nothingChanged + " " + otherClassesText(open)),
		Hint: "preview: " + typed.withFlags("--plan") + "\ngo ahead: " + typed.withFlags(append([]string{"--yes"}, flags...)...) +
			"\nthis plan only: " + typed.withFlags(append([]string{"--digest " + p.Short()}, flags...)...),
	}
}
