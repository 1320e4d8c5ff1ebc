package risk

import (
	"path"
	"slices"
	"strings"
)

// maxDangers limits the dangers of one judgement.
const maxDangers = 32

// Danger is one thing that a call may destroy.
type Danger struct {
	Rule    string
	Why     string
	Targets []Target // what it destroys, at most maxTargets; nil: no files, or all in the workspace

	// OnlyOutside: it is no danger inside the workspace, because the turn's checkpoint has what was
	// there before.
	OnlyOutside bool

	verb string // of one that only writes over its targets; without one the danger is there whatever exists
}

// addDanger records a danger. Beyond maxDangers it does nothing, so that hostile text costs
// no more work.
func (j *callJudge) addDanger(rule, why string, targets ...Target) {
	if len(j.result.Dangers) < maxDangers {
		j.recordDanger(Danger{Rule: rule, Why: cleanText(why, 120), Targets: addTargets(nil, targets)})
	}
}

// addOverwrite records that files are written over if they exist.
func (j *callJudge) addOverwrite(verb string, targets []Target) {
	j.recordOverwrite(Danger{Rule: "overwrite-files", verb: verb, Targets: targets})
}

// addOverwriteOutside records that files are written over if they exist and are not in the
// workspace.
func (j *callJudge) addOverwriteOutside(verb string, targets []Target) {
	j.recordOverwrite(Danger{Rule: "overwrite-files", verb: verb, Targets: targets, OnlyOutside: true})
}

func (j *callJudge) recordOverwrite(d Danger) {
	if len(d.Targets) > 0 && len(j.result.Dangers) < maxDangers {
		d.Targets = addTargets(nil, d.Targets)
		j.recordDanger(d.named())
	}
}

// recordDanger records a danger. Equal ones are merged, and so are files that are
// overwritten in the same way.
func (j *callJudge) recordDanger(d Danger) {
	if d.verb == "" {
		j.deletions++
	}
	for i := range j.result.Dangers {
		have := &j.result.Dangers[i]
		switch {
		case have.Rule != d.Rule || have.verb != d.verb || have.OnlyOutside != d.OnlyOutside:
		case d.verb != "":
			have.Targets = addTargets(have.Targets, d.Targets)
			*have = have.named()
			return
		case have.Why == d.Why:
			have.Targets = addTargets(have.Targets, d.Targets)
			return
		}
	}
	if len(j.result.Dangers) < maxDangers {
		j.result.Dangers = append(j.result.Dangers, d)
	}
}

// named returns an overwrite with its reason.
func (d Danger) named() Danger {
	var list []string
	for _, t := range d.Targets {
		if !slices.Contains(list, t.Name) {
			list = append(list, t.Name)
		}
	}
	d.Why = cleanText(joinNames(d.verb, list), 120)
	return d
}

// sortDangers puts the worst danger first and sets the fields that are derived from it.
func sortDangers(out Judgement) Judgement {
	slices.SortStableFunc(out.Dangers, func(a, b Danger) int { return b.severity() - a.severity() })
	out.Destructive, out.Rule, out.Why, out.MayDestroyOutside = false, "", "", false
	for _, d := range out.Dangers {
		out.MayDestroyOutside = out.MayDestroyOutside || d.OnlyOutside
		if !out.Destructive && out.counts(d) {
			out.Destructive, out.Rule, out.Why = true, d.Rule, d.Why
		}
	}
	return out
}

// counts reports whether a danger makes the call destructive. One that is none in the workspace does
// once it is known what is outside.
func (j Judgement) counts(d Danger) bool { return !d.OnlyOutside || j.knowsOutside }

// severity orders dangers: deleting everything, then data, then files, then what can be
// rebuilt.
func (d Danger) severity() int {
	switch d.Rule {
	case "delete-files", "take-away":
		if deletesEverything(d.Why) {
			return 9
		}
		return 6
	case "sql-destroy", "volumes":
		return 8
	case "git-discard", "sync-delete", "code":
		return 7
	case "migrate", "git-refs", "git-rewrite", "foreign-script", "mcp-destructive":
		return 5
	case "unread":
		return 1
	case "overwrite-files":
		return 2
	default:
		return 4
	}
}

// deletesEverything reports whether a deletion names the home directory, the root, or
// everything in the current directory.
func deletesEverything(why string) bool {
	for _, w := range strings.Fields(strings.ReplaceAll(why, ",", " ")) {
		switch strings.TrimSuffix(w, "/") {
		case "", "~", "$HOME", "${HOME}", ".", "..", "*", "./*", "~/*", "$HOME/*", "/*", ".git":
			return true
		}
	}
	return false
}

// WithoutMissing drops overwrites of files that do not exist: creating a file destroys nothing. It
// also drops dangers that are none in the workspace and have no target outside.
//
// exists and inside are called with Paths of targets, never with patterns: those count as existing,
// and are inside if the directory before the first pattern is. A path that ends in "/" asks exists
// for a directory, any other for something that is none, because no overwrite replaces a
// directory. If exists does not tell them apart, more dangers are kept. inside may be nil: then
// nothing is inside.
func (j Judgement) WithoutMissing(exists, inside func(place string) bool) Judgement {
	var kept []Danger
	for _, d := range j.Dangers {
		if d, ok := d.withoutMissing(exists, inside); ok {
			kept = append(kept, d)
		}
	}
	j.Dangers, j.knowsOutside = kept, j.knowsOutside || inside != nil
	return sortDangers(j)
}

// withoutMissing returns the danger with the targets that exist, and whether it is one.
func (d Danger) withoutMissing(exists, inside func(place string) bool) (Danger, bool) {
	if d.verb == "" {
		return d, true
	}
	var there []Target
	found := false
	for _, t := range d.Targets {
		if len(t.Paths) == 0 {
			there, found = append(there, t), true
			continue
		}
		t.Paths = slices.DeleteFunc(slices.Clone(t.Paths), func(p string) bool {
			return !t.isThere(p, exists) || d.OnlyOutside && inside != nil && inside(t.fixedPart(p))
		})
		if len(t.Paths) > 0 {
			there, found = append(there, t), true
		}
	}
	d.Targets = there
	return d.named(), found
}

// isThere reports whether a path of the target has something that an overwrite destroys.
func (t Target) isThere(p string, exists func(string) bool) bool {
	return t.Glob || exists(p) || t.dirs && exists(p+"/")
}

// fixedPart returns the directory before the first pattern of a path.
func (t Target) fixedPart(p string) string {
	if !t.Glob {
		return p
	}
	fixed := "."
	if path.IsAbs(p) {
		fixed = "/"
	}
	for e := range strings.SplitSeq(strings.TrimPrefix(p, "/"), "/") {
		if hasPattern(e) {
			break
		}
		fixed = path.Join(fixed, unescapeGlob(e))
	}
	return fixed
}

// AllReasons returns all dangers that count in one line, the worst first.
func (j Judgement) AllReasons() string {
	var list []string
	for _, d := range j.Dangers {
		if j.counts(d) {
			list = append(list, d.Why)
		}
	}
	return strings.Join(list, "; ")
}
