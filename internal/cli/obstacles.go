package cli

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

// deed is what consenting to an obstacle means: "delete 1,132 files". It stands in
// questions and in refusals, and is not escaped yet.
func deed(p *retake.Plan, o retake.Obstacle) string {
	it := "it"
	if len(o.Paths) > 1 {
		it = "them"
	}
	switch o.Class {
	case retake.ObstacleMassDelete:
		return "delete " + files(tallyOf(p).deleted)
	case retake.ObstacleUncaptured:
		return "go on though no moment holds " + some(o.Paths, "something") + " for sure"
	case retake.ObstacleChanged:
		if len(o.Paths) > 1 {
			return "overwrite your edits of " + some(o.Paths, "")
		}
		return "overwrite your edit of " + some(o.Paths, "something")
	case retake.ObstaclePartial:
		return "go to " + goal(p) + ", which is not whole"
	case retake.ObstacleHeld:
		return "replace " + some(o.Paths, "something") + " while programs hold " + it
	case retake.ObstacleDatabase:
		return "replace " + some(o.Paths, "a database") + " while a program has " + it + " open"
	case retake.ObstacleSpace:
		return "begin with too little room"
	case retake.ObstacleNames:
		return "write " + some(o.Paths, "names") + " though this disk takes several names for one"
	case retake.ObstacleSetuid:
		return "write " + some(o.Paths, "files") + ", run with the rights of the owner"
	}
	return "go on although " + strings.TrimRight(o.Text, ".")
}

// some names one path, or counts several.
func some(paths []string, none string) string {
	switch len(paths) {
	case 0:
		return none
	case 1:
		return paths[0]
	}
	return number(int64(len(paths)), "path", "paths")
}

// unaccepted are the classes that nobody consented to, in the order of the plan. A
// class asks once, for all its paths.
func unaccepted(p *retake.Plan, accepted []string) []retake.Obstacle {
	var out []retake.Obstacle
	for _, o := range p.Obstacles {
		if slices.Contains(accepted, o.Class) {
			continue
		}
		i := slices.IndexFunc(out, func(have retake.Obstacle) bool { return have.Class == o.Class })
		if i < 0 {
			out = append(out, o)
			continue
		}
		out[i].Paths = slices.Concat(out[i].Paths, o.Paths)
		out[i].Text += ", and " + o.Text
	}
	return out
}

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
	for _, o := range unaccepted(p, accepted) {
		accepted = append(slices.Clone(accepted), o.Class)
	}
	if len(accepted) == 0 {
		return nil
	}
	return []string{"--accept", strings.Join(accepted, ",")}
}

// refuseYes is for a plan that --yes, or its digest, does not cover.
func refuseYes(p *retake.Plan, accepted []string, typed spoken, flag string) error {
	open := unaccepted(p, accepted)
	say := flag
	if flag == "--digest" {
		say = "--digest " + p.Short()
	}
	return &retake.Error{
		Kind: retake.Denied, What: "this would " + deed(p, open[0]) + ", and " + flag + " alone does not cover that",
		Safe: strings.TrimSpace(nothingChanged + " " + others(open[1:])),
		Hint: "look: " + typed.with("--plan") + "\nor say so: " + typed.with(append([]string{say}, accepting(p, accepted)...)...),
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
		return "One more thing asks for your word: " + list + "."
	}
	n := screen.Count(int64(len(open)))
	if len(open) < len(fewWords) {
		n = fewWords[len(open)]
	}
	return sentence(n + " more things ask for your word: " + list)
}

// refuseSilence is for a plan that nobody is there to look at.
func refuseSilence(p *retake.Plan, accepted []string, typed spoken) error {
	open := unaccepted(p, accepted)
	would := strings.Join(numbersOf(p), ", ")
	if len(open) > 0 {
		would = deed(p, open[0])
		open = open[1:]
	}
	if would == "" {
		would = "go on with what was cut off"
	}
	flags := accepting(p, accepted)
	return &retake.Error{
		Kind: retake.Denied, What: "this would " + would + ", and nobody is here to ask",
		Safe: strings.TrimSpace(nothingChanged + " " + others(open)),
		Hint: "look: " + typed.with("--plan") + "\nor say so: " + typed.with(append([]string{"--yes"}, flags...)...) +
			"\nexactly this plan: " + typed.with(append([]string{"--digest " + p.Short()}, flags...)...),
	}
}

// numbersOf is the sum of a plan in words: deletions first.
func numbersOf(p *retake.Plan) []string {
	w, t := wordsOf(p.Course), tallyOf(p)
	var out []string
	add := func(word string, n int64) {
		if n > 0 {
			out = append(out, word+" "+screen.Count(n))
		}
	}
	add("delete", t.deleted)
	add(w.bring, t.brought)
	add(w.change, t.changed)
	add("merge", t.merged)
	if t.beside > 0 {
		out = append(out, "put "+screen.Count(t.beside)+" beside")
	}
	return out
}
