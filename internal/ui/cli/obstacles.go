package cli

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/term"
)

// spoken builds the command that was typed, with other flags.
type spoken struct {
	words []string // retake, the command, its arguments and flags
	paths []string // behind the dashes
}

func (s spoken) with(flags ...string) string {
	words := append(slices.Clone(s.words), flags...)
	if len(s.paths) > 0 {
		words = append(append(words, "--"), s.paths...)
	}
	return strings.Join(words, " ")
}

func accepting(p *retake.Plan, accepted []string) []string {
	for _, o := range term.Unaccepted(p, accepted) {
		accepted = append(slices.Clone(accepted), o.Class)
	}
	if len(accepted) == 0 {
		return nil
	}
	return []string{"--accept", strings.Join(accepted, ",")}
}

// refuseYes is for a plan that --yes, or its digest, does not cover.
func refuseYes(p *retake.Plan, accepted []string, typed spoken, flag string) error {
	open := term.Unaccepted(p, accepted)
	say := flag
	if flag == "--digest" {
		say = "--digest " + p.Short()
	}
	return &retake.Error{
		Kind: retake.Denied, What: "this would " + term.Deed(p, open[0]) + ", and " + flag + " alone does not cover that",
		Safe: strings.TrimSpace(nothingChanged + " " + others(open[1:])),
		Hint: "preview: " + typed.with("--plan") + "\ngo ahead: " + typed.with(append([]string{say}, accepting(p, accepted)...)...),
	}
}

var fewWords = []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"}

// others names the classes that ask besides the first.
func others(open []retake.Obstacle) string {
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
	if len(open) < len(fewWords) {
		n = fewWords[len(open)]
	}
	return term.Sentence(n + " more warnings need confirmation: " + list)
}

// refuseSilence is for a plan that nobody is there to look at.
func refuseSilence(p *retake.Plan, accepted []string, typed spoken) error {
	open := term.Unaccepted(p, accepted)
	would := strings.Join(term.NumbersOf(p), ", ")
	if len(open) > 0 {
		would = term.Deed(p, open[0])
		open = open[1:]
	}
	if would == "" {
		would = "continue the interrupted restore"
	}
	flags := accepting(p, accepted)
	return &retake.Error{
		Kind: retake.Denied, What: "this would " + would + ", which needs your confirmation",
		Safe: strings.TrimSpace(nothingChanged + " " + others(open)),
		Hint: "preview: " + typed.with("--plan") + "\ngo ahead: " + typed.with(append([]string{"--yes"}, flags...)...) +
			"\nthis plan only: " + typed.with(append([]string{"--digest " + p.Short()}, flags...)...),
	}
}
