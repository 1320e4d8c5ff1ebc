package term

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// ObstacleText returns what accepting an obstacle means, such as "delete 1,132 files". It is
// used in questions and errors and is not escaped.
func ObstacleText(p *retake.Plan, o retake.Obstacle) string {
	it := "it"
	if len(o.Paths) > 1 {
		it = "them"
	}
	switch o.Class {
	case retake.ObstacleMassDelete:
		return "delete " + CountFiles(countPlan(p).deleted)
	case retake.ObstacleUncaptured:
		return "continue although no checkpoint contains " + pathOrCount(o.Paths, "something") + " for sure"
	case retake.ObstacleChanged:
		return overwriteObstacleText(p, o.Paths)
	case retake.ObstaclePartial:
		return "go to " + targetText(p) + ", which is incomplete"
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
		return gitObstacleText(p)
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

// gitObstacleText is what happens to git: it stays behind, or it is moved.
func gitObstacleText(p *retake.Plan) string {
	if len(p.Git) == 0 {
		return "take git back: commits, branches and the index"
	}
	return "change the files and leave git on " + p.Git[0].Now.String()
}

// overwriteObstacleText tells overwritten from deleted files: a new file is in no checkpoint,
// and "overwrite" would hide that it goes.
func overwriteObstacleText(p *retake.Plan, paths []string) string {
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
	return CountNoun(int64(len(paths)), "path", "paths")
}

// Unaccepted returns the obstacles that were not accepted, in the order of the plan. Each
// class is returned once for all its paths.
func Unaccepted(p *retake.Plan, accepted []string) []retake.Obstacle {
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

// PlanNumbers is the sum of a plan in words: deletions first.
func PlanNumbers(p *retake.Plan) []string {
	w, t := wordsOfCourse(p.Course), countPlan(p)
	var out []string
	add := func(word string, n int64) {
		if n > 0 {
			out = append(out, word+" "+termtext.Count(n))
		}
	}
	add("delete", t.deleted)
	add(w.bring, t.brought)
	add(w.change, t.changed)
	add("merge", t.merged)
	if t.sideCopies > 0 {
		out = append(out, "put "+termtext.Count(t.sideCopies)+" beside")
	}
	return out
}

// FinalQuestion has the numbers once more.
func FinalQuestion(p *retake.Plan) string {
	q := wordsOfCourse(p.Course).now + " " + termtext.Escape(targetText(p)) + " now"
	if n := PlanNumbers(p); len(n) > 0 {
		q += ": " + strings.Join(n, ", ")
	}
	return q + "?"
}
