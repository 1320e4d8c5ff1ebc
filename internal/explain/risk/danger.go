package risk

import (
	"path"
	"slices"
	"strings"
)

// Limits of one judgement.
const (
	maxDangers = 32
	maxTargets = 64
	maxBases   = 8
)

// Danger is one thing that a call may destroy.
type Danger struct {
	Rule string
	Why  string

	verb    string            // of one that only writes over files
	targets []overwriteTarget // what it writes over; without one the danger is there whatever exists
}

// overwriteTarget is a file that is overwritten if it exists.
type overwriteTarget struct {
	name  string   // as written
	paths []string // where it may be: absolute, or relative to where the call begins; nil: only a shell can tell
}

// recordDanger records a danger. Equal ones are merged, and so are files that are
// overwritten in the same way.
func (j *callJudge) recordDanger(d Danger) {
	for i := range j.result.Dangers {
		have := &j.result.Dangers[i]
		switch {
		case have.Rule == d.Rule && have.Why == d.Why:
			return
		case d.verb != "" && have.verb == d.verb && len(have.targets) < maxTargets:
			*have = newOverwrite(d.verb, append(slices.Clone(have.targets), d.targets...))
			return
		}
	}
	if len(j.result.Dangers) < maxDangers {
		j.result.Dangers = append(j.result.Dangers, d)
	}
}

// addOverwrite records that files are overwritten if they exist.
func (j *callJudge) addOverwrite(verb string, paths []string) {
	if len(j.result.Dangers) >= maxDangers {
		return
	}
	var over []overwriteTarget
	for _, p := range paths[:min(len(paths), maxTargets)] {
		over = append(over, overwriteTarget{name: p, paths: j.possiblePaths(p)})
	}
	j.recordDanger(newOverwrite(verb, over))
}

func newOverwrite(verb string, over []overwriteTarget) Danger {
	list := make([]string, len(over))
	for i, t := range over {
		list[i] = t.name
	}
	return Danger{Rule: "overwrite-files", Why: cleanText(joinNames(verb, list), 120), verb: verb, targets: over}
}

// possiblePaths returns where a path may point, or nil if only a shell could tell.
func (j *callJudge) possiblePaths(p string) []string {
	if j.baseUnknown || strings.ContainsAny(p, "$`*?[{~\\") {
		return nil
	}
	if path.IsAbs(p) {
		return []string{path.Clean(p)}
	}
	var out []string
	for _, base := range j.baseDirs {
		out = append(out, path.Join(base, p))
	}
	return out
}

// judgeCd records where relative paths may begin from now on. A cd may fail, or end with
// its subshell, so the earlier directories stay possible.
func judgeCd(j *callJudge, c *command) {
	to := c.operands("")
	if len(to) != 1 || len(j.baseDirs) >= maxBases || strings.ContainsAny(to[0], "$`*?[{~\\") || to[0] == "-" {
		j.baseUnknown = true
		return
	}
	for _, base := range slices.Clone(j.baseDirs) {
		next := path.Clean(to[0])
		if !path.IsAbs(next) {
			next = path.Join(base, next)
		}
		if !slices.Contains(j.baseDirs, next) {
			j.baseDirs = append(j.baseDirs, next)
		}
	}
}

// sortDangers puts the worst danger first and sets the fields that are derived from it.
func sortDangers(out Judgement) Judgement {
	slices.SortStableFunc(out.Dangers, func(a, b Danger) int { return b.severity() - a.severity() })
	out.Destructive, out.Rule, out.Why = false, "", ""
	if len(out.Dangers) > 0 {
		out.Destructive, out.Rule, out.Why = true, out.Dangers[0].Rule, out.Dangers[0].Why
	}
	return out
}

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

// WithoutMissing drops overwrites of files that do not exist: creating a file destroys
// nothing. exists is called with absolute paths, and with paths relative to where the call
// begins.
func (j Judgement) WithoutMissing(exists func(place string) bool) Judgement {
	var kept []Danger
	for _, d := range j.Dangers {
		if d.verb == "" {
			kept = append(kept, d)
			continue
		}
		there := slices.DeleteFunc(slices.Clone(d.targets), func(t overwriteTarget) bool {
			return len(t.paths) > 0 && !slices.ContainsFunc(t.paths, exists)
		})
		if len(there) > 0 {
			kept = append(kept, newOverwrite(d.verb, there))
		}
	}
	j.Dangers = kept
	return sortDangers(j)
}

// AllReasons returns all dangers in one line, the worst first.
func (j Judgement) AllReasons() string {
	list := make([]string, len(j.Dangers))
	for i, d := range j.Dangers {
		list[i] = d.Why
	}
	return strings.Join(list, "; ")
}
