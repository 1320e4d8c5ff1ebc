package view

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// PlanAsks are the questions of a plan, in its order.
func PlanAsks(p *retake.Plan) []retake.PlanAsk {
	var classes []retake.Obstacle // each with all its paths
	for _, o := range p.Obstacles {
		i := slices.IndexFunc(classes, func(have retake.Obstacle) bool { return have.Class == o.Class })
		if i < 0 {
			classes = append(classes, o)
			continue
		}
		classes[i].Paths = slices.Concat(classes[i].Paths, o.Paths)
		classes[i].Text += ", and " + o.Text
	}
	out := []retake.PlanAsk{}
	for _, o := range classes {
		out = append(out, retake.PlanAsk{Class: o.Class, Deed: deedText(p, o), Text: askText(p, o)})
	}
	return out
}

// Unaccepted returns the questions of a plan whose class was not accepted.
func Unaccepted(p *retake.Plan, accepted []string) []retake.PlanAsk {
	return slices.DeleteFunc(PlanAsks(p), func(a retake.PlanAsk) bool { return slices.Contains(accepted, a.Class) })
}

// askText is the warnings as a sentence, and that the safety checkpoint holds what would be
// lost. A path keeps its letters.
func askText(p *retake.Plan, o retake.Obstacle) string {
	text := strings.TrimSuffix(o.Text, ".") + "."
	if !slices.ContainsFunc(o.Paths, func(path string) bool { return strings.HasPrefix(text, path) }) {
		text = upperFirst(text)
	}
	switch o.Class {
	case retake.ObstacleMassDelete:
		text += fmt.Sprintf(" Every one of them will be in checkpoint %d.", p.Safety.Number)
	case retake.ObstacleChanged:
		text += fmt.Sprintf(" What is there now will be in checkpoint %d.", p.Safety.Number)
	}
	return text
}

func upperFirst(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

// deedText is what accepting a class of obstacles means, such as "delete 1,132 files".
func deedText(p *retake.Plan, o retake.Obstacle) string {
	it := "it"
	if len(o.Paths) > 1 {
		it = "them"
	}
	switch o.Class {
	case retake.ObstacleMassDelete:
		return "delete " + countFiles(countSteps(p.Deletes))
	case retake.ObstacleUncaptured:
		return "continue although no checkpoint contains " + pathOrCount(o.Paths, "something") + " for sure"
	case retake.ObstacleChanged:
		return overwriteText(p, o.Paths)
	case retake.ObstaclePartial:
		return "go to " + planGoal(p) + ", which is incomplete"
	case retake.ObstacleDamaged:
		return "restore the rest and leave " + pathOrCount(o.Paths, "something") + ", whose stored bytes are damaged"
	case retake.ObstacleHeld:
		return "replace " + pathOrCount(o.Paths, "something") + " while programs hold " + it
	case retake.ObstacleDatabase:
		return "replace " + pathOrCount(o.Paths, "a database") + " while a program has " + it + " open"
	case retake.ObstacleSpace:
		return "begin with too little room"
	case retake.ObstacleNames:
		return "write " + pathOrCount(o.Paths, "names") + " though this disk takes several names for one"
	case retake.ObstacleOverlap:
		return "leave " + pathOrCount(o.Paths, "something") + ", which may be the work of someone else"
	case retake.ObstacleAgentWorking:
		return "change files while " + workingAgents(o.Text) + " working on them"
	case retake.ObstacleGit:
		return gitText(p)
	case retake.ObstacleSetuid:
		return "write " + pathOrCount(o.Paths, "files") + ", run with the rights of the owner"
	}
	return "continue although " + strings.TrimRight(o.Text, ".")
}

// workingAgents are the agents that a warning names: "Claude Code is".
func workingAgents(text string) string {
	name, _, one := strings.Cut(text, " has been working")
	if !one || strings.Count(text, " has been working") > 1 {
		return "agents are"
	}
	return name + " is"
}

// gitText is what happens to git: it stays behind, or it is moved.
func gitText(p *retake.Plan) string {
	if len(p.Git) == 0 {
		return "take git back: commits, branches and the index"
	}
	return "change the files and leave git on " + p.Git[0].Now.String()
}

// overwriteText tells overwritten from deleted files: a new file is in no checkpoint, and
// "overwrite" would hide that it goes.
func overwriteText(p *retake.Plan, paths []string) string {
	gone := 0
	for _, path := range paths {
		if slices.ContainsFunc(p.Deletes, func(s retake.Step) bool { return s.Path == path }) {
			gone++
		}
	}
	edits := "your edits of "
	if len(paths) < 2 {
		edits = "your edit of "
	}
	switch {
	case gone == 0:
		return "overwrite " + edits + pathOrCount(paths, "something")
	case gone == len(paths):
		return "delete " + pathOrCount(paths, "") + ", changed since the last checkpoint"
	}
	return "delete or overwrite " + edits + pathOrCount(paths, "")
}

// pathOrCount names one path, or counts several.
func pathOrCount(paths []string, none string) string {
	switch len(paths) {
	case 0:
		return none
	case 1:
		return paths[0]
	}
	return termtext.CountNoun(int64(len(paths)), "path", "paths")
}
